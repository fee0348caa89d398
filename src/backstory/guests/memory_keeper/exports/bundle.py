"""Sessions with their contents, for export and import."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from ....core.merging import MemoryCopy
from ....domain.checkpoints import Checkpoint
from ....domain.records import Memory, Session


class FileCopy(NamedTuple):
    """The content of a file as a session last read it."""

    path: str
    content: bytes
    cached_at: datetime
    metadata: Mapping[str, Any]


class CheckpointCopy(NamedTuple):
    """The contents of a checkpoint."""

    checkpoint: Checkpoint
    memories: tuple[Memory, ...]
    files: tuple[FileCopy, ...]


class LinkCopy(NamedTuple):
    """A link between two items, by the ids that they have in the file."""

    source: str
    target: str
    relationship: str
    metadata: Mapping[str, Any]
    created_at: datetime


class SessionCopy(NamedTuple):
    """One session with its contents."""

    session: Session
    items: tuple[MemoryCopy, ...] = ()
    files: tuple[FileCopy, ...] = ()
    checkpoints: tuple[CheckpointCopy, ...] = ()
    """Checkpoints in the order of their creation."""
    archived: tuple[MemoryCopy, ...] = ()
    """Compressed items."""
    links: tuple[LinkCopy, ...] = ()
    """Links from items of this session to items of any session of the file."""


class Counts(NamedTuple):
    sessions: int = 0
    items: int = 0
    files: int = 0
    checkpoints: int = 0


def count(parts: tuple[SessionCopy, ...]) -> Counts:
    return Counts(
        sessions=len(parts),
        items=sum(len(part.items) + len(part.archived) for part in parts),
        files=sum(len(part.files) for part in parts),
        checkpoints=sum(len(part.checkpoints) for part in parts),
    )
