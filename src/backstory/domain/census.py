"""Counts of the contents of a store, for people and for reports about a session."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from .records import Priority


class Census(NamedTuple):
    """Counts for the whole store."""

    memories: int
    messages: int
    """Numbered messages, including those of subagents.

    Tool calls and thoughts count with the message they belong to."""
    conversations: int
    """Conversations without subagents, as lists show them."""
    subagents: int
    projects: int
    waiting: int
    bytes: int


class ProjectActivity(NamedTuple):
    project: str
    records: int
    """Number of memories and conversations."""
    last_at: datetime


class ArchiveCensus(NamedTuple):
    """Counts for the archive."""

    memories: int
    conversations: int
    messages: int
    bytes: int


class ReaderCensus(NamedTuple):
    """Counts of the records read from one assistant's files."""

    conversations: int
    subagents: int
    messages: int
    sources: int
    gone: int
    redacted: int
    problems: int


class SourceCount(NamedTuple):
    """The number of a reader's files with the same result: read, or skipped for the same reason."""

    reader: str
    problem: str
    files: int


class UnreadCount(NamedTuple):
    """Conversations of an assistant that could not be read, or only in part."""

    surface: str
    completeness: str
    conversations: int


class ConversationTally(NamedTuple):
    """Counts of the conversations with one assistant in one project."""

    surface: str
    project: str
    conversations: int
    last: datetime


class Tally(NamedTuple):
    """The number of memories with one category and priority, and the first and last time one of them was changed."""

    category: str | None
    priority: Priority
    total: int
    first: datetime
    last: datetime


class HourTally(NamedTuple):
    """The number of memories with one category and priority that were created in one hour. Hours count from 1970."""

    hour: int
    category: str | None
    priority: Priority
    total: int


class ChannelTally(NamedTuple):
    """Counts of the memories of one channel that share session, category, priority and privacy."""

    channel: str | None
    session: str | None
    category: str | None
    priority: Priority
    is_private: bool
    total: int
    bytes: int
    first: datetime
    """The time when the first of them was saved."""
    last: datetime
    """The time when one of them was last changed."""
