"""Overwriting what deleted rows leave behind in SQLite's files.

`secure_delete` clears what a row leaves in its own page, not what it left where it stood before pages were split or
merged: only a file that is written anew is sure to hold nothing else.
"""

from __future__ import annotations

import sqlite3

from ...domain.erasure import Residue
from ...domain.errors import TimedOut

PATIENCE_MS = 5_000  # for others who read or write meanwhile


def overwrite(connection: sqlite3.Connection, residue: Residue, busy_timeout_s: float) -> None:
    connection.execute(f"PRAGMA busy_timeout = {PATIENCE_MS:d}")
    try:
        for index in sorted(residue.tables & {"entry_text", "key_text"}):
            # deleted words stay in their segments until these are merged
            connection.execute(f"INSERT INTO {index} ({index}) VALUES ('optimize')")
        connection.execute("VACUUM")
        is_busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(busy_timeout_s * 1000):d}")
    if is_busy:
        raise TimedOut("Another process is reading; the write-ahead log was not emptied.", hint="Try again.")
