"""Vectors as rows, and the scan over their sign bits: exact about filters, nothing to build or to corrupt.

Each process has the sign bits of a space in memory (64 bytes per vector with its numbers) and follows additions of
other processes by the highest row it has seen. Full codes stay on disk; only those of the nearest vectors are read.

numpy is imported on first use, because a server opens its store before it can answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...domain.arrays import np
from ...domain.entries import EntryVectors, Passing
from ...domain.filters import Filter
from ..database import Row
from ..mirror import Mirror
from ..vectors import WAIT, WAITING, Vectors
from ..where import where_clause
from .database import SqliteDatabase
from .planes import SignPlanes, cosines, decode, encode, pack_signs, unpacked

if TYPE_CHECKING:
    from ...domain.entries import Vector
    from .planes import SignPlanes

# minimum number of rescored entries that pass; with fewer, the filter's own nearest are further away
LEAST_VISIBLE = 50
RESCORED = 150  # vectors whose codes are read for a query


class SqliteVectors(Vectors):
    """numpy is imported by the first vector, not by the first import: most of a server's life needs none."""

    _database: SqliteDatabase

    def __init__(self, database: SqliteDatabase) -> None:
        super().__init__(database)
        self._mirror: Mirror[dict[int, SignPlanes]] = Mirror(dict)

    def put(self, space: int, embedded: Sequence[EntryVectors]) -> None:
        rows = [
            (item, [*zip(item.digests, pack_signs(item.vectors), encode(item.vectors), strict=True)])
            for item in embedded
        ]
        with self._database.transaction():
            for item, vectors in rows:
                revision = self._database.values("SELECT revision FROM entry WHERE n = ?", [item.entry])
                if revision != [item.revision]:
                    continue  # deleted or changed while it was embedded; the new text is in the queue itself
                self._database.change("DELETE FROM vector WHERE entry = ? AND space = ?", [item.entry, space])
                sql = "INSERT INTO vector (space, entry, passage, signs, code) VALUES (?, ?, ?, ?, ?)"
                self._database.change_many(sql, [(space, item.entry, *vector) for vector in vectors])
                self._database.change(
                    "DELETE FROM waiting WHERE space = ? AND entry = ?", [space, item.entry]
                )

    def queue(self, entries: Iterable[int]) -> None:
        # INSERT … SELECT opens a savepoint, at which FTS5 writes out its pending words
        among, numbers = self._database.among("n", entries)
        self._database.change_many(WAIT, self._database.rows(f"{WAITING} WHERE {among}", [numbers]))

    def nearest(self, space: int, vector: Vector, where: Filter, limit: int) -> Mapping[int, float]:
        rescored = max(RESCORED, 2 * limit)
        passing = self._database.passing(where)
        scores = self._scan(space, vector, rescored, passing)
        best = _best(scores, limit)
        if passing is not None or len(self._visible(best, where)) == len(best):
            return best
        visible = self._visible(scores, where)
        if len(visible) < min(max(limit, LEAST_VISIBLE), len(scores)):
            # few entries pass the filter: rank only these
            condition, values = where_clause(where)
            numbers = self._database.values(f"SELECT e.n FROM entry e WHERE {condition}", values)
            return _best(self._scan(space, vector, rescored, _only(numbers)), limit)
        return _best({entry: scores[entry] for entry in visible}, limit)

    def _visible(self, entries: Iterable[int], where: Filter) -> list[int]:
        condition, values = where_clause(where)
        source, chosen = self._database.chosen_entries(entries)
        return self._database.values(f"SELECT e.n FROM {source} WHERE {condition}", [chosen, *values])

    def passages(self, space: int, entries: Iterable[int]) -> tuple[Sequence[int], Vector]:
        source, chosen = self._database.chosen("vector v", "v.entry", entries)
        rows = self._database.rows(f"SELECT v.entry, v.code FROM {source} WHERE v.space = ?", [chosen, space])
        return [entry for entry, _ in rows], unpacked([code for _, code in rows])

    def export(self, condition: str, values: Sequence[Any], limit: int) -> list[Row]:
        columns = "v, space, entry, passage, signs, code"
        sql = f"SELECT {columns} FROM vector WHERE {condition} ORDER BY v LIMIT {limit:d}"
        return [
            (*place, decode(signs, code).tobytes())
            for *place, signs, code in self._database.rows(sql, values)
        ]

    def insert(self, rows: Sequence[Row]) -> None:
        vectors = [(place, np.frombuffer(floats, np.float32)[None]) for *place, floats in rows]
        self._database.change_many(
            "INSERT INTO vector (v, space, entry, passage, signs, code) VALUES (?, ?, ?, ?, ?, ?)",
            [(*place, pack_signs(vector)[0], encode(vector)[0]) for place, vector in vectors],
        )

    def finish_import(self) -> None:
        """Nothing: a scan needs no index."""

    def _scan(self, space: int, vector: Vector, limit: int, passing: Passing | None) -> dict[int, float]:
        while True:
            planes = self._followed_planes(space)
            nearest = planes.nearest(vector, limit, passing).tolist()
            among, numbers = self._database.among("v", nearest)
            rows = self._database.rows(f"SELECT v, entry, code FROM vector WHERE {among}", [numbers])
            # the transaction may still be rolled back
            if len(rows) == len(nearest) or self._database.in_transaction:
                return _rescored([row[1:] for row in rows], vector)
            if len(rows) < len(nearest) // 2:  # most of these were deleted since: start afresh
                with self._mirror.at(self._database.generation) as spaces:
                    spaces.pop(space, None)
            else:
                planes.drop(set(nearest).difference(row[0] for row in rows))

    def _followed_planes(self, space: int) -> SignPlanes:
        """The sign bits of a space, extended by rows that any process added since the last call."""
        with self._mirror.at(self._database.generation) as spaces:
            planes = spaces.setdefault(space, SignPlanes())
        sql = "SELECT v, entry, signs FROM vector WHERE space = ? AND v > ? ORDER BY v"
        planes.append(
            [(v, entry, signs) for v, entry, signs in self._database.rows(sql, [space, planes.last_v])]
        )
        return planes


def _best(scores: Mapping[int, float], limit: int) -> dict[int, float]:
    """The most similar; the newest among equals."""
    order = sorted(scores, key=lambda entry: (-scores[entry], -entry))
    return {entry: scores[entry] for entry in order[:limit]}


def _only(numbers: Sequence[int]) -> Passing:
    flags = np.zeros(max(numbers, default=0) + 1, bool)
    flags[numbers] = True
    return Passing(flags, np.zeros(0, np.int64))


def _rescored(rows: Sequence[Row], vector: Vector) -> dict[int, float]:
    """The similarity of each entry's nearest passage."""
    if not rows:
        return {}
    best: dict[int, float] = {}
    similarities = cosines([code for _, code in rows], vector).tolist()
    for (entry, _), similarity in zip(rows, similarities, strict=True):
        best[entry] = max(best.get(entry, -1.0), similarity)
    return best
