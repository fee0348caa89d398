"""Files that a memory is about, as its metadata says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

FILES = "files"
"""The field of the metadata."""


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
    found = []
    for each in listed if isinstance(listed, list) else ():
        fields = {name: each.get(name, "") for name in FileMark._fields} if isinstance(each, Mapping) else {}
        if fields.get("path") and all(isinstance(value, str) for value in fields.values()):
            found.append(FileMark(**fields))
    return found
