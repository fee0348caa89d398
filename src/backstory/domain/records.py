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
