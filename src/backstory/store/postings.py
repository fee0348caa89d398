"""An in-memory cache of the entries that contain the words of queries, read once from the text index and then extended.

Only removing words from the index changes results below the last entry that was read; the cache then starts empty.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..domain.arrays import np
from ..domain.entries import ALL, PostingRange, TermQuery
from .mirror import Mirror

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..domain.entries import Numbers

MAX_NUMBERS = 4_000_000
MAX_NUMBERS_FOR_EACH_ENTRY = 16
"""Numbers in memory, of four bytes each: in all, or for each entry of a large store."""


class TermEntries(NamedTuple):
    """The entries that contain a term, up to the last entry that was read."""

    numbers: NDArray[np.uint32]
    """The highest first."""
    is_whole: bool
    last: int
    """The highest entry there was when they were read."""
    least: int = 0
    """A lower bound of the number of entries, which may not be in `numbers`."""


class _TermCache:
    """An LRU cache of terms and their entries, limited by memory."""

    def __init__(self) -> None:
        self.terms: dict[TermQuery, TermEntries] = {}  # least recently used first
        self._size = 0

    def put(self, term: TermQuery, entries: TermEntries) -> None:
        former = self.terms.pop(term, None)
        self._size += len(entries.numbers) - (0 if former is None else len(former.numbers))
        self.terms[term] = entries
        while self._size > max(MAX_NUMBERS, MAX_NUMBERS_FOR_EACH_ENTRY * entries.last):
            oldest = next(iter(self.terms))
            self._size -= len(self.terms.pop(oldest).numbers)


class PostingMirror:
    def __init__(
        self,
        state: Callable[[], tuple[Hashable, int]],
        read: Callable[[Sequence[PostingRange]], list[Numbers]],
        at_once: int,
    ) -> None:
        """The arguments are those of a TextIndex."""
        self._read_state = state
        self._read = read
        self._at_once = at_once
        self._mirror = Mirror(_TermCache)

    def newest(self, terms: Sequence[TermQuery], limit: int) -> list[Numbers]:
        """For each term, the `limit` highest entries that contain it, highest first."""
        state, last = self._read_state()
        nothing = TermEntries(np.zeros(0, np.uint32), False, last)
        with self._mirror.at(state) as cache:
            known = {each: cache.terms.get(each, nothing) for each in terms}
        # the index is read outside of the lock: a rare word must not wait for a frequent one
        known |= self._with_newer(known, last)
        known |= self._with_older(known, limit)
        self._put(state, known)
        return [known[each].numbers[:limit].astype(np.int64) for each in terms]

    def rare(self, terms: Sequence[TermQuery], most: int) -> list[Numbers | None]:
        """The entries of each term that at most `most` entries contain, highest first; None for other terms."""
        state, last = self._read_state()
        with self._mirror.at(state) as cache:
            known = {each: cache.terms[each] for each in terms if each in cache.terms}
        unknown = [PostingRange(each, range(last + 1), most + 1, True) for each in {*terms} - known.keys()]
        lists = dict(zip((each.term for each in unknown), self._read(unknown), strict=True))
        nothing = np.zeros(0, np.uint32)
        new = {
            term: TermEntries(numbers.astype(np.uint32), True, last)
            if len(numbers) <= most
            else TermEntries(nothing, False, last, most + 1)
            for term, numbers in lists.items()
        }
        few = {each: entries for each, entries in known.items() if _count(entries) <= most}
        few |= self._with_newer(few, last)
        few |= self._with_older(few, most + 1)
        known |= few | new
        self._put(state, known)
        return [
            None if _count(known[each]) > most else known[each].numbers.astype(np.int64) for each in terms
        ]

    def _put(self, state: Hashable, known: dict[TermQuery, TermEntries]) -> None:
        with self._mirror.still_at(state) as present:
            if present is not None:
                for term, entries in known.items():
                    present.put(term, entries)

    def _with_newer(self, known: dict[TermQuery, TermEntries], last: int) -> dict[TermQuery, TermEntries]:
        ranges = [
            PostingRange(term, range(entries.last + 1, last + 1), ALL)
            for term, entries in known.items()
            if entries.last < last
        ]
        return {
            each.term: TermEntries(
                np.concatenate([newer.astype(np.uint32), known[each.term].numbers]),
                known[each.term].is_whole,
                last,
                known[each.term].least,
            )
            for each, newer in zip(ranges, self._read(ranges), strict=True)
        }

    def _with_older(self, known: dict[TermQuery, TermEntries], limit: int) -> dict[TermQuery, TermEntries]:
        ranges = [
            PostingRange(term, range(_lowest(entries)), max(limit - len(entries.numbers), self._at_once))
            for term, entries in known.items()
            if len(entries.numbers) < limit and not entries.is_whole
        ]
        return {
            each.term: TermEntries(
                np.concatenate([known[each.term].numbers, older.astype(np.uint32)]),
                len(older) < each.limit,
                known[each.term].last,
                known[each.term].least,
            )
            for each, older in zip(ranges, self._read(ranges), strict=True)
        }


def _lowest(entries: TermEntries) -> int:
    return int(entries.numbers[-1]) if len(entries.numbers) else entries.last + 1


def _count(entries: TermEntries) -> int:
    """The number of entries that are known to contain a term."""
    return max(entries.least, len(entries.numbers))
