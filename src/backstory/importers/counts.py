"""What an import did, counted for each kind of thing that the store holds."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import NamedTuple

EXAMPLES = 3
LONGEST_EXAMPLE = 120


class Fate(StrEnum):
    """What becomes of a record that is not skipped."""

    NEW = "new"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


class Skip(StrEnum):
    """Why a record stays out, whichever program it comes from."""

    DELETED_HERE = "deleted here"
    CHANGED_HERE = "changed here since it was imported"
    EMPTY = "has no text"
    TWICE = "stands twice in the store"
    ALREADY_READ = "already read from the assistant's own history"


class Count:
    """Of one kind: found = new + updated + unchanged + skipped."""

    def __init__(self) -> None:
        self.fates: Counter[Fate] = Counter()
        self.skipped: Counter[str] = Counter()
        self.examples: list[str] = []

    @property
    def found(self) -> int:
        return self.fates.total() + self.skipped.total()


class Outcome(NamedTuple):
    kinds: dict[str, Count]
    """In the order in which the store told of them."""
    redacted: int = 0
    superseded: int = 0
    """Former statements that newer ones took the place of; they are in the archive."""
    unmapped: tuple[str, ...] = ()
    """Names of projects of which no directory is known here; they stay names."""


class ImportTally:
    """Counts while an import goes on."""

    def __init__(self) -> None:
        self.kinds: dict[str, Count] = {}

    def add(self, kind: str, fate: Fate | str, text: str = "", *, times: int = 1) -> None:
        """A fate, or why it was skipped."""
        count = self.kinds.setdefault(kind, Count())
        if not isinstance(fate, Fate):
            count.skipped[str(fate)] += times
            return
        count.fates[fate] += times
        if fate is not Fate.UNCHANGED and len(count.examples) < EXAMPLES and text:
            count.examples.append(" ".join(text.split())[:LONGEST_EXAMPLE])
