"""Counts of an import, by kind of record."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import NamedTuple

EXAMPLES = 3
LONGEST_EXAMPLE = 120


class Fate(StrEnum):
    """The result for a record that is not skipped."""

    NEW = "new"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


class Skip(StrEnum):
    """Reasons to skip a record, for all programs."""

    DELETED_HERE = "deleted here"
    CHANGED_HERE = "changed here since it was imported"
    EMPTY = "has no text"
    TWICE = "stands twice in the store"
    ALREADY_READ = "already read from the assistant's own history"


class Count:
    """Counts for one kind: found = new + updated + unchanged + skipped."""

    def __init__(self) -> None:
        self.fates: Counter[Fate] = Counter()
        self.skipped: Counter[str] = Counter()
        self.examples: list[str] = []

    @property
    def found(self) -> int:
        return self.fates.total() + self.skipped.total()


class Outcome(NamedTuple):
    kinds: dict[str, Count]
    """Counts by kind, in the order in which the store yielded them."""
    redacted: int = 0
    superseded: int = 0
    """Number of former statements that newer ones replaced. They are in the archive."""
    unmapped: tuple[str, ...] = ()
    """Names of projects whose directory is not known here. They stay names."""


class ImportTally:
    """Counts of a running import."""

    def __init__(self) -> None:
        self.kinds: dict[str, Count] = {}

    def add(self, kind: str, fate: Fate | str, text: str = "", *, times: int = 1) -> None:
        """Count a fate, or the reason for skipping."""
        count = self.kinds.setdefault(kind, Count())
        if not isinstance(fate, Fate):
            count.skipped[str(fate)] += times
            return
        count.fates[fate] += times
        if fate is not Fate.UNCHANGED and len(count.examples) < EXAMPLES and text:
            count.examples.append(" ".join(text.split())[:LONGEST_EXAMPLE])
