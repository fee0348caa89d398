"""Which records, and in what order. Listing, counting, deleting and searching take the same words."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from .records import Memory, Priority


class Kind(StrEnum):
    MEMORY = "memory"
    MESSAGE = "message"


class Filter(NamedTuple):
    """Every field narrows; an empty one does not. `Filter()` matches everything."""

    ids: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    projects: tuple[str, ...] = ()
    surfaces: tuple[str, ...] = ()
    threads: tuple[str, ...] = ()
    """Sessions of memories, conversations of messages."""
    keys: tuple[str, ...] = ()
    key_glob: str | None = None
    """`*`, `?` and `[a-z]` stand for any text, any character and one of those; `[^a-z]` for any other."""
    categories: tuple[str, ...] = ()
    other_than: tuple[str, ...] = ()
    """Categories that an entry does not have; one without any matches."""
    priorities: tuple[Priority, ...] = ()
    channels: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    """Whole texts; not for what is archived."""
    created_after: datetime | None = None
    created_before: datetime | None = None
    public_or_in: str | None = None
    """Hide private entries of other sessions than this one. "" hides all private entries."""
    repository_of: str | None = None
    """Hide entries that came with a repository (Trust.PROJECT, Trust.TEAM), but for those of this project."""


EVERYTHING = Filter()


class ConversationFilter(NamedTuple):
    """Which conversations. Every field narrows; an empty one does not."""

    ids: tuple[str, ...] = ()
    surfaces: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """Files; `file#key` is in `file`."""
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    title_part: str = ""
    """Upper and lower case are the same."""
    repository_of: str | None = None
    """As in Filter."""


class Bounds(NamedTuple):
    """What memories, messages and conversations are narrowed by alike."""

    projects: tuple[str, ...] = ()
    surfaces: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None

    def filter(self) -> Filter:
        """Memories and messages that were made in that time."""
        return Filter(
            projects=self.projects,
            surfaces=self.surfaces,
            created_after=self.since,
            created_before=self.until,
        )

    def conversation_filter(self) -> ConversationFilter:
        """Conversations that were last added to in that time."""
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
    """An order of the store, or a field of the metadata."""

    order: Order = Order.NEWEST
    field: str | None = None
    is_descending: bool = False


class MemoryPage(NamedTuple):
    """A page of memories, of how many there are in all."""

    memories: list[Memory]
    total: int
