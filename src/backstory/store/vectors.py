"""Vectors of entries, in one embedding space per model, and the queue of texts without vectors.

Each database stores and compares vectors in its own way; the queue is common to both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from ..domain.arrays import np
from ..domain.entries import ALL, EntryVectors, PendingText
from ..domain.filters import Filter
from ..domain.when import to_ms, utc_now
from .columns import Columns
from .database import Database, Row
from .entries import SPOKEN
from .mirror import CommitMirror

if TYPE_CHECKING:
    from ..domain.entries import Vector

# The heading of a message whose speaker has no name is only its day, which would make copies of a text differ.
_HEADING = "CASE WHEN kind = 'message' AND speaker = '' THEN '' ELSE heading END"
_PENDING = Columns(PendingText, entry="n", heading=_HEADING)
YEAR_MS = 365 * 86_400_000
_GOES_ON = "EXISTS (SELECT 1 FROM entry next WHERE next.thread = entry.thread AND next.seq = entry.seq + 1 AND next.role = 'assistant')"
# the newest first; what people wrote, and what an assistant said last before they spoke again, counts as newer than what it
# said on the way, and what was saved on purpose as newer than both
_URGENCY = (
    f"created_at + CASE WHEN kind = 'memory' THEN {100 * YEAR_MS}"
    f" WHEN role = 'assistant' AND {_GOES_ON} THEN 0 ELSE {YEAR_MS} END"
)
_COLUMNS = "waiting (space, entry, urgency)"
WAITING = f"SELECT number, n, {_URGENCY} FROM space CROSS JOIN entry"
"""The rows of the queue: each entry in every space."""
WAIT = f"INSERT INTO {_COLUMNS} VALUES (?, ?, ?)"


NO_SPACE = 0
"""An embedding space that has no vectors; numbers of others begin at 1."""


class Vectors(ABC):
    table = "vector"

    def __init__(self, database: Database) -> None:
        self._database = database
        # every search counts them, and there are thousands after a first sync
        self._waiting_counts = CommitMirror[tuple[int, int], int](database, 4)

    @abstractmethod
    def put(self, space: int, embedded: Sequence[EntryVectors]) -> None:
        """Store vectors of texts that have not changed meanwhile, and remove these texts from the queue."""

    @abstractmethod
    def nearest(self, space: int, vector: Vector, where: Filter, limit: int) -> Mapping[int, float]:
        """The entries nearest to a vector, with their cosine similarity."""

    @abstractmethod
    def passages(self, space: int, entries: Iterable[int]) -> tuple[Sequence[int], Vector]:
        """Every vector of the given entries, as the rows of a matrix, and the entry that each row is of."""

    @abstractmethod
    def export(self, condition: str, values: Sequence[Any], limit: int) -> list[Row]:
        """Rows of v, space, entry, passage and the bytes of float32s, in the order of v."""

    @abstractmethod
    def insert(self, rows: Sequence[Row]) -> None:
        """Rows that another store exported."""

    @abstractmethod
    def finish_import(self) -> None:
        """Build the search structures for imported vectors."""

    def open_space(self, model: str) -> int:
        """The number of the model's embedding space.

        A new space starts with every entry waiting; where nothing can be written, it is NO_SPACE."""
        if known := self._database.values("SELECT number FROM space WHERE model = ?", [model]):
            return int(known[0])
        if self._database.is_read_only:
            return NO_SPACE
        with self._database.transaction():
            numbers = self._database.values(
                "INSERT INTO space (model) VALUES (?) ON CONFLICT (model) DO NOTHING RETURNING number",
                [model],
            )
            if not numbers:  # another process was faster
                return self.open_space(model)
            self._queue(f"number = ? AND {SPOKEN}", numbers[0])
            return int(numbers[0])

    def claim(self, space: int, limit: int, *, lease_ms: int) -> list[PendingText]:
        """Take texts to embed, most urgent first.

        No other caller gets them while the lease lasts, except with a lease of 0, which takes texts regardless of
        leases."""
        now = to_ms(utc_now())
        free = "TRUE" if lease_ms == 0 else f"leased_until < {now:d}"
        urgent = (
            f"SELECT entry FROM waiting WHERE space = ? AND {free} ORDER BY urgency DESC, entry DESC LIMIT ?"
        )
        if lease_ms == 0:
            chosen = self._database.values(urgent, [space, limit])
        else:
            with self._database.transaction():
                # materialized, or PostgreSQL may choose once more for each row, and lease more than was asked for
                sql = (
                    f"WITH urgent AS MATERIALIZED ({urgent}{self._database.skip_locked})"
                    " UPDATE waiting SET leased_until = ? WHERE space = ?"
                    " AND entry IN (SELECT entry FROM urgent) RETURNING entry"
                )
                chosen = self._database.values(sql, [space, limit, now + lease_ms, space])
        among, numbers = self._database.among("n", chosen)
        return self._database.records(_PENDING, f"FROM entry WHERE {among} ORDER BY n DESC", [numbers])

    def count_waiting(self, space: int, most: int = ALL) -> int:
        """The number of waiting texts, counted up to `most`."""
        return self._waiting_counts.get((space, most), lambda: self._count_waiting(space, most))

    def _count_waiting(self, space: int, most: int) -> int:
        some = "SELECT 1 FROM waiting WHERE space = ? LIMIT ?"
        return int(self._database.value(f"SELECT count(*) FROM ({some}) AS counted", [space, most]))

    def queue(self, entries: Iterable[int]) -> None:
        """Let entries wait for their vectors in every space."""
        self._queue(*self._database.among("n", entries))

    def known(self, space: int, passages: Set[int]) -> dict[int, Vector]:
        """Existing vectors of these passages, from any entry, by digest."""
        among, digests = self._database.among("passage", passages)
        one_of_each = f"SELECT max(v) FROM {self.table} WHERE space = ? AND {among} GROUP BY passage"
        rows = self.export(f"v IN ({one_of_each})", [space, digests], len(passages))
        return {passage: np.frombuffer(floats, np.float32) for *_, passage, floats in rows}

    def drop(self, entries: Iterable[int]) -> None:
        """Forget the vectors of entries in every space; they wait for none."""
        numbers = [(n,) for n in entries]
        for table in (self.table, "waiting"):
            self._database.change_many(f"DELETE FROM {table} WHERE entry = ?", numbers)

    def _queue(self, condition: str, value: Any) -> None:
        self._database.change(f"INSERT INTO {_COLUMNS} {WAITING} WHERE {condition}", [value])
