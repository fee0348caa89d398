"""Ids of the memories that a call changes or reads, for the audit log of a team server. Without one nothing is collected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MAX_IDS = 50


class MemoryTrail:
    def __init__(self) -> None:
        self.changed: dict[str, None] = {}
        self.read: dict[str, None] = {}

    def text(self) -> str:
        """The ids that were changed, or else those that were read, separated by blanks; at most MAX_IDS and the
        number of the others."""
        ids = list(self.changed or self.read)
        further = [f"+{len(ids) - MAX_IDS}"] if len(ids) > MAX_IDS else []
        return " ".join((*ids[:MAX_IDS], *further))


_trail: ContextVar[MemoryTrail | None] = ContextVar("memory_trail", default=None)


@contextmanager
def memory_trail() -> Iterator[MemoryTrail]:
    """Collect the ids of the memories that this thread reads and changes in the block."""
    trail = MemoryTrail()
    token = _trail.set(trail)
    try:
        yield trail
    finally:
        _trail.reset(token)


def is_followed() -> bool:
    return _trail.get() is not None


def note_changed(ids: Iterable[str]) -> None:
    if (trail := _trail.get()) is not None:
        trail.changed.update(dict.fromkeys(ids))


def note_read(ids: Iterable[str]) -> None:
    if (trail := _trail.get()) is not None:
        trail.read.update(dict.fromkeys(ids))
