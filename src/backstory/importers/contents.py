"""What a store of another program holds, in our words. Importers give these; `arrival` keeps them.

A place is what a record is called in its store, and is the same whenever that is read again. A project is a directory, or
the name of one; empty where the store does not say: then it is the folder that the store lies in.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from ..domain.records import Conversation, Former, Message, Priority, Trace

RELATION = "relation"
"""The category of a memory that says how two things are related."""

_CATEGORIES = {
    "bug": "error",
    "bugfix": "error",
    "discovery": "fact",
    "learning": "fact",
    "todo": "task",
}


class ForeignSession(NamedTuple):
    place: str
    name: str
    created_at: datetime
    updated_at: datetime
    project: str = ""
    channel: str = "general"
    description: str = ""
    parent: str | None = None
    """The place of another session."""


class ForeignMemory(NamedTuple):
    kind: str
    """In the plural, for people: what the other program calls it."""
    place: str
    text: str
    created_at: datetime
    updated_at: datetime
    project: str = ""
    session: str | None = None
    """The place of its session."""
    key: str | None = None
    category: str | None = None
    priority: Priority = Priority.NORMAL
    channel: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = MappingProxyType({})
    private: bool = False
    history: tuple[Former, ...] = ()
    is_deleted: bool = False
    """Its store has put it aside; it comes only when that is asked for, into the archive."""
    part: str = ""
    """For a store without ids: what it is a statement of. One that is new there supersedes one that is gone."""


class ForeignConversation(NamedTuple):
    kind: str
    conversation: Conversation
    """With the project as the store names it."""
    messages: tuple[Message, ...]
    traces: tuple[Trace, ...] = ()
    also: tuple[str, ...] = ()
    """Ids that the same conversation has when it is read from its assistant: it is not kept twice."""


class ForeignFile(NamedTuple):
    """A file as a session last saw it."""

    place: str
    session: str
    path: str
    content: str
    cached_at: datetime


class ForeignCheckpoint(NamedTuple):
    place: str
    session: str
    name: str
    description: str
    created_at: datetime
    git_branch: str | None
    git_status: str | None
    memories: tuple[str, ...]
    """Their places. What they hold comes before the checkpoint."""
    files: tuple[ForeignFile, ...]


class ForeignLink(NamedTuple):
    """How two memories are related."""

    place: str
    source: str
    target: str
    """The places of both memories, which come before."""
    relationship: str
    created_at: datetime
    metadata: Mapping[str, Any] = MappingProxyType({})


class UnplacedRecords(NamedTuple):
    """Something that we have no place for."""

    kind: str
    reason: str
    times: int = 1


Record = (
    ForeignSession
    | ForeignMemory
    | ForeignConversation
    | ForeignFile
    | ForeignCheckpoint
    | ForeignLink
    | UnplacedRecords
)


def category_of(kind: str) -> str | None:
    """A program's word for a kind of memory, as ours where it means the same."""
    word = kind.strip().lower()
    return _CATEGORIES.get(word, word) or None


def relation(
    place: str,
    subject: str,
    predicate: str,
    object: str,
    at: datetime,
    *,
    extra: Mapping[str, Any] = MappingProxyType({}),
    project: str = "",
    session: str | None = None,
    channel: str | None = None,
) -> ForeignMemory:
    """How two things are related, as a sentence that search and graph understand."""
    return ForeignMemory(
        kind="relations",
        place=place,
        text=f"{subject} {' '.join(predicate.replace('_', ' ').split())} {object}",
        created_at=at,
        updated_at=at,
        project=project,
        session=session,
        category=RELATION,
        channel=channel,
        metadata={"from": subject, "type": predicate, "to": object, **extra},
    )
