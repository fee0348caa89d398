"""Which records, and in what order. Listing, counting, deleting and searching take the same words."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


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
    created_after: datetime | None = None
    created_before: datetime | None = None
    public_or_in: str | None = None
    """Hide private entries of other sessions than this one. "" hides all private entries."""


class Order(StrEnum):
    NEWEST = "newest"
    OLDEST = "oldest"


class Page(NamedTuple):
    limit: int | None = None
    offset: int = 0
    order: Order = Order.NEWEST
