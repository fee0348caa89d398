"""Copy a database page by page while it is in use, and verify the copy."""

from __future__ import annotations

import sqlite3

from ...domain.errors import Unavailable

_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND sql NOT LIKE 'CREATE VIRTUAL%'"


def copy_pages(source: sqlite3.Connection, copy: sqlite3.Connection) -> int:
    source.backup(copy)
    return 0


def copy_checked(source: sqlite3.Connection, copy: sqlite3.Connection) -> int:
    """Copy, check every page and index of the copy, and compare the row counts of every table.

    Returns the number of rows."""
    source.execute("BEGIN")  # one snapshot for the counts and the copy, while others write
    try:
        expected = _row_counts(source)
        source.backup(copy)
    finally:
        source.execute("ROLLBACK")
    faults = [fault for (fault,) in copy.execute("PRAGMA integrity_check") if fault != "ok"]
    if not faults:
        counts = _row_counts(copy)
        pairs = [(table, counts.get(table, 0), rows) for table, rows in expected.items()]
        faults = [f"{table} has {count} rows of {rows}" for table, count, rows in pairs if count != rows]
    if faults:
        raise Unavailable(
            f"The backup is not sound, and was not kept: {faults[0]}.",
            hint="`backstory integrity` checks whether the store itself is damaged.",
        )
    return sum(expected.values())


def _row_counts(connection: sqlite3.Connection) -> dict[str, int]:
    tables = [name for (name,) in connection.execute(_TABLES)]
    return {table: connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0] for table in tables}
