"""A backup of a store: a file, and what its name says."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import NamedTuple

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
