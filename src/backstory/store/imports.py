"""Ids of records imported from other programs' stores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..domain.sources import ImportedRecord
from .columns import Columns
from .database import Database, batches

_IMPORTED = Columns(ImportedRecord)


class Imports:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, rows: Sequence[ImportedRecord]) -> None:
        """Insert records, or replace those with the same id."""
        with self._database.joined():
            sql = _IMPORTED.upsert("imported", "id")
            self._database.change_many(sql, [_IMPORTED.write(row) for row in rows])

    def get(self, ids: Iterable[str]) -> dict[str, ImportedRecord]:
        """The import records of these ids, if they were ever imported."""
        return {
            row.id: row
            for marks, some in batches(ids)
            for row in self._database.records(_IMPORTED, f"FROM imported WHERE id IN ({marks})", some)
        }

    def of_part(self, part: str) -> list[ImportedRecord]:
        """The records of one part, sorted by id."""
        return self._database.records(_IMPORTED, "FROM imported WHERE part = ? ORDER BY id", [part])

    def forget(self, ids: Sequence[str]) -> None:
        """Leave nothing but the ids, by which they do not come back."""
        with self._database.joined():
            for marks, some in batches(ids):
                empty = "store = '', place = '', part = '', digest = ''"
                self._database.change(f"UPDATE imported SET {empty} WHERE id IN ({marks})", some)
