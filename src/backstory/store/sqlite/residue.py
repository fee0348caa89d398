"""Removal of the bytes that deleted rows leave in SQLite's files, in transactions that are short for other writers."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path

from ...domain.erasure import Residue
from ...domain.errors import TimedOut
from ..database import Database
from .file import StoreFile
from .fts import INDEXES, purge
from .gaps import can_be_cleared, clear, stale_pages
from .log import log_of, logged_pages

PATIENCE_MS = 5_000  # to wait for other readers
CHECKPOINT_RETRY_S = 0.02
CLEARED_PAGES = 256  # for one transaction: about 5 ms


class FileDatabase(Database):
    """A database in a file with a log next to it."""

    path: Path

    @property
    @abstractmethod
    def file(self) -> StoreFile: ...

    @abstractmethod
    def count_commit(self) -> None:
        """Change the number of commits, within a transaction: others read their pages again after it."""

    @abstractmethod
    def is_log_emptied(self) -> bool:
        """Write the log into the file and empty it. False if others use it now."""


def overwrite(database: FileDatabase, residue: Residue, rest: Callable[[], None]) -> None:
    for index in INDEXES:
        if index.name in residue.tables:
            purge(database, index, rest)
    empty_log(database)
    if not can_be_cleared(database.file):
        database.rows("VACUUM")
        empty_log(database)
        return
    # From now on pages can only lose bytes of deleted rows: they are in the file, and no row brings them back.
    pages = stale_pages(database.file)
    while pages:
        postponed = []
        for start in range(0, len(pages), CLEARED_PAGES):
            postponed += _clear(database, pages[start : start + CLEARED_PAGES])
            rest()
        # Pages in the log may have old bytes there too.
        empty_log(database)
        pages = postponed


def _clear(database: FileDatabase, pages: list[int]) -> list[int]:
    with database.transaction():
        postponed = clear(database.file, pages, logged_pages(log_of(database.path)))
        # Others read their pages again after a commit. This connection would not, and might write old bytes back.
        database.change("PRAGMA shrink_memory")
        database.count_commit()
    return postponed


def empty_log(database: FileDatabase) -> None:
    """Empty the log once nobody reads from it.

    SQLite would hold the write lock while it waits for readers, and would not wait for another checkpoint, which
    any commit in any process may start. So the checkpoint is repeated, without a lock between attempts."""
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while not database.is_log_emptied():
        if time.monotonic() > deadline:
            raise TimedOut("The store is still being read; its log was not emptied.", hint="Try again.")
        time.sleep(CHECKPOINT_RETRY_S)
