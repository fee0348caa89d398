"""The metadata of a memory: an object in the store, any JSON value for a caller, and nothing is lost between the two. Among it are
the files that the memory is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

FILES = "files"
"""The field of the metadata."""
_BARE = ""
"""The one key of an object that stands for a value which is none."""


class FileMark(NamedTuple):
    path: str
    """From the project's root."""
    sha256: str = ""
    """Empty where the file could not be looked at."""
    commit: str = ""
    """The last one when it was saved."""


def as_metadata(marks: Iterable[FileMark]) -> dict[str, Any]:
    return {FILES: [{name: value for name, value in mark._asdict().items() if value} for mark in marks]}


def marks_of(metadata: Mapping[str, Any]) -> list[FileMark]:
    """Metadata is the caller's to write: what does not look like ours is none."""
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
    return {_BARE: value}  # also an object without fields: the store has one for no metadata at all


def as_given(metadata: Mapping[str, Any]) -> Any:
    return metadata[_BARE] if list(metadata) == [_BARE] else dict(metadata)
