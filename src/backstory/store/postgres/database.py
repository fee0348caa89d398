"""PostgreSQL: one database for all tenants of a team server.

A store is a tenant. All tenants share the tables of one schema (`layout.py`), and two mechanisms isolate them: every
statement contains the key of its tenant (`scope.py`), and row-level security compares that key with the tenant of
the transaction. Writers of one tenant take turns: a transaction begins with the tenant's own lock, so that its reads
are still valid when it writes, as in SQLite. Readers never wait, and writers of different tenants do not wait for
each other.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from psycopg import OperationalError
from psycopg.pq import TransactionStatus

from ...domain.erasure import Residue
from ...domain.errors import BackstoryError, InvalidInput, Unavailable
from ..database import OUTSIDE, Database, Row
from ..migrate import COMPAT, check_level, migrate, script_paths
from ..tables import TENANT_TABLES, VECTOR
from .dialect import NUL, translated, translated_script
from .erasure import clean_up, overwrite_all, pending_residues
from .layout import (
    BASE,
    KEY,
    PARTITIONS,
    SCHEMA,
    changes_rows,
    deletions_with_an_entry,
    partition,
    row_security,
    shared_statements,
    statements,
)
from .move import move_schema
from .pool import COMMITS, PooledConnection, PostgresPool
from .residue import overwrite, tables_of
from .scope import MARK, scoped
from .tenants import LOCK, NO_TENANT, Tenant, find_tenant, make_tenant, tenant_numbers

_LARGE = {
    "entry": ("text", "heading", "summary", "coalesce(metadata, '')"),
    "former": ("text",),
    "content": ("packed",),
    "archive_pack": ("packed",),
    "event": ("data",),
}

_OWN_INDEXES = (
    "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = ? AND c.relkind = 'i' AND c.relname ~ ? ORDER BY 1"
)

UNDONE = "Nothing was saved; try again."
_COUNT_COMMIT = (
    f"INSERT INTO counter (name, value) SELECT '{COMMITS}', 1 WHERE pg_current_xact_id_if_assigned() IS NOT NULL"
    f" AND EXISTS (SELECT 1 FROM tenant WHERE number = {MARK})"
    " ON CONFLICT (name) DO UPDATE SET value = counter.value + 1 RETURNING value"
)
"""Sent with COMMIT, so that a transaction without the tenant's lock waits for another one's commit at most. Counts
transactions that changed something; none once the tenant is deleted."""


class PostgresDatabase(Database):
    skip_locked = " FOR UPDATE SKIP LOCKED"

    def __init__(self, pool: PostgresPool, tenant: str, *, owns_pool: bool) -> None:
        self._owns_pool = owns_pool
        self._pool = pool
        self.vector_schema = self._pool.vector_schema
        self.standby = self._pool.standby
        self.tenant = NO_TENANT
        self._is_closed = False
        self._local = threading.local()
        self._is_migrated = False
        try:
            name = _checked(tenant)
            if not self._pool.is_prepared:
                self._prepare()
            self.tenant = find_tenant(self, name) or self._make(name)
            self._check_tenant()
            self._is_migrated = True
        except BackstoryError:
            self.close()
            raise

    def _prepare(self) -> None:
        """Bring the tables that all tenants share up to date, once for each pool."""
        is_migrated = False
        with self.transaction():
            self._make_schema()
            level = self.value(COMPAT) if self.has_table("migration") else None
            migrate(self, "postgres", lambda version: None)
            if self.value(COMPAT) != level or level is None:
                self._define(deletions_with_an_entry(script_paths("postgres")))
                is_migrated = True
        if is_migrated:
            self._pool.drain()  # a connection that has run migrations keeps 3 MB until it is closed
        self._pool.is_prepared = True

    def _make(self, name: str) -> Tenant:
        """Create a tenant, including data from a schema of its name that predates shared tables."""
        with self.transaction():  # one at a time
            if (known := find_tenant(self, name)) is not None:
                return known
            tenant = make_tenant(self, name)
            connection = self._pinned()
            assert connection is not None
            with self._pool.in_our_words(when_lost=UNDONE):
                move_schema(connection, tenant, self.vector_schema)
        return tenant

    def statement(self, sql: str) -> bytes:
        """A statement of a room, for the rows of this tenant."""
        return translated(scoped(sql)).replace(MARK, str(self.tenant.number)).encode()

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        if (pinned := self._pinned()) is not None:
            with self._pool.in_our_words(when_lost=UNDONE):
                return list(pinned.execute(self.statement(sql), parameters).fetchall())
        self._check_open()
        with self._pool.in_our_words():
            return list(self._pool.read(self.tenant.number, self.statement(sql), parameters))

    def change(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        connection = self._pinned()
        assert connection is not None, OUTSIDE
        with self._pool.in_our_words(when_lost=UNDONE):
            return connection.execute(self.statement(sql), parameters).rowcount

    def change_many(self, sql: str, rows: Sequence[Row]) -> None:
        connection = self._pinned()
        assert connection is not None, OUTSIDE
        if rows:
            with self._pool.in_our_words(when_lost=UNDONE), connection.cursor() as cursor:
                cursor.executemany(self.statement(sql), rows)

    def reserve(self, count: int) -> int:
        return self.reserve_numbers("entry", count)

    def reserve_numbers(self, table: str, count: int) -> int:
        """The first of `count` numbers that follow each other, for rows that the same transaction inserts."""
        sql = (
            "INSERT INTO counter (name, value) VALUES (?, ?) ON CONFLICT (name)"
            " DO UPDATE SET value = counter.value + excluded.value RETURNING value"
        )
        return int(self.value(sql, [table, count])) - count + 1 if count else 0

    def _check_open(self) -> None:
        if self._is_closed:
            raise Unavailable("The store could not answer: it is closed.")

    def _check_tenant(self) -> None:
        """Make sure that a statement outside of transactions reaches this tenant, in tables that this program knows."""
        ((tenant, compat),) = self.rows(f"SELECT current_setting('backstory.tenant'), ({COMPAT})")
        check_level(compat)
        if tenant != str(self.tenant.number):
            raise Unavailable(
                f"The database answers for the tenant {tenant!r} instead of {self.tenant.number}.",
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
        with self._transaction((LOCK, self.tenant.number)):
            yield

    @contextmanager
    def unlocked(self) -> Iterator[None]:
        """A transaction without the tenant's lock, concurrent with other writers. It must not wait for any of them."""
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
            connection = self._pool.begin(self.tenant.number, lock)
        self._local.connection = connection
        try:
            with _undone_on_error(connection, "ROLLBACK"):
                if self._is_migrated:
                    self._check_level()
                yield
            self._commit(connection)
        finally:
            self._local.connection = None
            self._pool.give_back(connection)

    def _check_level(self) -> None:
        """Check that this program still knows the schema, and that the tenant still exists."""
        ((compat, is_there),) = self.rows(
            f"SELECT ({COMPAT}), EXISTS (SELECT 1 FROM tenant WHERE number = ?)", [self.tenant.number]
        )
        check_level(compat)
        if not is_there:
            raise Unavailable(
                f"The tenant {self.tenant.name} was deleted while it was open.", hint="Restart the server."
            )

    def _commit(self, connection: PooledConnection) -> None:
        if connection.info.transaction_status == TransactionStatus.INERROR:  # the caller caught an error
            raise Unavailable("The database undid the transaction, because part of it failed.", hint=UNDONE)
        with self._pool.in_our_words(when_lost="It may have been saved; check before you try again."):
            cursor = connection.execute(f"{self.statement(_COUNT_COMMIT).decode()}; COMMIT".encode())
        for (commits,) in cursor.fetchall():
            self._local.commits = commits

    @property
    def known_commits(self) -> int:
        """The number of the tenant's commits, as far as this thread has read or made them."""
        return getattr(self._local, "commits", 0)

    def read_commits(self) -> None:
        """Read the number of commits that the tenant has had by now."""
        sql = "SELECT coalesce(max(value), 0) FROM counter WHERE name = ?"
        self._local.commits = self.value(sql, [COMMITS])

    def among(self, column: str, numbers: Iterable[int]) -> tuple[str, Any]:
        return f"{column} = ANY(?::bigint[])", list(numbers)

    def chosen_entries(self, numbers: Iterable[int]) -> tuple[str, Any]:
        # OFFSET separates the lookup: for a few hundred numbers PostgreSQL would otherwise read the whole table
        looked_up = "(SELECT * FROM entry WHERE n = chosen.value OFFSET 0) e"
        return f"unnest(?::bigint[]) AS chosen (value), LATERAL {looked_up}", sorted(set(numbers))

    def column_names(self, table: str) -> list[str]:
        sql = (
            "SELECT attname::text FROM pg_attribute WHERE attrelid = ?::regclass AND attnum > 0 AND NOT attisdropped"
            f" AND attname <> '{KEY}'"
        )
        return self.values(sql, [table])

    def last_number(self) -> int:
        return int(self.value("SELECT coalesce(max(value), 0) FROM counter WHERE name = 'entry'"))

    def continue_after(self, last_number: int) -> None:
        sql = "INSERT INTO counter (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        used = {"entry": last_number}
        with self.transaction():
            for table, column in (("embedding", "v"), ("space", "number")):
                used[table] = self.value(f"SELECT coalesce(max({column}), 0) FROM {table}")
            self.change_many(sql, [*used.items()])

    def listed(self, column: str) -> str:
        return f"string_agg({column}::text, ',')"

    def json_array(self, values: Sequence[str]) -> str:
        # read_copied parses it before anything else could turn an escaped NUL into one
        return f"replace(json_build_array({', '.join(values)})::text, '{NUL}', '\\u0000')"

    def byte_length(self, column: str) -> str:
        return f"octet_length({column})"

    def _make_schema(self) -> None:
        if self.rows("SELECT 1 FROM pg_namespace WHERE nspname = ?", [SCHEMA]):
            if self.has_table("counter"):
                return
        else:
            self._define([f"CREATE SCHEMA {SCHEMA}"])
        self._define([*BASE, *row_security("counter")])

    def has_table(self, name: str) -> bool:
        return self.value("SELECT to_regclass(?)", [f"{SCHEMA}.{name}"]) is not None

    def run_script(self, script: str) -> None:
        for statement in statements(script):
            if changes_rows(statement):
                self._change_rows_of_all(statement)
            else:
                self._define(shared_statements(statement))

    def _define(self, statements: Iterable[str]) -> None:
        """Run statements that define tables and belong to no tenant, each in its own transaction."""
        connection = self._pinned()
        assert connection is not None, OUTSIDE
        with self._pool.in_our_words():
            for statement in statements:
                connection.execute(translated_script(statement, self.vector_schema).encode())

    def _change_rows_of_all(self, statement: str) -> None:
        """Run a statement of a script for each tenant."""
        for number in tenant_numbers(self):
            self._define(
                [
                    f"SELECT set_config('backstory.tenant', '{number:d}', true)",
                    scoped(statement).replace(MARK, str(number)),
                ]
            )
        self._define([f"SELECT set_config('backstory.tenant', '{self.tenant.number:d}', true)"])

    def made_at_ms(self) -> int:
        return int(self.value("SELECT made_at FROM tenant WHERE number = ?", [self.tenant.number]))

    def moment(self) -> str:
        return str(self.value("SELECT pg_current_xact_id()::xid::text"))

    def overwrite(self, residue: Residue, rest: Callable[[], None]) -> None:
        with self._pool.in_our_words():
            overwrite(self, tables_of(residue, self.tenant.part), residue.moment, rest)
            clean_up(self._pool, [self.tenant.part] if VECTOR in residue.tables else [])

    def locked_bytes(self, residue: Residue) -> int:
        sql = "SELECT max(pg_total_relation_size(name::regclass)) FROM unnest(?::text[]) name"
        return int(self.value(sql, [sorted(tables_of(residue, self.tenant.part))]) or 0)

    def overwrite_everywhere(self, rest: Callable[[], None]) -> list[str]:
        with self._pool.in_our_words():
            return overwrite_all(self, self._pool, rest)

    def pending_erasures(self) -> list[str]:
        with self._pool.in_our_words():
            return [each.tenant.name for each in pending_residues(self._pool)]

    def delete_rows(self) -> None:
        """Delete every row of the tenant, and its indexes of vectors. In one transaction for the rows."""
        with self.transaction():
            for table in reversed(TENANT_TABLES):
                self.change(f"DELETE FROM {table}")
        indexes = self.values(_OWN_INDEXES, [SCHEMA, f"^embedding_nearest_{self.tenant.number:d}_"])
        for index in indexes:
            self.maintain("DROP INDEX CONCURRENTLY", index)

    def delete_tenant(self) -> None:
        """Delete the remaining data of the tenant and its name. A server that has it open refuses to write from then on."""
        with self.transaction():
            for table in reversed(TENANT_TABLES):
                self.change(f"DELETE FROM {table}")
            self.change("DELETE FROM tenant WHERE number = ?", [self.tenant.number])

    def maintain(self, command: str, relation: str, rest: str = "") -> None:
        """Run a command on a table or an index of the shared schema that no transaction may contain."""
        with self._pool.in_our_words():
            self._pool.maintain(command, relation, rest)

    def used_bytes(self) -> int:
        """The size of texts and contents.

        The size of the files would be misleading: they shrink only after the database has cleaned up deleted rows."""
        sizes = " + ".join(
            f"(SELECT coalesce(sum({' + '.join(f'octet_length({column})' for column in columns)}), 0) FROM {table})"
            for table, columns in _LARGE.items()
        )
        return int(self.value(f"SELECT {sizes}"))

    def total_bytes(self) -> int:
        """The approximate size of the tenant on disk: its share of the tables with its rows, by its number of entries."""
        sizes = " + ".join(
            f"pg_total_relation_size('{partition(name, self.tenant.part)}'){'' if table.is_partitioned else f' / {PARTITIONS}'}"
            for name, table in TENANT_TABLES.items()
        )
        sql = f"SELECT {sizes}, (SELECT reltuples FROM pg_class WHERE oid = ?::regclass), (SELECT count(*) FROM shape)"
        ((size, entries, own),) = self.rows(sql, [partition("entry", self.tenant.part)])
        return int(size * own / max(entries, own, 1))

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
            hint=f"Use: pg_dump --schema {SCHEMA} --file '{target}' DATABASE_URL",
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
        with suppress(OperationalError):  # when the connection is lost, the database rolls back automatically
            connection.execute(undo.encode())
        raise


def _checked(tenant: str) -> str:
    if not re.fullmatch("[a-z_][a-z0-9_-]{0,62}", tenant):
        raise InvalidInput(
            f"{tenant!r} cannot be the name of a tenant.",
            hint="Use up to 63 small letters, digits, dashes and underscores.",
        )
    return tenant
