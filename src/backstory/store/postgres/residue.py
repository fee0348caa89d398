"""Removal of the bytes that deleted rows leave in PostgreSQL's files.

VACUUM frees the space of a dead row but leaves its bytes there. CLUSTER rewrites a table and its indexes, as VACUUM
FULL does, and may run in a transaction, which can limit how long it waits for the table. The planner's statistics
contain values of rows too. The write-ahead log and its archives are the responsibility of the database's
administrator.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from ...domain.erasure import Residue
from ...domain.errors import TimedOut
from ..database import Database
from ..tables import VECTOR
from .layout import partition

PATIENCE_S = 5.0  # seconds to wait for transactions that still read forgotten rows
ASK_AGAIN_S = 0.05
LOCK_WAIT_MS = 100  # milliseconds to wait for a table that other transactions use

_READS_IT_STILL = (
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND backend_type = 'client backend' AND greatest(age(backend_xid), age(backend_xmin)) >= age(?::xid) LIMIT 1"
)
_TEXT_COLUMNS = (
    "SELECT attname::text, atttypid::regtype::text FROM pg_attribute WHERE attrelid = ?::regclass AND attnum > 0"
    " AND NOT attisdropped AND atttypid IN ('text'::regtype, 'tsvector'::regtype) AND attnum <> ALL (SELECT"
    " unnest(indkey::smallint[]) FROM pg_index WHERE indrelid = attrelid AND indisprimary)"
)
_PRIMARY_INDEX = (
    "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = ?::regclass AND indisprimary"
)
_SAME_TYPE = {"text": 'TEXT COLLATE "C"', "tsvector": "tsvector"}
_WHOLE_TABLE = "SELECT coalesce((SELECT inhparent FROM pg_inherits WHERE inhrelid = ?::regclass), ?::regclass)::regclass::text"
CAN_CLEAR = "SELECT to_regproc('pg_clear_attribute_stats') IS NOT NULL"
_CLEAR = (
    "SELECT pg_clear_attribute_stats(c.relnamespace::regnamespace::text, c.relname::text, a.attname::text, FALSE)"
    " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
    " WHERE c.oid = ?::regclass AND a.attnum > 0 AND NOT a.attisdropped"
)


def tables_of(residue: Residue, part: int) -> set[str]:
    """The tables and partitions to rewrite for a tenant with this part, without those that are only vacuumed."""
    return {partition(name, part) for name in residue.tables - {VECTOR}}


def overwrite(database: Database, tables: Collection[str], moment: str, rest: Callable[[], None]) -> None:
    """Rewrite tables, each in a transaction of its own, once nobody sees the rows that were deleted before `moment`.

    The caller vacuums vectors and handles the planner's statistics."""
    _await_readers(database, moment)
    for table in sorted(tables):
        _rewrite(database, table)
        rest()
    _await_readers(database, database.moment())


def _rewrite(database: Database, table: str) -> None:
    """Rewrite a table as soon as no transaction uses it.

    Later transactions queue behind one that waits for the whole table, so it gives up early and tries again."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            with database.transaction():
                database.rows(f"SELECT set_config('lock_timeout', '{LOCK_WAIT_MS:d}', TRUE)")
                _drop_statistics(database, table)
                database.change(f"CLUSTER {table} USING {database.value(_PRIMARY_INDEX, [table])}")
                database.change(f"ANALYZE {table}")
            return
        except TimedOut:
            if time.monotonic() > deadline:
                raise
        time.sleep(ASK_AGAIN_S)


def _await_readers(database: Database, moment: str) -> None:
    """Wait until no transaction can see the deleted rows any more: rows that are still visible are copied by the rewrite."""
    deadline = time.monotonic() + PATIENCE_S
    while database.rows(_READS_IT_STILL, [moment]):
        if time.monotonic() > deadline:
            raise TimedOut("Another session still reads what was there before.", hint="Try again.")
        time.sleep(ASK_AGAIN_S)


def _drop_statistics(database: Database, table: str) -> None:
    """ANALYZE leaves those of an empty table as they were."""
    if database.value(CAN_CLEAR):
        database.rows(_CLEAR, [table])
        return
    # before PostgreSQL 18: setting a column's type to its present type drops its statistics, in all partitions at once
    whole = database.value(_WHOLE_TABLE, [table, table])
    changes = [
        f"ALTER {name} TYPE {_SAME_TYPE[type]}" for name, type in database.rows(_TEXT_COLUMNS, [whole])
    ]
    if changes:
        database.change(f"ALTER TABLE {whole} {', '.join(changes)}")
