"""What is left to do in a project, whichever family of tools saved it."""

from __future__ import annotations

from ..domain.filters import Filter, Order, Page
from ..domain.records import Memory
from ..store import Store
from .insight.digest import urgent_first
from .insight.tasks import TASK, is_open_task

MOST_READ = 2_000


def open_tasks(store: Store, where: Filter) -> list[Memory]:
    """Of those that match, the most urgent first. Of a key that several sessions saved, the last word counts."""
    page = Page(limit=MOST_READ, order=Order.UPDATED_NEWEST)
    tasks = list(filter(is_open_task, store.memories.find(where._replace(categories=(TASK,)), page)))
    keys = tuple({task.key for task in tasks if task.key is not None})
    saved = store.memories.find(where._replace(categories=(), keys=keys), page) if keys else []
    last = {(memory.surface, memory.key): memory.id for memory in reversed(saved)}
    return urgent_first(t for t in tasks if last.get((t.surface, t.key), t.id) == t.id)
