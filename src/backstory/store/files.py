"""Contents of files as a session last saw them, as rows."""

from __future__ import annotations

import json
from typing import Any, Protocol

from ..domain.checkpoints import CachedFile
from ..domain.when import from_ms, to_ms
from .blobs import BlobRows
from .statements import Row

_COLUMNS = "id, session, path, hash, size, metadata, cached_at"


class Files(Protocol):
    def put_file(self, file: CachedFile) -> None:
        """Insert, or replace by session and path. The content must be kept already."""

    def find_file(self, session: str, path: str) -> CachedFile | None: ...

    def find_files(self, session: str) -> list[CachedFile]:
        """By path."""


class FileRows(BlobRows):
    def put_file(self, file: CachedFile) -> None:
        sql = (
            f"INSERT INTO cached_file ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session, path) DO UPDATE"
            " SET id = excluded.id, hash = excluded.hash, size = excluded.size, metadata = excluded.metadata,"
            " cached_at = excluded.cached_at"
        )
        with self.transaction():
            self._change(sql, file_row(file))

    def find_file(self, session: str, path: str) -> CachedFile | None:
        rows = self._rows(
            f"SELECT {_COLUMNS} FROM cached_file WHERE session = ? AND path = ?", [session, path]
        )
        return read_file(rows[0]) if rows else None

    def find_files(self, session: str) -> list[CachedFile]:
        sql = f"SELECT {_COLUMNS} FROM cached_file WHERE session = ? ORDER BY path"
        return [read_file(row) for row in self._rows(sql, [session])]


def file_row(f: CachedFile) -> list[Any]:
    metadata = json.dumps(dict(f.metadata), ensure_ascii=False)
    return [f.id, f.session, f.path, f.hash, f.size, metadata, to_ms(f.cached_at)]


def read_file(row: Row) -> CachedFile:
    id, session, path, hash, size, metadata, cached_at = row
    return CachedFile(
        id=id, session=session, path=path, hash=hash, size=size, cached_at=from_ms(cached_at),
        metadata=json.loads(metadata),
    )  # fmt: skip
