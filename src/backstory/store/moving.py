"""A whole store as rows that another backend takes, table by table, and how far such a move has come.

The words that search looks in are no table here: whoever takes an entry indexes it again.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from .statements import Row, Statements


class Table(NamedTuple):
    key: tuple[str, ...]
    at_once: int = 2_000
    """Rows in one transaction: few where one may hold a large text."""


VECTOR = "vector"

TABLES = {
    "entry": Table(("n",), 200),
    "former": Table(("entry", "place"), 200),
    "conversation": Table(("id",)),
    "trace": Table(("entry", "place")),
    "session": Table(("id",)),
    "content": Table(("hash",), 50),
    "cached_file": Table(("session", "path")),
    "checkpoint": Table(("n",)),
    "archive_pack": Table(("n",), 50),
    "archived": Table(("id",)),
    "archived_conversation": Table(("id",), 50),
    "brought_back": Table(("id",)),
    "graphed": Table(("entry", "revision", "extractor")),
    "mention": Table(("entry", "entity")),
    "relation": Table(("entry", "subject", "predicate", "object")),
    "event": Table(("id",), 200),
    "source": Table(("path",)),
    "forgotten": Table(("conversation",)),
    "kept_answer": Table(("key",), 50),
    "connection": Table(("id",)),
    "token": Table(("id",)),
    "audited": Table(("id",)),
    "space": Table(("number",)),
    VECTOR: Table(("v",), 1_000),
    "waiting": Table(("space", "entry")),
}
"""In an order in which none refers to rows that come later."""


class Move(NamedTuple):
    """How far the store was filled from another: all tables before this one, and this one up to a key."""

    source: str
    table: str = next(iter(TABLES))
    after: tuple[Any, ...] = ()
    is_void: bool = False
    """What was moved is not what is there now."""


class Moving(Protocol):
    def columns(self, table: str) -> tuple[str, ...]:
        """Those of its key first."""

    def count_rows(self, table: str) -> int: ...

    def export_rows(self, table: str, after: Sequence[Any]) -> list[Row]:
        """The next rows in the order of the key. A vector is v, space, entry and the bytes of its float32s."""

    def import_rows(self, table: str, rows: Sequence[Row]) -> None:
        """Keep rows of another store under the numbers they had there."""

    def last_number(self) -> int:
        """The highest that an entry ever had."""

    def finish_import(self, last_number: int) -> None:
        """Let new rows come after those that were imported. May be done twice."""

    def is_empty(self) -> bool: ...

    def clear(self) -> None:
        """Delete everything."""

    def find_move(self) -> Move | None:
        """The move that fills this store and has not ended."""

    def put_move(self, move: Move) -> None: ...

    def end_move(self) -> None: ...


def fingerprint(table: str, row: Row) -> int:
    """A number that equal rows share, whichever backend they are in."""
    from hashlib import blake2b  # not for start-up

    values = (*row[:-1], _quantized(row[-1])) if table == VECTOR else tuple(row)
    written = repr(values).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(written, digest_size=16).digest(), "big")


def _quantized(vector: bytes) -> bytes:
    """What both backends keep of a vector: its signs, and how large each dimension is beside the largest."""
    import numpy as np

    from .planes import encode, pack_signs

    values = np.frombuffer(vector, np.float32)[None]
    return pack_signs(values)[0] + encode(values)[0][4:]


class MovingRows(Statements):
    _vector_table = VECTOR

    @abstractmethod
    def _index_text(self, n: int, text: str, heading: str, key: str | None) -> None: ...

    @abstractmethod
    def _index_texts(self, rows: Sequence[tuple[int, str, str]]) -> None: ...

    @abstractmethod
    def _delete(self, condition: str, values: Sequence[Any]) -> int: ...

    @abstractmethod
    def _column_names(self, table: str) -> Iterable[str]: ...

    @abstractmethod
    def _export_vectors(self, condition: str, values: Sequence[Any], limit: int) -> list[Row]: ...

    @abstractmethod
    def _import_vectors(self, rows: Sequence[Row]) -> None: ...

    def columns(self, table: str) -> tuple[str, ...]:
        key = TABLES[table].key
        if table == VECTOR:
            return (*key, "space", "entry", "vector")
        return (*key, *sorted(set(self._column_names(table)) - set(key)))

    def count_rows(self, table: str) -> int:
        stored = self._vector_table if table == VECTOR else table
        return int(self._rows(f"SELECT count(*) FROM {stored}")[0][0])

    def export_rows(self, table: str, after: Sequence[Any]) -> list[Row]:
        key, limit = TABLES[table]
        names = ", ".join(key)
        condition = f"({names}) > ({', '.join('?' * len(key))})" if after else "1 = 1"
        if table == VECTOR:
            return self._export_vectors(condition, after, limit)
        columns = ", ".join(self.columns(table))
        sql = f"SELECT {columns} FROM {table} WHERE {condition} ORDER BY {names} LIMIT {limit:d}"
        return self._rows(sql, after)

    def import_rows(self, table: str, rows: Sequence[Row]) -> None:
        with self._joined():
            if table == VECTOR:
                self._import_vectors(rows)
                return
            columns = self.columns(table)
            marks = ", ".join("?" * len(columns))
            self._change_many(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)
            if table == "entry":
                self._index_rows([dict(zip(columns, row, strict=True)) for row in rows])

    def _index_rows(self, entries: Sequence[dict[str, Any]]) -> None:
        self._index_texts([(e["n"], e["text"], e["heading"]) for e in entries if e["key"] is None])
        for e in entries:
            if e["key"] is not None:
                self._index_text(e["n"], e["text"], e["heading"], e["key"])

    def is_empty(self) -> bool:
        # an embedder leaves the name of its space in a store that was only looked at
        looked_at = [table for table in TABLES if table not in ("space", VECTOR)]
        return not any(self._rows(f"SELECT 1 FROM {table} LIMIT 1") for table in looked_at)

    def clear(self) -> None:
        with self.transaction():
            self._delete("1 = 1", [])  # with its vectors
            for table in reversed(TABLES):
                if table != VECTOR:
                    self._change(f"DELETE FROM {table}")

    def find_move(self) -> Move | None:
        rows = self._rows("SELECT holder FROM lease WHERE name = 'move'")
        if not rows:
            return None
        source, table, after, is_void = json.loads(rows[0][0])
        return Move(source, table, tuple(after), is_void)

    def put_move(self, move: Move) -> None:
        # a lease that has ended: whoever comes next may go on with the work
        sql = (
            "INSERT INTO lease (name, holder, leased_until) VALUES ('move', ?, 0)"
            " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder"
        )
        with self._joined():
            self._change(sql, [json.dumps(move)])

    def end_move(self) -> None:
        with self.transaction():
            self._change("DELETE FROM lease WHERE name = 'move'")
