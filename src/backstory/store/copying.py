"""A whole store as rows for another backend, table by table, with the progress of the copy.

The text index is not a table here: the target indexes each entry again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from itertools import groupby
from typing import Any

from ..domain.arrays import np
from ..domain.backups import CopyProgress
from .columns import marks
from .database import Database, Row
from .sqlite.planes import encode, pack_signs
from .tables import COPIED_TABLES, VECTOR
from .text import TextIndex, Words
from .vectors import Vectors
from .writing import EntryWriter

_VECTOR_COLUMNS = ("v", "space", "entry", "passage", "vector")
"""The last column holds the bytes of the float32 values, independent of the storage format of each database."""


class CopyingRoom:
    def __init__(self, database: Database, text: TextIndex, vectors: Vectors, writer: EntryWriter) -> None:
        self._database = database
        self._text = text
        self._vectors = vectors
        self._writer = writer

    def columns(self, table: str) -> tuple[str, ...]:
        """The columns of the rows that are exported, those of the key first."""
        return _VECTOR_COLUMNS if table == VECTOR else COPIED_TABLES[table].columns

    def is_known(self) -> bool:
        """True if the tables have exactly the columns this program knows; a newer program may have added some."""
        tables = [table for table in COPIED_TABLES.values() if table.name != VECTOR]
        return all(set(self._database.column_names(table.name)) == set(table.columns) for table in tables)

    def count(self, table: str) -> int:
        stored = self._vectors.table if table == VECTOR else table
        return int(self._database.value(f"SELECT count(*) FROM {stored}"))

    def export(self, table: str, after: Sequence[Any]) -> list[Row]:
        """The next rows in the order of the key. A vector is v, space, entry, passage and the bytes of its float32s."""
        key, limit = COPIED_TABLES[table].key, COPIED_TABLES[table].copied_rows
        names = ", ".join(key)
        condition = f"({names}) > ({marks(key)})" if after else "1 = 1"
        if table == VECTOR:
            return self._vectors.export(condition, after, limit)
        columns = ", ".join(self.columns(table))
        sql = f"SELECT {columns} FROM {table} WHERE {condition} ORDER BY {names} LIMIT {limit:d}"
        return self._database.rows(sql, after)

    def insert(self, table: str, rows: Sequence[Row]) -> None:
        """Insert rows of another store under their original numbers."""
        with self._database.joined():
            if table == VECTOR:
                self._vectors.insert(rows)
                return
            columns = self.columns(table)
            sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks(columns)})"
            self._database.change_many(sql, rows)
            if table == "entry":
                entries = [dict(zip(columns, row, strict=True)) for row in rows]
                self._text.add([Words(e["n"], e["text"], e["heading"], e["key"]) for e in entries])

    def last_number(self) -> int:
        """The highest that an entry ever had."""
        return self._database.last_number()

    def finish(self, last_number: int) -> None:
        """Advance the sequences, so that new rows get numbers after the inserted ones. Idempotent."""
        self._database.continue_after(last_number)
        self._vectors.finish_import()

    def is_empty(self) -> bool:
        # an embedder creates its space even in a store that was only read
        looked_at = [table for table in COPIED_TABLES if table not in ("space", VECTOR)]
        return not any(self._database.rows(f"SELECT 1 FROM {table} LIMIT 1") for table in looked_at)

    def clear(self) -> None:
        """Delete everything."""
        with self._database.transaction():
            self._writer.delete("1 = 1", [])  # with its vectors
            for table in reversed(COPIED_TABLES):
                if table != VECTOR:
                    self._database.change(f"DELETE FROM {table}")

    def progress(self) -> CopyProgress | None:
        """The progress of the copy that fills this store or has filled it; None if there was none."""
        rows = self._database.values("SELECT holder FROM lease WHERE name = 'move'")
        if not rows:
            return None
        source, table, after, *states = json.loads(rows[0])
        return CopyProgress(source, table, tuple(after), *states)

    def put_progress(self, progress: CopyProgress) -> None:
        # an expired lease: another process may continue the work
        sql = (
            "INSERT INTO lease (name, holder, leased_until) VALUES ('move', ?, 0)"
            " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder"
        )
        with self._database.joined():
            self._database.change(sql, [json.dumps(progress)])


def fingerprints(table: str, rows: Sequence[Row]) -> list[int]:
    """A number for each row; equal rows have equal numbers in both backends."""
    if table == VECTOR:
        codes = _quantized([row[-1] for row in rows])
        rows = [(*row[:-1], code) for row, code in zip(rows, codes, strict=True)]
    written = (repr(tuple(row)).encode("utf-8", "surrogatepass") for row in rows)
    return [int.from_bytes(blake2b(each, digest_size=16).digest(), "big") for each in written]


def _quantized(vectors: Sequence[bytes]) -> list[bytes]:
    """The part of a vector that both backends store: its signs, and the size of each dimension relative to the largest."""
    codes: list[bytes] = []
    for _, alike in groupby(vectors, len):  # all vectors of a space have the same number of dimensions
        values = np.array([np.frombuffer(vector, np.float32) for vector in alike])
        codes += [signs + code[4:] for signs, code in zip(pack_signs(values), encode(values), strict=True)]
    return codes
