"""Files of other assistants, and how far each was read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple


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


def source_path(source: str, paths: Collection[str]) -> str | None:
    """Which of the files a conversation's source is, or is in: `file#key` is in `file`."""
    while source and source not in paths:
        source = source.rpartition("#")[0]  # a key may hold more of them
    return source or None
