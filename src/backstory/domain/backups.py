"""Copies of a store: a backup with what the name of its file says, and how far a copy into another store has come."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

MANUAL = ""
"""The reason of those that a person asked for."""
LOG, DAMAGED = "log", "damaged"
"""The reasons of what is kept and is no store: a write-ahead log whose store was taken away, and what a restore found."""


class Backup(NamedTuple):
    path: Path
    made_at: datetime
    reason: str
    """`daily`, `before-migration`, `before-restore`, `before-archive`, or one of the above."""
    bytes: int

    @property
    def is_automatic(self) -> bool:
        return self.reason != MANUAL

    @property
    def is_store(self) -> bool:
        """Whether it can be restored, and rewritten."""
        return self.reason not in (LOG, DAMAGED)


class CopyProgress(NamedTuple):
    """All tables before this one were copied from the source, and this one up to a key."""

    source: str
    table: str
    after: tuple[Any, ...] = ()
    is_void: bool = False
    """What was copied is not what is there now."""
    is_done: bool = False
    """Everything arrived."""
