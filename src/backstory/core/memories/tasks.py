"""Which tasks are still open, and which have been for long."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from ...domain.records import Memory

TASK = "task"
STALE_AFTER = timedelta(days=7)

_FINISHED = frozenset(
    ("done", "completed", "complete", "closed", "resolved", "fixed", "cancelled", "canceled", "finished")
)
_TICKS = ("[x]", "- [x]", "✓", "✅", "☑")


def is_open_task(memory: Memory) -> bool:
    """A task is finished when its metadata's status, a tag, or the beginning of its text says so."""
    if memory.category != TASK:
        return False
    status = str(memory.metadata.get("status", "")).strip().lower()
    if status:
        return status not in _FINISHED
    if any(tag.lower() in _FINISHED for tag in memory.tags):
        return False
    start = memory.text.lstrip().lower()
    return not start.startswith(_TICKS) and start.split(":")[0].strip(" .!") not in _FINISHED


def is_report(memory: Memory) -> bool:
    """Whether it says, in words alone, that a task is done: "Done: …". One that was marked as done speaks for itself only."""
    has_status = bool(memory.metadata.get("status"))
    return memory.category == TASK and memory.key is None and not has_status and not is_open_task(memory)


def stale_tasks(memories: Iterable[Memory], now: datetime) -> list[Memory]:
    """Open tasks that nobody touched for a week, the longest waiting first."""
    stale = [m for m in memories if is_open_task(m) and now - m.updated_at >= STALE_AFTER]
    return sorted(stale, key=lambda memory: (memory.updated_at, memory.id))
