"""Exports that are saved in the store, for callers that cannot access the server's disk."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class StoredExport(NamedTuple):
    path: str
    """Relative path, as the caller wrote it."""
    text: str
    size: int
    """Size of the text in bytes."""
    quoted: tuple[str, ...]
    """Ids of the memories and conversations in the export. Forgetting one of them deletes the export."""
    made_at: datetime
