"""Exports in the store, each under the path that its caller chose."""

from __future__ import annotations

import zlib
from collections.abc import Collection

from ..domain.exports import StoredExport
from .columns import LIST, Codec, Columns
from .database import Database

_PACKED = Codec(lambda text: zlib.compress(text.encode()), lambda packed: zlib.decompress(packed).decode())
_EXPORT = Columns(StoredExport, {"quoted": LIST, "text": _PACKED}, text="packed")


class ExportRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, export: StoredExport) -> None:
        """Insert an export, or replace the one with the same path."""
        with self._database.transaction():
            self._database.change("DELETE FROM stored_export WHERE path = ?", [export.path])
            sql = "INSERT INTO stored_export (path, packed, size, quoted, made_at) VALUES (?, ?, ?, ?, ?)"
            self._database.change(sql, _EXPORT.write(export))

    def get(self, path: str) -> StoredExport | None:
        rows = self._database.records(_EXPORT, "FROM stored_export WHERE path = ?", [path])
        return rows[0] if rows else None

    def has(self, path: str) -> bool:
        return bool(self._database.rows("SELECT 1 FROM stored_export WHERE path = ?", [path]))

    def forget(self, ids: Collection[str]) -> int:
        """Delete exports that quote one of these memories or conversations. Returns their number."""
        wanted = set(ids)
        with self._database.joined():
            quoted = self._database.pairs("SELECT path, quoted FROM stored_export")
            paths = [path for path, text in quoted.items() if wanted.intersection(LIST.read(text))]
            self._database.change_many(
                "DELETE FROM stored_export WHERE path = ?", [(path,) for path in paths]
            )
        return len(paths)
