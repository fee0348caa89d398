"""Removal of the bytes that deleted rows leave in SQLite's files.

`secure_delete` clears the bytes in a row's own page, but not in pages where it was before they were split or merged:
only a rewritten file is sure to be free of them.
"""

from __future__ import annotations

import sqlite3
import time

from ...domain.erasure import Residue
from ...domain.errors import TimedOut
from .fts import INDEXES, purge

PATIENCE_MS = 5_000  # to wait for other readers and writers
CHECKPOINT_RETRY_S = 0.02


def overwrite(connection: sqlite3.Connection, residue: Residue, busy_timeout_s: float) -> None:
    connection.execute(f"PRAGMA busy_timeout = {PATIENCE_MS:d}")
    try:
        _purge_words(connection, residue)
        connection.execute("VACUUM")
        # After the rewrite the log still contains the former pages.
        _empty_log(connection)
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(busy_timeout_s * 1000):d}")


def _purge_words(connection: sqlite3.Connection, residue: Residue) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for index in INDEXES:
            if index.name in residue.tables:
                purge(connection, index)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _empty_log(connection: sqlite3.Connection) -> None:
    """SQLite itself waits for readers, but not for another checkpoint: any commit in this or another process may start one."""
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        if time.monotonic() > deadline:
            raise TimedOut("The store is still being read; its log was not emptied.", hint="Try again.")
        time.sleep(CHECKPOINT_RETRY_S)
