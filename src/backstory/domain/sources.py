"""Where records came from: files of other assistants, with how far each was read, and stores of other programs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple

CONTEXT = "context"
"""Where a state has the context of its source."""


class SourceState(NamedTuple):
    """How far a foreign file was read."""

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
    """What tells whether a foreign file is to be read again, without the rest of what is known of it."""

    path: str
    size: int
    modified_ns: int
    context: str
    """A fingerprint of what decides, besides the file's bytes, what is read of it."""
    problem: str
    is_gone: bool
    read_at: datetime


def source_path(source: str, paths: Collection[str]) -> str | None:
    """Which of the files a conversation's source is, or is in: `file#key` is in `file`."""
    while source and source not in paths:
        source = source.rpartition("#")[0]  # a key may hold more of them
    return source or None


class ImportedRecord(NamedTuple):
    """By the id it has here: which importer brought it, and what it said then."""

    id: str
    importer: str
    store: str
    """The file or folder it was read from."""
    place: str
    """What it is called there: a table and the id of a row, mostly."""
    part: str
    """What its statements may supersede each other in, where they have no ids; empty elsewhere."""
    digest: str
    """Of what was imported; empty when that was forgotten."""
    imported_at: datetime
