"""Links between memories, watchers of memories, and the changes that watchers are told of."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple


class MemoryLink(NamedTuple):
    """One memory is related to another. `source` and `target` are ids."""

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
    """A memory was saved, changed or deleted. All fields after `changed_at` describe a deleted memory only: the
    others are read from the memory itself, as it is now."""

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
    """Deleted for good, so that only watchers who wait are told its key."""


class Watcher(NamedTuple):
    """A request of one session to be told of changes."""

    id: str
    session: str
    surface: str
    filters: Mapping[str, Any]
    existing: tuple[str, ...]
    """Ids of memories that were there before the watcher and are still to be reported."""
    sequence: int
    """The last change that was reported or passed over."""
    lifetime_s: int
    created_at: datetime
    expires_at: datetime
    stopped_at: datetime | None = None

    def is_active(self, now: datetime) -> bool:
        return self.stopped_at is None and self.expires_at > now
