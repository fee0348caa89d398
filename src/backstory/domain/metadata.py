"""The metadata of a memory: an object in the store, any JSON value for the caller, converted without loss.

It includes the files that the memory is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

FILES = "files"
"""The metadata field that lists files."""
_BARE = ""
"""The only key of an object that wraps a value that is not an object."""


class FileMark(NamedTuple):
    path: str
    """Path relative to the project's root."""
    sha256: str = ""
    """"" if the file could not be read."""
    commit: str = ""
    """The last commit when the memory was saved."""


def as_metadata(marks: Iterable[FileMark]) -> dict[str, Any]:
    return {FILES: [{name: value for name, value in mark._asdict().items() if value} for mark in marks]}


def marks_of(metadata: Mapping[str, Any]) -> list[FileMark]:
    """Return the files in a memory's metadata. Callers write metadata too, and values in another format are ignored."""
    listed = metadata.get(FILES)
    marks = []
    for each in listed if isinstance(listed, list) else ():
        fields = {name: each.get(name, "") for name in FileMark._fields} if isinstance(each, Mapping) else {}
        if fields.get("path") and all(isinstance(value, str) for value in fields.values()):
            marks.append(FileMark(**fields))
    return marks


def as_object(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if value and isinstance(value, dict) and list(value) != [_BARE]:
        return value
    return {_BARE: value}  # also wraps {}, which in the store means "no metadata"


def as_given(metadata: Mapping[str, Any]) -> Any:
    return metadata[_BARE] if list(metadata) == [_BARE] else dict(metadata)
