"""Insights that are stored for later sessions, and statistics about the stored data."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from ....core import GuestPart
from ....core.memories import MemoryDraft
from ....domain.categories import REFLECTION
from ....domain.filters import Filter, Kind, Page
from ....domain.records import Memory
from .labels import TextLabel, labels

_CATEGORIES = (TextLabel.TASK, TextLabel.DECISION, TextLabel.ERROR)
"""Labels that become the category.

Sessions report memories of these categories, and pass open ones on to the next session."""


class StoreStats(NamedTuple):
    conversations: int
    reflections: int
    projects: int
    embedded_percent: float
    bytes: int
    oldest: datetime | None
    """The oldest conversation."""
    newest: datetime | None
    """The newest conversation or reflection."""


class Reflections(GuestPart):
    def keep(self, text: str, tags: Sequence[str]) -> tuple[Memory, bool]:
        """Store an insight, or the task, decision or error that it declares itself to be.

        Return the memory, and whether its vector is already available."""
        named = tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
        label_names = labels(text, named)
        category = next((label.value for label in _CATEGORIES if label in label_names), REFLECTION)
        draft = MemoryDraft(text, category=category, tags=named)
        memory = self.core.memories.save_item(draft)
        backlog = self.engine.backlog
        return memory, backlog is not None and backlog.catch_up()

    def stats(self) -> StoreStats:
        """Return statistics about the data that the caller may see."""
        self.engine.sync_first(self.call)
        store = self.engine.store
        census = store.census()
        visible = self.own(Filter(kinds=(Kind.MEMORY,)))
        span = store.conversations.span()
        last = [memory.created_at for memory in store.memories.find(visible, Page(limit=1))]
        entries = store.entries.count(Filter())
        waiting = (
            entries if self.engine.backlog is None else store.vectors.count_waiting(self.engine.backlog.space)
        )
        return StoreStats(
            conversations=census.conversations,
            reflections=store.entries.count(visible),
            projects=census.projects,
            embedded_percent=round(100 * (1 - waiting / entries), 2) if entries else 100.0,
            bytes=census.bytes,
            oldest=span[0] if span else None,
            newest=max((*last, *(span or ())), default=None),
        )
