"""Backups of a store, as described by their file names, and the progress of a copy into another store."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

MANUAL = ""
"""The reason of a backup that a person requested."""
LOG, DAMAGED = "log", "damaged"
"""The reasons of saved files that are not a store: a write-ahead log whose store was removed, and the damaged store
that a restore replaced."""


class Backup(NamedTuple):
    path: Path
    made_at: datetime
    reason: str
    """`daily`, `before-migration`, `before-restore`, `before-archive`, or one of the constants above."""
    bytes: int

    @property
    def is_automatic(self) -> bool:
        return self.reason != MANUAL

    @property
    def is_store(self) -> bool:
        """True if the backup can be restored and rewritten."""
        return self.reason not in (LOG, DAMAGED)


class CopyProgress(NamedTuple):
    """The position of an unfinished copy: all tables before `table` are copied, and `table` itself up to the key
    `after`."""

    source: str
    table: str
    after: tuple[Any, ...] = ()
    is_void: bool = False
    """The rows copied earlier no longer match the source."""
    is_done: bool = False
    """All tables were copied."""
