"""PostgreSQL: one schema of a database for a team's server.

A store is a schema, so stores of several users in one database cannot meet. Writers of one schema take turns: a
transaction begins with the schema's own lock, so that what it read is still true when it writes, as in SQLite.
Readers wait for nobody, and neither do writers of other schemas.
"""

from __future__ import annotations

import re
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from psycopg import OperationalError

from ...domain.erasure import Residue
from ...domain.errors import BackstoryError, InvalidInput, Unavailable
from ..database import OUTSIDE, Database, Row
from ..migrate import COMPAT, check_level, migrate
from .dialect import NUL, translated, translated_script
from .pool import PooledConnection, PostgresPool
from .residue import overwrite

_LARGE = {
    "entry": ("text", "heading", "summary", "coalesce(metadata, '')"),
    "former": ("text",),
    "content": ("packed",),
    "archive_pack": ("packed",),
    "event": ("data",),
}

UNDONE = "Nothing was saved; try again."
LOCK = 0x6261636B  # the first of the two numbers of our advisory locks; the second is the schema's


class PostgresDatabase(Database):
    skip_locked = " FOR UPDATE SKIP LOCKED"

    def __init__(self, pool: str | PostgresPool, schema: str, *, busy_timeout_s: float) -> None:
        self._owns_pool = isinstance(pool, str)
        self._pool = PostgresPool(pool, busy_timeout_s=busy_timeout_s) if isinstance(pool, str) else pool
        self.vector_schema = self._pool.vector_schema
        self._schema = _checked(schema)
        self._is_closed = False
        self._local = threading.local()
        self._lock = (LOCK, zlib.crc32(schema.encode()) - 2**31)
        self._is_migrated = False
        try:
            with self.transaction():
                self._make_schema()
                migrate(self, "postgres", lambda version: None)
                self._check_schema()
            self._check_schema()
            self._is_migrated = True
        except BackstoryError:
            self.close()
            raise

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        if (pinned := self._pinned()) is not None:
            with self._pool.in_our_words(when_lost=UNDONE):
                return list(pinned.execute(translated(sql).encode(), parameters).fetchall())
        self._check_open()
        with self._pool.in_our_words():
            return list(self._pool.read(self._schema, translated(sql), parameters))

    def change(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        connection = self._pinned()
        assert connection is not None, OUTSIDE
        with self._pool.in_our_words(when_lost=UNDONE):
            return connection.execute(translated(sql).encode(), parameters).rowcount

    def change_many(self, sql: str, rows: Sequence[Row]) -> None:
        connection = self._pinned()
        assert connection is not None, OUTSIDE
        if rows:
            with self._pool.in_our_words(when_lost=UNDONE), connection.cursor() as cursor:
                cursor.executemany(translated(sql).encode(), rows)

    def copy(self, target: str, types: Sequence[str], rows: Iterable[Row]) -> None:
        """Insert rows in the binary form of their types: `target` is a table and its columns."""
        connection = self._pinned()
        assert connection is not None, OUTSIDE
        sql = f"COPY {target} FROM STDIN (FORMAT BINARY)"
        with (
            self._pool.in_our_words(when_lost=UNDONE),
            connection.cursor() as cursor,
            cursor.copy(sql.encode()) as copying,
        ):
            copying.set_types(types)
            for row in rows:
                copying.write_row(row)

    def reserve(self, count: int) -> int:
        # the schema's lock is ours, so they follow each other
        sql = "SELECT nextval(pg_get_serial_sequence('entry', 'n')) FROM generate_series(1, ?)"
        return min(self.values(sql, [count]), default=0)

    def _check_open(self) -> None:
        if self._is_closed:
            raise Unavailable("The store could not answer: it is closed.")

    def _check_schema(self) -> None:
        """Make sure that statements reach this store, both inside of transactions and outside."""
        schema = self.value("SELECT current_schema()")
        if schema != self._schema:
            raise Unavailable(
                f"The database answers for the schema {schema!r} instead of {self._schema!r}.",
                hint="Use the address of the database itself, or a pooler that keeps a transaction together.",
            )

    def _pinned(self) -> PooledConnection | None:
        """The thread's connection while it is in a transaction."""
        return getattr(self._local, "connection", None)

    @property
    def in_transaction(self) -> bool:
        return self._pinned() is not None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._transaction(self._lock):
            yield

    @contextmanager
    def unlocked(self) -> Iterator[None]:
        """A transaction beside those of other writers. It may wait for none of them."""
        with self._transaction(None):
            yield

    @contextmanager
    def _transaction(self, lock: tuple[int, int] | None) -> Iterator[None]:
        if (outer := self._pinned()) is not None:
            self.change("SAVEPOINT inner_one")
            with _undone_on_error(outer, "ROLLBACK TO inner_one"):
                yield
            self.change("RELEASE inner_one")
            return
        self._check_open()
        with self._pool.in_our_words():
            connection = self._pool.begin(self._schema, lock)
        self._local.connection = connection
        try:
            with _undone_on_error(connection, "ROLLBACK"):
                if self._is_migrated:
                    check_level(self.value(COMPAT))
                yield
            self._commit(connection)
        finally:
            self._local.connection = None
            self._pool.give_back(connection)

    def _commit(self, connection: PooledConnection) -> None:
        with self._pool.in_our_words(when_lost="It may have been saved; look before you try again."):
            done = connection.execute("COMMIT").statusmessage
        if done != "COMMIT":  # a failure that was caught inside
            raise Unavailable("The database undid the transaction, because part of it failed.", hint=UNDONE)

    def among(self, column: str, numbers: Iterable[int]) -> tuple[str, Any]:
        return f"{column} = ANY(?::bigint[])", list(numbers)

    def chosen_entries(self, numbers: Iterable[int]) -> tuple[str, Any]:
        # OFFSET keeps the look-up apart: for some hundred numbers PostgreSQL would otherwise read the whole table
        looked_up = "(SELECT * FROM entry WHERE n = chosen.value OFFSET 0) e"
        return f"unnest(?::bigint[]) AS chosen (value), LATERAL {looked_up}", sorted(set(numbers))

    def column_names(self, table: str) -> list[str]:
        sql = "SELECT attname::text FROM pg_attribute WHERE attrelid = ?::regclass AND attnum > 0 AND NOT attisdropped"
        return self.values(sql, [table])

    def last_number(self) -> int:
        sql = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('entry', 'n')::regclass), 0)"
        return int(self.value(sql))

    def continue_after(self, last_number: int) -> None:
        used = {("entry", "n"): last_number}
        with self.transaction():
            for table, column in (("embedding", "v"), ("space", "number")):
                used[table, column] = self.value(f"SELECT coalesce(max({column}), 0) FROM {table}")
            for (table, column), last in used.items():
                self.rows(
                    "SELECT setval(pg_get_serial_sequence(?, ?), ?, ?)",
                    [table, column, max(last, 1), last > 0],
                )

    def listed(self, column: str) -> str:
        return f"string_agg({column}::text, ',')"

    def json_array(self, values: Sequence[str]) -> str:
        # read_copied parses it before anything else could turn an escaped NUL into one
        return f"replace(json_build_array({', '.join(values)})::text, '{NUL}', '\\u0000')"

    def byte_length(self, column: str) -> str:
        return f"octet_length({column})"

    def _make_schema(self) -> None:
        if not self.rows("SELECT 1 FROM pg_namespace WHERE nspname = ?", [self._schema]):
            self.change(f'CREATE SCHEMA "{self._schema}"')

    def has_table(self, name: str) -> bool:
        return self.value("SELECT to_regclass(?)", [f'"{self._schema}".{name}']) is not None

    def run_script(self, script: str) -> None:
        connection = self._pinned()
        assert connection is not None, OUTSIDE
        with self._pool.in_our_words():
            connection.execute(translated_script(script, self.vector_schema).encode())

    def moment(self) -> str:
        return str(self.value("SELECT pg_current_xact_id()::xid::text"))

    def overwrite(self, residue: Residue) -> None:
        with self._pool.in_our_words():
            overwrite(self, residue, lambda table: self._pool.vacuum(self._schema, table))
            # without effect where another user owns the database
            self._pool.vacuum("pg_catalog", "pg_statistic", "FULL")

    def used_bytes(self) -> int:
        """Of the texts and contents: the files would shrink only when the database cleans up behind a deletion."""
        sizes = " + ".join(
            f"(SELECT coalesce(sum({' + '.join(f'octet_length({column})' for column in columns)}), 0) FROM {table})"
            for table, columns in _LARGE.items()
        )
        return int(self.value(f"SELECT {sizes}"))

    def total_bytes(self) -> int:
        sql = (
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c"
            " JOIN pg_namespace s ON s.oid = c.relnamespace WHERE s.nspname = ? AND c.relkind = 'r'"
        )
        return int(self.value(sql, [self._schema]))

    def checks(self) -> dict[str, Callable[[], list[str]]]:
        """The database itself watches over pages and references; an index may be half made."""
        return {"indexes": self._half_made}

    def _half_made(self) -> list[str]:
        sql = (
            "SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
            " WHERE c.relnamespace = current_schema()::regnamespace AND NOT i.indisvalid"
        )
        count = self.value(sql)
        return [f"{count} are not valid"] if count else []

    def backup(self, target: Path, *, is_checked: bool) -> int:
        raise Unavailable(
            f"A store in PostgreSQL is not copied by Backstory; {target} was not written.",
            hint=f"Use: pg_dump --schema '{self._schema}' --file '{target}' DATABASE_URL",
        )

    def close(self) -> None:
        self._is_closed = True
        if self._owns_pool:
            self._pool.close()


@contextmanager
def _undone_on_error(connection: PooledConnection, undo: str) -> Iterator[None]:
    try:
        yield
    except BaseException:
        with suppress(OperationalError):  # without its connection the database undoes all by itself
            connection.execute(undo.encode())
        raise


def _checked(schema: str) -> str:
    if not re.fullmatch("[a-z_][a-z0-9_-]{0,62}", schema):
        raise InvalidInput(
            f"{schema!r} cannot be the name of a schema.",
            hint="Use up to 63 small letters, digits, dashes and underscores.",
        )
    return schema
