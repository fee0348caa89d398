"""Filters and sort orders for records. Listing, counting, deleting and searching use the same ones."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from .records import Memory, Priority


class Kind(StrEnum):
    MEMORY = "memory"
    MESSAGE = "message"


class Filter(NamedTuple):
    """A filter for memories and messages. An empty field does not restrict; `Filter()` matches everything."""

    ids: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    projects: tuple[str, ...] = ()
    surfaces: tuple[str, ...] = ()
    threads: tuple[str, ...] = ()
    """Session ids of memories, conversation ids of messages."""
    keys: tuple[str, ...] = ()
    key_glob: str | None = None
    """Pattern for the key: `*` matches any text, `?` one character, `[a-z]` one of a set, `[^a-z]` one outside it."""
    categories: tuple[str, ...] = ()
    other_than: tuple[str, ...] = ()
    """Excluded categories. Entries without a category match."""
    priorities: tuple[Priority, ...] = ()
    channels: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    """Entire texts. Not supported for archived entries."""
    created_after: datetime | None = None
    created_before: datetime | None = None
    public_or_in: str | None = None
    """Hide private entries of other sessions. "" hides all private entries."""
    repository_of: str | None = None
    """Hide entries that came with a repository (Trust.PROJECT, Trust.TEAM), except those of this project."""


EVERYTHING = Filter()


class ConversationFilter(NamedTuple):
    """A filter for conversations. An empty field does not restrict."""

    ids: tuple[str, ...] = ()
    surfaces: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """Source files. The source `file#key` matches `file`."""
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    title_part: str = ""
    """Part of the title, ignoring case."""
    repository_of: str | None = None
    """Hide conversations that came with a repository, except those of this project. See `Filter.repository_of`."""


class Bounds(NamedTuple):
    """Restrictions that apply to memories, messages and conversations alike."""

    projects: tuple[str, ...] = ()
    surfaces: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None

    def filter(self) -> Filter:
        """Return a filter for memories and messages created in this period."""
        return Filter(
            projects=self.projects,
            surfaces=self.surfaces,
            created_after=self.since,
            created_before=self.until,
        )

    def conversation_filter(self) -> ConversationFilter:
        """Return a filter for conversations last updated in this period."""
        return ConversationFilter(
            projects=self.projects,
            surfaces=self.surfaces,
            updated_after=self.since,
            updated_before=self.until,
        )


class Order(StrEnum):
    NEWEST = "newest"
    OLDEST = "oldest"
    UPDATED_NEWEST = "updated newest"
    UPDATED_OLDEST = "updated oldest"
    PRIORITY = "priority"
    PRIORITY_REVERSED = "priority reversed"
    KEY = "key"
    KEY_REVERSED = "key reversed"


class Page(NamedTuple):
    limit: int | None = None
    offset: int = 0
    order: Order = Order.NEWEST


class Sorting(NamedTuple):
    """A sort order: an order of the store, or a metadata field."""

    order: Order = Order.NEWEST
    field: str | None = None
    is_descending: bool = False


class MemoryPage(NamedTuple):
    """A page of memories, and the total number of matches."""

    memories: list[Memory]
    total: int
