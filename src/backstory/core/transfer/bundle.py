"""Sessions with all that is in them, on the way out of a store or into one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from ...domain.records import Former, Memory, Session


class Item(NamedTuple):
    """A memory, and what it said before, the oldest first."""

    memory: Memory
    history: tuple[Former, ...] = ()


class File(NamedTuple):
    """The content of a file as a session last saw it."""

    path: str
    content: bytes
    cached_at: datetime
    metadata: Mapping[str, Any]


class Checkpoint(NamedTuple):
    """What a session held at a moment."""

    id: str
    name: str
    description: str
    git_branch: str | None
    git_status: str | None
    created_at: datetime
    memories: tuple[Memory, ...]
    files: tuple[File, ...]


class Part(NamedTuple):
    """One session with its contents."""

    session: Session
    items: tuple[Item, ...] = ()
    files: tuple[File, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    """In the order they were taken."""
    archived: tuple[Item, ...] = ()
    """Items that were compressed."""


class Counts(NamedTuple):
    sessions: int = 0
    items: int = 0
    files: int = 0
    checkpoints: int = 0


def count(parts: tuple[Part, ...]) -> Counts:
    return Counts(
        sessions=len(parts),
        items=sum(len(part.items) + len(part.archived) for part in parts),
        files=sum(len(part.files) for part in parts),
        checkpoints=sum(len(part.checkpoints) for part in parts),
    )
