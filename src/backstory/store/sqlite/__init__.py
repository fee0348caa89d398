"""A store in SQLite: one file on the user's machine, FTS5 for text, our own scan for vectors."""

from __future__ import annotations

from pathlib import Path

from .. import Store
from .database import SqliteDatabase
from .text import SqliteText
from .vectors import SqliteVectors


class SqliteStore(Store):
    def __init__(self, path: Path, *, busy_timeout_s: float = 60.0) -> None:
        database = SqliteDatabase(path, busy_timeout_s=busy_timeout_s)
        super().__init__(database, SqliteText(database), SqliteVectors(database))
