"""The vector arm: halfvecs under an HNSW index for each space, and an exact scan where a filter lets little through.

Vectors are of length 1, so the inner product is the cosine. The index of a space is made with its first vectors,
which tell how many dimensions it has.

A server opens its store before it can answer, so numpy is imported by the first who needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...domain.entries import EntryVectors
from ...domain.filters import Filter
from ..database import Row
from ..vectors import Vectors
from ..where import where_clause
from .database import PostgresDatabase

if TYPE_CHECKING:
    from ...domain.entries import Vector

NARROW = 5_000  # entries of a filter that are cheaper compared one by one than looked for in the graph
NEAREST = 150  # vectors read for a query at least; a long text has several
DIMENSIONS_BYTES = 4  # before the numbers, in what pgvector sends and takes
COLUMNS = "v, space, entry, passage, code"
TYPES = ("int8", "int4", "int8", "int8", "bytea")  # of the columns: a halfvec is given as its bytes
MOST_DIMENSIONS = 4_000  # that pgvector puts into an index; more are compared one by one


class PostgresVectors(Vectors):
    table = "embedding"
    _database: PostgresDatabase

    def __init__(self, database: PostgresDatabase) -> None:
        super().__init__(database)
        # named in full: the search path holds nothing but the store's own schema
        schema = database.vector_schema
        self._halfvec = f"{schema}.halfvec"
        self._sent = f"{schema}.halfvec_send"
        self._product = f"OPERATOR({schema}.<#>)"
        self._operators = f"{schema}.halfvec_ip_ops"
        self._dimensions: dict[int, int] = {}

    def put(self, space: int, embedded: Sequence[EntryVectors]) -> None:
        if not embedded:
            return
        self._make_index(space, embedded[0].vectors.shape[1])
        with self._database.unlocked():
            revisions = self._lock_entries([item.entry for item in embedded])
            kept = [item for item in embedded if revisions.get(item.entry) == item.revision]
            among, numbers = self._database.among("entry", [item.entry for item in kept])
            for table in ("embedding", "waiting"):
                self._database.change(f"DELETE FROM {table} WHERE space = ? AND {among}", [space, numbers])
            rows = [
                (space, item.entry, digest, _halves(vector))
                for item in kept
                for digest, vector in zip(item.digests, item.vectors, strict=True)
            ]
            self._database.copy(f"embedding ({COLUMNS.removeprefix('v, ')})", TYPES[1:], rows)

    def _lock_entries(self, entries: Iterable[int]) -> dict[int, int]:
        """The revisions of the entries that nobody is changing. The others go on waiting: that they are changed
        may mean that their vectors are of a text that is gone."""
        among, numbers = self._database.among("n", entries)
        sql = f"SELECT n, revision FROM entry WHERE {among} FOR NO KEY UPDATE SKIP LOCKED"
        return self._database.pairs(sql, [numbers])

    def nearest(self, space: int, vector: Vector, where: Filter, limit: int) -> Mapping[int, float]:
        condition, values = where_clause(where)
        some = f"SELECT count(*) FROM (SELECT 1 FROM entry e WHERE {condition} LIMIT {NARROW}) AS first_ones"
        is_narrow = len(vector) > MOST_DIMENSIONS or self._database.value(some, values) < NARROW
        # only this very cast is what the index holds; without it every vector is compared
        code = "v.code" if is_narrow else f"v.code::{self._halfvec}({len(vector)})"
        product = f"{code} {self._product} ?::{self._halfvec}({len(vector)})"
        sql = (
            f"SELECT v.entry, -({product}) FROM embedding v JOIN entry e ON e.n = v.entry"
            f" WHERE v.space = {space:d} AND {condition} ORDER BY {product} LIMIT {max(NEAREST, limit):d}"
        )
        query = str(vector.tolist())
        best = _best(self._database.rows(sql, [query, *values, query]))
        nearest = sorted(best, key=lambda entry: (-best[entry], -entry))[:limit]
        return {entry: best[entry] for entry in nearest}

    def passages(self, space: int, entries: Iterable[int]) -> tuple[Sequence[int], Vector]:
        among, numbers = self._database.among("entry", entries)
        sql = f"SELECT entry, {self._sent}(code) FROM embedding WHERE space = ? AND {among}"
        rows = self._database.rows(sql, [space, numbers])
        return [entry for entry, _ in rows], _floats([sent for _, sent in rows])

    def export(self, condition: str, values: Sequence[Any], limit: int) -> list[Row]:
        columns = COLUMNS.replace("code", f"{self._sent}(code)")
        sql = f"SELECT {columns} FROM embedding WHERE {condition} ORDER BY v LIMIT {limit:d}"
        return [(*place, _floats([sent]).tobytes()) for *place, sent in self._database.rows(sql, values)]

    def insert(self, rows: Sequence[Row]) -> None:
        import numpy as np

        halved = [(*row[:-1], _halves(np.frombuffer(row[-1], np.float32))) for row in rows]
        self._database.copy(f"embedding ({COLUMNS})", TYPES, halved)

    def finish_import(self) -> None:
        """One index after many rows is made sooner than kept up with each."""
        sql = "SELECT DISTINCT ON (space) space, code FROM embedding ORDER BY space, v"
        first = f"SELECT space, (octet_length({self._sent}(code)) - 4) / 2 FROM ({sql}) AS firsts"
        for space, dimensions in self._database.rows(first):
            self._make_index(space, dimensions)

    def _make_index(self, space: int, dimensions: int) -> None:
        if self._dimensions.get(space) == dimensions or dimensions > MOST_DIMENSIONS:
            return
        name = f"embedding_nearest_{space:d}_{dimensions:d}"
        with self._database.transaction():
            if self._database.value("SELECT to_regclass(?)", [name]) is None:
                self._database.change(
                    f"CREATE INDEX {name} ON embedding USING hnsw"
                    f" ((code::{self._halfvec}({dimensions:d})) {self._operators}) WHERE space = {space:d}"
                )
        self._dimensions[space] = dimensions


def _halves(vector: Vector) -> bytes:
    """A halfvec as pgvector takes it: two bytes how many numbers, two that are zero, and the numbers."""
    numbers: bytes = vector.astype(">f2").tobytes()
    return len(vector).to_bytes(2, "big") + bytes(2) + numbers


def _floats(sent: Sequence[bytes]) -> Vector:
    """Halfvecs as pgvector sends them, as the rows of a matrix."""
    import numpy as np

    if not sent:
        return np.zeros((0, 0), np.float32)
    raw = np.frombuffer(b"".join(sent), np.uint8).reshape(len(sent), -1)
    return np.ascontiguousarray(raw[:, DIMENSIONS_BYTES:]).view(">f2").astype(np.float32)


def _best(rows: Iterable[Row]) -> dict[int, float]:
    """The similarity of each entry's nearest passage."""
    best: dict[int, float] = {}
    for entry, similarity in rows:
        best[entry] = max(best.get(entry, -1.0), similarity)
    return best
