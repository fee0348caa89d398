"""Entries as search sees them.

Every memory and message has a number that is never reused. Search ranks a hundred thousand entries by number without
loading their texts."""

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
"""A limit that means "no limit"."""
COUNTED = 30_000
"""Number of characters at the beginning of a text in which words are counted."""


def numbers_of(entries: Sequence[int]) -> Numbers:
    return np.array(entries, np.int64)


class Outline(NamedTuple):
    """The fields of an entry that ranking needs, without its text."""

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
        """True for a spoken message. Spoken messages are numbered consecutively by `seq`."""
        return bool(self.role) and self.role not in QUIET_ROLES


class EntryText(NamedTuple):
    """An entry's outline and the first COUNTED characters of its text."""

    outline: Outline
    text: str


class Posting(NamedTuple):
    """The entries that contain one unit of a query, and the number of entries in the store that contain it.

    If the unit is too common to read all its entries, `is_whole` is false, `entries` are the newest ones, and
    `frequency` is an estimate."""

    unit: Unit
    frequency: int
    entries: Numbers
    """Entry numbers, newest first."""
    is_whole: bool


class TermQuery(NamedTuple):
    """A lookup in the text index."""

    words: tuple[str, ...]
    """Words that must be adjacent."""
    is_prefix: bool
    in_text: bool
    """True if the text itself must match, not only the heading."""

    @classmethod
    def of(cls, unit: Unit, *, in_text: bool = False) -> TermQuery:
        return cls(unit.words, unit.is_prefix, in_text)


class PostingRange(NamedTuple):
    """The highest-numbered entries in a range that contain a term."""

    term: TermQuery
    among: range
    limit: int
    is_any_enough: bool = False
    """If `limit` entries or more contain the term, any `limit` of them will do. They may cost less to read."""


class Passing(NamedTuple):
    """The entries that match a filter."""

    flags: Flags
    """Indexed by entry number."""
    created_ms: Numbers
    """Creation times, indexed by entry number."""

    def among(self, numbers: Numbers) -> Flags:
        """Return a flag per number: true if the entry matches.

        Entries added after `flags` was computed do not match."""
        passed: Flags = self.flags.take(numbers, mode="clip") & (numbers < len(self.flags))
        return passed

    def newest(self, numbers: Numbers, ordered: int) -> Numbers:
        """Return the matching numbers: the `ordered` newest ones first, newest first, then all others in any order."""
        passed = numbers[self.among(numbers)]
        created = self.created_ms[passed]
        # np.partition finds the limit without sorting: only the newest `ordered` entries are sorted
        least = (
            np.partition(created, -ordered)[-ordered] if ordered < len(created) else created.min(initial=0)
        )
        ahead, behind = np.flatnonzero(created >= least), np.flatnonzero(created < least)
        order = np.concatenate([ahead[(-created[ahead]).argsort(kind="stable")], behind])
        newest_first: Numbers = passed[order]
        return newest_first


class TextFields(Enum):
    """The fields of a memory in which a word is searched."""

    VALUE = "value"
    KEY = "key"
    BOTH = "both"


class ListedMemory(NamedTuple):
    """A memory in a listing, without its text."""

    entry: int
    key: str | None


class PendingText(NamedTuple):
    """A text that has no vectors yet. `revision` shows whether it changed in the meantime."""

    entry: int
    revision: int
    kind: str
    heading: str
    """The context of the text, if it has any: the key, category and tags of a memory, or the speaker and the day of a message."""
    text: str


class EntryVectors(NamedTuple):
    """The vectors of an entry's text at one revision."""

    entry: int
    revision: int
    vectors: Vector
    """One row per passage of the text."""
    passages: Sequence[int] = ()
    """A digest of each passage.

    A later text that contains the same passage reuses its vector. Empty if the digests are not known."""

    @property
    def digests(self) -> Sequence[int | None]:
        """Return one digest per vector."""
        return self.passages or [None] * len(self.vectors)
