"""A store in SQLite: one file on the user's machine, FTS5 for text, our own scan for vectors."""

from __future__ import annotations

from pathlib import Path

from .. import Store
from ..backups import BackupFiles
from .database import SqliteDatabase
from .text import SqliteText
from .vectors import SqliteVectors


class SqliteStore(Store):
    database: SqliteDatabase

    def __init__(
        self,
        path: Path,
        *,
        busy_timeout_s: float = 60.0,
        backups: Path | None = None,
        is_copy: bool = False,
    ) -> None:
        """A copy is brought to the present shape without a backup of it."""
        database = SqliteDatabase(path, busy_timeout_s=busy_timeout_s, backups=backups, is_copy=is_copy)
        super().__init__(database, SqliteText(database), SqliteVectors(database))
        self.backups = BackupFiles(
            database, database.backups_folder, path.stem, lambda copy: SqliteStore(copy, is_copy=True)
        )
