"""Kinds of memories, independent of the tools that saved them and their vocabulary."""

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
"""The categories of each kind. Any other category, or none, is a fact."""

_KINDS = {category: kind for kind, categories in _CATEGORIES.items() for category in categories}
NOTE = "note"


def kind_of(memory: Memory) -> MemoryKind:
    return _KINDS.get(memory.category or "", MemoryKind.FACT)


def kind_name(memory: Memory) -> str:
    """Return the name of the kind for people: the category, unless it is missing or only "note"."""
    return memory.category if memory.category and memory.category != NOTE else MemoryKind.FACT


def category_of(kind: MemoryKind) -> str:
    """Return the category under which a memory of this kind is saved."""
    return next(iter(_CATEGORIES[kind]), NOTE)


def categories_of(kind: MemoryKind) -> tuple[str, ...]:
    """Return the categories of this kind; empty for facts, which may have any other category."""
    return _CATEGORIES[kind]


def categories_of_others(kind: MemoryKind) -> tuple[str, ...]:
    """Return the categories that facts do not have; empty for every other kind."""
    return () if _CATEGORIES[kind] else tuple(_KINDS)
