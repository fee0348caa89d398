"""Where the words of queries stand, in memory: read from the text index once, and then only continued.

Entries get ever higher numbers, so what was added since is what stands above the last one that was looked at. Only
taking words out of the index changes what is below, and then everything is read anew.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .facts import ALL, highest_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...domain.entries import Numbers
    from ..database import Database

MOST = 4_000_000  # numbers that are kept, of four bytes each
LEAST_READ = 8_000  # at once: the next query may have fewer words, and want more of each


class _Kept(NamedTuple):
    numbers: NDArray[np.uint32]
    """The highest first."""
    is_whole: bool
    last: int
    """The highest entry there was when they were read."""


class KeptPostings:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._state: tuple[int, int] = (-1, -1)
        self._kept: dict[str, _Kept] = {}  # what was not asked for the longest comes first
        self._size = 0

    def newest(self, phrase: str, limit: int = ALL) -> Numbers:
        """The highest entries that match a phrase of FTS5, the highest first."""
        if self._database.in_transaction:  # there may be entries that are never committed
            return self._read(phrase, limit, range(ALL))
        with self._lock:
            state, last = self._follow()
            kept = self._kept.get(phrase, _Kept(np.zeros(0, np.uint32), False, last))
        if kept.last < last:
            newer = self._read(phrase, ALL, range(kept.last + 1, last + 1)).astype(np.uint32)
            kept = kept._replace(numbers=np.concatenate([newer, kept.numbers]), last=last)
        if len(kept.numbers) < limit and not kept.is_whole:
            lowest = int(kept.numbers[-1]) if len(kept.numbers) else last + 1
            wanted = max(limit - len(kept.numbers), LEAST_READ)
            older = self._read(phrase, wanted, range(lowest)).astype(np.uint32)
            kept = _Kept(np.concatenate([kept.numbers, older]), len(older) < wanted, last)
        with self._lock:
            if self._state == state:
                self._keep(phrase, kept)
        return kept.numbers[:limit].astype(np.int64)

    def _follow(self) -> tuple[tuple[int, int], int]:
        """What tells whether something was taken out of the index, and the highest entry."""
        sequences = self._database.pairs(
            "SELECT name, seq FROM sqlite_sequence WHERE name IN ('entry', 'moved')"
        )
        state = (self._database.generation, sequences.get("moved", 0))
        if state != self._state:
            self._state, self._size = state, 0
            self._kept.clear()
        return state, sequences.get("entry", 0)

    def _read(self, phrase: str, limit: int, among: range) -> Numbers:
        sql = "SELECT rowid AS n FROM entry_text WHERE entry_text MATCH ? AND rowid >= ? AND rowid < ?"
        return highest_numbers(self._database, sql, [phrase, among.start, among.stop], limit)

    def _keep(self, phrase: str, kept: _Kept) -> None:
        former = self._kept.pop(phrase, None)
        self._size += len(kept.numbers) - (0 if former is None else len(former.numbers))
        self._kept[phrase] = kept
        while self._size > MOST:
            oldest = next(iter(self._kept))
            self._size -= len(self._kept.pop(oldest).numbers)
