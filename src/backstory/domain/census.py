"""What a store holds, counted: for people, and for what is told of a stretch of work."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from .records import Priority


class Census(NamedTuple):
    """The whole store."""

    memories: int
    messages: int
    """Numbered messages, those of subagents included; tool calls and thoughts belong to the message they stand with."""
    conversations: int
    """As lists show them: without subagents."""
    subagents: int
    projects: int
    waiting: int
    bytes: int


class ProjectActivity(NamedTuple):
    project: str
    records: int
    """Memories and conversations."""
    last_at: datetime


class ArchiveCensus(NamedTuple):
    """The archive."""

    memories: int
    conversations: int
    messages: int
    bytes: int


class ReaderCensus(NamedTuple):
    """What was read of one assistant's files."""

    conversations: int
    subagents: int
    messages: int
    sources: int
    gone: int
    redacted: int
    problems: int


class SourceCount(NamedTuple):
    """How many foreign files of a reader are alike: read, or not for the same reason."""

    reader: str
    problem: str
    files: int


class UnreadCount(NamedTuple):
    """Conversations of an assistant that could not be read, or not wholly."""

    surface: str
    completeness: str
    conversations: int


class ConversationTally(NamedTuple):
    """Conversations with one assistant in one project."""

    surface: str
    project: str
    conversations: int
    last: datetime


class Tally(NamedTuple):
    """Memories of one category and priority: how many, and the first and last time one was touched."""

    category: str | None
    priority: Priority
    total: int
    first: datetime
    last: datetime


class HourTally(NamedTuple):
    """How many memories of one category and priority were made in one hour. Hours count from 1970."""

    hour: int
    category: str | None
    priority: Priority
    total: int


class ChannelTally(NamedTuple):
    """Memories of one channel that are alike in session, category, priority and privacy."""

    channel: str | None
    session: str | None
    category: str | None
    priority: Priority
    is_private: bool
    total: int
    bytes: int
    first: datetime
    """When the first of them was saved."""
    last: datetime
    """When one of them was last changed."""
