"""Links between memories, watchers of memories, and the changes that watchers report."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple


class MemoryLink(NamedTuple):
    """A relation between two memories. `source` and `target` are ids."""

    id: str
    source: str
    target: str
    relationship: str
    created_at: datetime
    updated_at: datetime
    metadata: Mapping[str, Any] = MappingProxyType({})


class ChangeKind(StrEnum):
    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"


class MemoryChange(NamedTuple):
    """A memory that was saved, changed or deleted.

    The fields after `changed_at` are set only for a deleted memory. For others they are read from the memory itself."""

    sequence: int
    kind: ChangeKind
    memory: str
    changed_at: datetime
    surface: str | None = None
    session: str | None = None
    key: str | None = None
    category: str | None = None
    priority: str | None = None
    channel: str | None = None
    private: bool | None = None
    is_erased: bool | None = None
    """True if the memory was deleted permanently. Only watchers that are already waiting learn its key."""


class Watcher(NamedTuple):
    """A session's request to be notified of changes."""

    id: str
    session: str
    surface: str
    filters: Mapping[str, Any]
    existing: tuple[str, ...]
    """Ids of memories that existed before the watcher and are still to be reported."""
    sequence: int
    """The last change that was reported or skipped."""
    lifetime_s: int
    created_at: datetime
    expires_at: datetime
    stopped_at: datetime | None = None

    def is_active(self, now: datetime) -> bool:
        return self.stopped_at is None and self.expires_at > now
