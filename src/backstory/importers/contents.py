"""The contents of another program's store in Backstory's terms. Importers yield these records; `arrival` stores them.

A place is a record's name in its store and does not change between imports. A project is a directory or the name of
one; "" means the folder that contains the store."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from ..domain.records import Conversation, Former, Message, Priority, Trace

RELATION = "relation"
"""The category of a memory that describes a relation between two things."""

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
    """The place of the parent session."""


class ForeignMemory(NamedTuple):
    kind: str
    """The other program's name of this kind, in the plural, for people."""
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
    """True if its store has archived it. It is imported only on request, into the archive."""
    part: str = ""
    """For a store without ids: the subject of the statement.

    A new statement on a subject supersedes one that has disappeared."""


class ForeignConversation(NamedTuple):
    kind: str
    conversation: Conversation
    """The conversation, with the project as the store names it."""
    messages: tuple[Message, ...]
    traces: tuple[Trace, ...] = ()
    also: tuple[str, ...] = ()
    """Ids that the same conversation has if it is read from its assistant. It is not stored twice."""


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
    """Places of the memories. They must be yielded before the checkpoint."""
    files: tuple[ForeignFile, ...]


class ForeignLink(NamedTuple):
    """A relation between two memories."""

    place: str
    source: str
    target: str
    """`source` and `target` are the places of memories that were yielded before."""
    relationship: str
    created_at: datetime
    metadata: Mapping[str, Any] = MappingProxyType({})


class UnplacedRecords(NamedTuple):
    """Records that Backstory has no equivalent for."""

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
    """Translate a program's word for a kind of memory into ours, if there is an equivalent."""
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
    """Return a memory that states a relation as a sentence that search and graph understand."""
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
