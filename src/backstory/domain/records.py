"""What Backstory keeps: memories, and conversations with their messages.

Records are NamedTuples throughout: as immutable as frozen dataclasses, and made at import in a quarter of the
time, which every start of the server pays (docs/decisions/0004-records.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple


class Priority(StrEnum):
    CRITICAL = "critical"
    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


class Memory(NamedTuple):
    """One thing worth remembering. `surface` says which vocabulary it was saved through."""

    id: str
    text: str
    project: str
    surface: str
    created_at: datetime
    updated_at: datetime
    summary: str = ""
    key: str | None = None
    category: str | None = None
    priority: Priority = Priority.NORMAL
    channel: str | None = None
    tags: tuple[str, ...] = ()
    session: str | None = None
    private: bool = False
    metadata: Mapping[str, Any] = MappingProxyType({})


class Session(NamedTuple):
    """A stretch of work on a project. It has a parent when it was branched or continued."""

    id: str
    name: str
    project: str
    surface: str
    created_at: datetime
    updated_at: datetime
    channel: str = "general"
    description: str = ""
    parent: str | None = None


class Former(NamedTuple):
    """What a memory said until it was saved again."""

    text: str
    category: str | None
    priority: Priority
    channel: str | None
    metadata: Mapping[str, Any]
    saved_at: datetime
    private: bool = False


class Event(NamedTuple):
    """Something another tool reported. `memory` is the one that was made of it, when it was important."""

    id: str
    session: str
    project: str
    surface: str
    tool: str
    type: str
    data: Any
    created_at: datetime
    memory: str | None = None


class Conversation(NamedTuple):
    """A transcript, stored through us or read from another assistant."""

    id: str
    title: str
    project: str
    surface: str
    created_at: datetime
    updated_at: datetime


class Message(NamedTuple):
    id: str
    conversation: str
    seq: int
    role: str
    text: str
    project: str
    surface: str
    created_at: datetime
    speaker: str = ""


Entry = Memory | Message
"""Anything that search can find."""


def heading(entry: Entry) -> str:
    """What is known of an entry besides its text, as words that a search may use."""
    if isinstance(entry, Message):
        return f"{entry.speaker} {entry.created_at:%d %B %Y}".strip()
    return " ".join(part for part in (entry.key, entry.category, *entry.tags) if part)
