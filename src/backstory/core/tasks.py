"""Open tasks, and tasks that have been open for long."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from ..domain.records import Memory

TASK = "task"
STALE_AFTER = timedelta(days=7)

_FINISHED = frozenset(
    ("done", "completed", "complete", "closed", "resolved", "fixed", "cancelled", "canceled", "finished")
)
_TICKS = ("[x]", "- [x]", "[done]", "✓", "✅", "☑")
_CLOSING = ("[done]", "✓", "✅", "☑")
_COMPLETED = "completed"


def is_open_task(memory: Memory) -> bool:
    """True if a memory is an unfinished task: not marked done by its status, a tag, or the beginning or end of its text."""
    if memory.category != TASK:
        return False
    status = str(memory.metadata.get("status", "")).strip().lower()
    if status:
        return status not in _FINISHED
    if any(tag.lower() in _FINISHED for tag in memory.tags):
        return False
    text = memory.text.strip().lower()
    if text.startswith(_TICKS) or text.endswith(_CLOSING) or text.split(":")[0].strip(" .!") in _FINISHED:
        return False
    words = text.split()
    return _COMPLETED not in {word.strip(".,:;!()") for word in (*words[:1], *words[-1:])}


def is_report(memory: Memory) -> bool:
    """True if its text reports that a task is done: "Done: …". A task that is marked as done refers only to itself."""
    has_status = bool(memory.metadata.get("status"))
    return memory.category == TASK and memory.key is None and not has_status and not is_open_task(memory)


def stale_tasks(memories: Iterable[Memory], now: datetime) -> list[Memory]:
    """Open tasks that were not changed for a week, longest waiting first."""
    stale = [m for m in memories if is_open_task(m) and now - m.updated_at >= STALE_AFTER]
    return sorted(stale, key=lambda memory: (memory.updated_at, memory.id))
