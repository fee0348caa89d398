"""What kind of thing a memory is, whichever family of tools saved it and whatever that calls it."""

from __future__ import annotations

from enum import StrEnum

from .records import Memory


class MemoryKind(StrEnum):
    DECISION = "decision"
    FACT = "fact"
    TASK = "task"
    PREFERENCE = "preference"
    ERROR = "error"


_CATEGORIES = {
    MemoryKind.DECISION: ("decision",),
    MemoryKind.FACT: (),
    MemoryKind.TASK: ("task",),
    MemoryKind.PREFERENCE: ("preference",),
    MemoryKind.ERROR: ("error", "warning"),
}
"""Every other category, and none, is a fact."""

_KINDS = {category: kind for kind, categories in _CATEGORIES.items() for category in categories}
NOTE = "note"


def kind_of(memory: Memory) -> MemoryKind:
    return _KINDS.get(memory.category or "", MemoryKind.FACT)


def kind_name(memory: Memory) -> str:
    """What people read: what the tool that saved it calls it, unless that says nothing."""
    return memory.category if memory.category and memory.category != NOTE else MemoryKind.FACT


def category_of(kind: MemoryKind) -> str:
    """The category that a memory of this kind is saved with."""
    return next(iter(_CATEGORIES[kind]), NOTE)


def categories_of(kind: MemoryKind) -> tuple[str, ...]:
    """Those that memories of this kind have; empty where any other one may be it."""
    return _CATEGORIES[kind]


def categories_of_others(kind: MemoryKind) -> tuple[str, ...]:
    """Those that memories of this kind do not have, where any other one may be it; else empty."""
    return () if _CATEGORIES[kind] else tuple(_KINDS)
