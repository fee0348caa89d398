"""Exports that are kept in the store, for callers who cannot reach the server's disk."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class StoredExport(NamedTuple):
    path: str
    """Relative, as the caller names it."""
    text: str
    size: int
    """Bytes of the text."""
    quoted: tuple[str, ...]
    """Ids of the memories and conversations in it: forgetting one of them deletes the export."""
    made_at: datetime
