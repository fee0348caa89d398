"""Sources of records: files of other assistants, with their read positions, and stores of other programs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple

CONTEXT = "context"
"""Key of a source's context in its state."""


class SourceState(NamedTuple):
    """The read position of a foreign file."""

    path: str
    reader: str
    size: int
    modified_ns: int
    position: int = 0
    head: str = ""
    tail: str = ""
    state: Mapping[str, Any] = {}
    skipped: Mapping[str, int] = {}
    redacted: int = 0
    problem: str = ""
    is_gone: bool = False
    read_at: datetime | None = None


class SourceStamp(NamedTuple):
    """The part of a source's state that decides whether a foreign file must be read again."""

    path: str
    size: int
    modified_ns: int
    context: str
    """A fingerprint of the settings that, besides the file's bytes, decide what is read from it."""
    problem: str
    is_gone: bool
    read_at: datetime


def source_path(source: str, paths: Collection[str]) -> str | None:
    """Return the file of a conversation's source: `file#key` is in `file`. None if it is not among `paths`."""
    while source and source not in paths:
        source = source.rpartition("#")[0]  # a key may contain further "#"
    return source or None


class ImportedRecord(NamedTuple):
    """An imported record by its id in this store: its importer, and its content at that time."""

    id: str
    importer: str
    store: str
    """The file or folder it was read from."""
    place: str
    """Its name in that store, usually a table and a row id."""
    part: str
    """For stores without ids: the group in which newer statements supersede older ones. Otherwise ""."""
    digest: str
    """Digest of the imported content; "" once the record was forgotten."""
    imported_at: datetime
