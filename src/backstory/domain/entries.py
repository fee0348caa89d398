"""Entries as search sees them: every memory and message has a number that is never used again, so that a hundred
thousand can be ranked without loading one text."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from .arrays import np
from .records import QUIET_ROLES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .words import Unit

    Vector = NDArray[np.float32]
    Numbers = NDArray[np.int64]
    Flags = NDArray[np.bool_]


ALL = 2**62
"""As a limit: none."""
COUNTED = 30_000
"""Characters at the beginning of a text in which words are counted."""


def numbers_of(entries: Sequence[int]) -> Numbers:
    return np.array(entries, np.int64)


class Outline(NamedTuple):
    """What ranking needs to know of an entry, without its text."""

    entry: int
    thread: str | None
    seq: int
    role: str
    speaker: str
    size: int
    project: str
    created_ms: int
    surface: str = ""

    @property
    def is_said(self) -> bool:
        """It is a message that somebody said; those stand beside each other, one at each `seq`."""
        return bool(self.role) and self.role not in QUIET_ROLES


class EntryText(NamedTuple):
    """An entry's outline with the first COUNTED characters of its text."""

    outline: Outline
    text: str


class IndexedText(NamedTuple):
    """What the text index knows an entry by: the beginning of its text, and its heading."""

    entry: int
    text: str
    heading: str


class Posting(NamedTuple):
    """The entries that hold one unit of a query, and in how many entries of the store it stands.

    When the unit is so common that not all were read (`is_whole` is false), `entries` are the newest and
    `frequency` is an estimate."""

    unit: Unit
    frequency: int
    entries: Numbers
    """The newest first."""
    is_whole: bool


class TermQuery(NamedTuple):
    """What is looked up in the text index."""

    words: tuple[str, ...]
    """Side by side."""
    is_prefix: bool
    in_text: bool
    """And not only in the heading."""

    @classmethod
    def of(cls, unit: Unit, *, in_text: bool = False) -> TermQuery:
        return cls(unit.words, unit.is_prefix, in_text)


class PostingRange(NamedTuple):
    """Some of the entries that hold a term: the highest of those in a range."""

    term: TermQuery
    among: range
    limit: int


class Passing(NamedTuple):
    """The entries that a filter lets through."""

    flags: Flags
    """By number."""
    created_ms: Numbers
    """When each was made, by number."""

    def among(self, numbers: Numbers) -> Flags:
        """Which of these pass; what was added since the flags were made does not."""
        passed: Flags = self.flags.take(numbers, mode="clip") & (numbers < len(self.flags))
        return passed

    def newest(self, numbers: Numbers, ordered: int) -> Numbers:
        """Those of the numbers that pass: so many, the newest, in the order of their age, then the others in any."""
        passed = numbers[self.among(numbers)]
        made = self.created_ms[passed]
        least = np.partition(made, -ordered)[-ordered] if ordered < len(made) else made.min(initial=0)
        ahead, behind = np.flatnonzero(made >= least), np.flatnonzero(made < least)
        order = np.concatenate([ahead[(-made[ahead]).argsort(kind="stable")], behind])
        newest_first: Numbers = passed[order]
        return newest_first


class TextFields(Enum):
    """Where a memory is searched for a word."""

    VALUE = "value"
    KEY = "key"
    BOTH = "both"


class ListedMemory(NamedTuple):
    """A memory in a listing, without its text."""

    entry: int
    key: str | None


class PendingText(NamedTuple):
    """A text that has no vector yet. `revision` tells whether it changed meanwhile."""

    entry: int
    revision: int
    kind: str
    text: str


class EntryVectors(NamedTuple):
    """The vectors of an entry's text as it was at that revision."""

    entry: int
    revision: int
    vectors: Vector
    """One row for each passage of the text."""
    passages: Sequence[int] = ()
    """A digest of each, by which the next text that holds it gets the same vector; empty where they are not known."""

    @property
    def digests(self) -> Sequence[int | None]:
        """One for each vector."""
        return self.passages or [None] * len(self.vectors)
