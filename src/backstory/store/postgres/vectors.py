"""Vectors in PostgreSQL: halfvecs that are compared one by one, and an HNSW index for each tenant with many of them.

Vectors have length 1, so the inner product is the cosine. An index over the vectors of all tenants would look at
those of others first and find few of a small tenant's own. A tenant therefore gets an index of its own once it has
enough vectors to benefit. The index is built concurrently; until it is ready, every vector of the tenant is
compared.

numpy is imported on first use, because a server opens its store before it can answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...domain.arrays import np
from ...domain.entries import EntryVectors
from ...domain.filters import Filter
from ..database import Row
from ..vectors import Vectors
from ..where import where_clause
from .database import PostgresDatabase
from .dialect import HalfVector
from .layout import KEY, SCHEMA, partition

if TYPE_CHECKING:
    from ...domain.entries import Vector

NARROW = 5_000  # up to this number, entries that pass the filter are cheaper to compare one by one than to find in the graph
NEAREST = 150  # minimum number of vectors to read for a query; a long text has several
DIMENSIONS_BYTES = 4  # bytes before the numbers in pgvector's binary format
COLUMNS = "v, space, entry, passage, code"
INDEXED_VECTORS = 20_000
"""The number of vectors from which a tenant gets its own index: comparing fewer takes less than a tenth of a second,
and the planner considers each index for every tenant of its partition."""
_INSERT = f"INSERT INTO embedding ({COLUMNS}) VALUES (?, ?, ?, ?, ?)"
_INDEX_STATE = (
    "SELECT i.indisvalid, EXISTS (SELECT 1 FROM pg_stat_progress_create_index p WHERE p.index_relid = i.indexrelid)"
    " FROM pg_index i WHERE i.indexrelid = to_regclass(?)"
)
MOST_DIMENSIONS = 4_000  # maximum dimensions of pgvector's index; longer vectors are compared one by one


class PostgresVectors(Vectors):
    table = "embedding"
    _database: PostgresDatabase

    def __init__(self, database: PostgresDatabase) -> None:
        super().__init__(database)
        # fully qualified: the search path contains only the store's own schema
        schema = database.vector_schema
        self._halfvec = f"{schema}.halfvec"
        self._sent = f"{schema}.halfvec_send"
        self._product = f"OPERATOR({schema}.<#>)"
        self._operators = f"{schema}.halfvec_ip_ops"
        self._indexed: set[tuple[int, int]] = set()
        """The spaces, with their dimensions, whose index is known to exist."""

    def put(self, space: int, embedded: Sequence[EntryVectors]) -> None:
        if not embedded:
            return
        with self._database.unlocked():
            revisions = self._lock_entries([item.entry for item in embedded])
            current = [item for item in embedded if revisions.get(item.entry) == item.revision]
            among, numbers = self._database.among("entry", [item.entry for item in current])
            for table in ("embedding", "waiting"):
                self._database.change(f"DELETE FROM {table} WHERE space = ? AND {among}", [space, numbers])
            values = [
                (item.entry, digest, _halves(vector))
                for item in current
                for digest, vector in zip(item.digests, item.vectors, strict=True)
            ]
            first = self._database.reserve_numbers("embedding", len(values))
            self._database.change_many(
                _INSERT, [(first + place, space, *value) for place, value in enumerate(values)]
            )
        if first + len(values) > INDEXED_VECTORS and not self._database.in_transaction:
            self._make_index(space, embedded[0].vectors.shape[1])

    def _lock_entries(self, entries: Iterable[int]) -> dict[int, int]:
        """Lock the entries that no other transaction is changing, and return their revisions.

        The others stay in the queue: their vectors may belong to a text that is being replaced."""
        among, numbers = self._database.among("n", entries)
        sql = f"SELECT n, revision FROM entry WHERE {among} FOR NO KEY UPDATE SKIP LOCKED"
        return self._database.pairs(sql, [numbers])

    def nearest(self, space: int, vector: Vector, where: Filter, limit: int) -> Mapping[int, float]:
        condition, values = where_clause(where)
        some = f"SELECT count(*) FROM (SELECT 1 FROM entry e WHERE {condition} LIMIT {NARROW}) AS first_ones"
        is_narrow = len(vector) > MOST_DIMENSIONS or self._database.value(some, values) < NARROW
        # the index contains exactly this cast; without it every vector is compared
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
        halved = [(*row[:-1], _halves(np.frombuffer(row[-1], np.float32))) for row in rows]
        self._database.change_many(_INSERT, halved)

    def finish_import(self) -> None:
        """Build the indexes after an import. Building one at the end is faster than maintaining it for each row."""
        sql = "SELECT DISTINCT ON (space) space, code FROM embedding ORDER BY space, v"
        first = f"SELECT space, (octet_length({self._sent}(code)) - 4) / 2 FROM ({sql}) AS firsts"
        for space, dimensions in self._database.rows(first):
            self._make_index(space, dimensions)

    def _make_index(self, space: int, dimensions: int) -> None:
        """Make the tenant's own index of a space, if it has enough vectors and no index yet.

        Writers of its partition go on meanwhile."""
        if (space, dimensions) in self._indexed or dimensions > MOST_DIMENSIONS:
            return
        if self._database.value("SELECT count(*) FROM embedding WHERE space = ?", [space]) < INDEXED_VECTORS:
            return
        tenant = self._database.tenant
        name = f"embedding_nearest_{tenant.number:d}_{space:d}_{dimensions:d}"
        for is_valid, is_being_made in self._database.rows(_INDEX_STATE, [f"{SCHEMA}.{name}"]):
            if is_being_made:
                return
            if not is_valid:  # the process that built it was stopped
                self._database.maintain("DROP INDEX CONCURRENTLY", name)
        self._database.maintain(
            f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON",
            partition("embedding", tenant.part),
            f" USING hnsw ((code::{self._halfvec}({dimensions:d})) {self._operators})"
            f" WHERE {KEY} = {tenant.number:d} AND space = {space:d}",
        )
        self._indexed.add((space, dimensions))


def _halves(vector: Vector) -> HalfVector:
    """A halfvec in pgvector's binary form: two bytes for the number of dimensions, two zero bytes, and the values."""
    numbers: bytes = vector.astype(">f2").tobytes()
    return HalfVector(len(vector).to_bytes(2, "big") + bytes(2) + numbers)


def _floats(sent: Sequence[bytes]) -> Vector:
    """Halfvecs in pgvector's binary form as the rows of a matrix."""
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
