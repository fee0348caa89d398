"""Where the words of queries stand, in memory: read from the text index once, and then only continued.

Entries get ever higher numbers, so what was added since is what stands above the last one that was looked at. Only
taking words out of the index changes what is below, and then everything is read anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..domain.entries import ALL, PostingRange, TermQuery

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..domain.entries import Numbers

MOST, MOST_FOR_EACH = (
    4_000_000,
    16,
)  # numbers that are kept, of four bytes each, in all and for each entry of a large store


class _Kept(NamedTuple):
    numbers: NDArray[np.uint32]
    """The highest first."""
    is_whole: bool
    last: int
    """The highest entry there was when they were read."""


class KeptPostings:
    def __init__(
        self,
        state: Callable[[], tuple[Hashable, int]],
        read: Callable[[Sequence[PostingRange]], list[Numbers]],
        at_once: int,
    ) -> None:
        """What is read of a TextIndex, and how."""
        self._read_state = state
        self._read = read
        self._at_once = at_once
        self._lock = threading.Lock()
        self._state: Hashable = None
        self._kept: dict[TermQuery, _Kept] = {}  # what was not asked for the longest comes first
        self._size = 0

    def newest(self, terms: Sequence[TermQuery], limit: int) -> list[Numbers]:
        """Of each the highest entries that hold it, the highest first."""
        state, last = self._read_state()
        with self._lock:
            if state != self._state:
                self._state, self._size = state, 0
                self._kept.clear()
            nothing = _Kept(np.zeros(0, np.uint32), False, last)
            kept = {each: self._kept.get(each, nothing) for each in terms}
        kept |= self._with_newer(kept, last)
        kept |= self._with_older(kept, limit)
        with self._lock:
            if self._state == state:
                for each, numbers in kept.items():
                    self._keep(each, numbers)
        return [kept[each].numbers[:limit].astype(np.int64) for each in terms]

    def _with_newer(self, kept: dict[TermQuery, _Kept], last: int) -> dict[TermQuery, _Kept]:
        ranges = [
            PostingRange(term, range(known.last + 1, last + 1), ALL)
            for term, known in kept.items()
            if known.last < last
        ]
        return {
            each.term: _Kept(
                np.concatenate([newer.astype(np.uint32), kept[each.term].numbers]),
                kept[each.term].is_whole,
                last,
            )
            for each, newer in zip(ranges, self._read(ranges), strict=True)
        }

    def _with_older(self, kept: dict[TermQuery, _Kept], limit: int) -> dict[TermQuery, _Kept]:
        ranges = [
            PostingRange(term, range(_lowest(known)), max(limit - len(known.numbers), self._at_once))
            for term, known in kept.items()
            if len(known.numbers) < limit and not known.is_whole
        ]
        return {
            each.term: _Kept(
                np.concatenate([kept[each.term].numbers, older.astype(np.uint32)]),
                len(older) < each.limit,
                kept[each.term].last,
            )
            for each, older in zip(ranges, self._read(ranges), strict=True)
        }

    def _keep(self, term: TermQuery, kept: _Kept) -> None:
        former = self._kept.pop(term, None)
        self._size += len(kept.numbers) - (0 if former is None else len(former.numbers))
        self._kept[term] = kept
        while self._size > max(MOST, MOST_FOR_EACH * kept.last):
            oldest = next(iter(self._kept))
            self._size -= len(self._kept.pop(oldest).numbers)


def _lowest(kept: _Kept) -> int:
    return int(kept.numbers[-1]) if len(kept.numbers) else kept.last + 1
