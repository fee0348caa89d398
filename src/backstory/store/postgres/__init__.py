"""PostgreSQL: one schema of a database for a team's server, tsvector for text, pgvector for vectors.

A store is a schema, so stores of several users in one database cannot meet. Writers of one schema take turns: a
transaction begins with the schema's own lock, so that what it read is still true when it writes, as in SQLite.
Readers wait for nobody, and neither do writers of other schemas.
"""

from __future__ import annotations

import re
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from psycopg import Cursor, OperationalError

from ...domain.census import Census
from ...domain.errors import BackstoryError, InvalidInput, Unavailable
from ...domain.filters import Kind
from ...domain.when import to_ms, utc_now
from ..activity import ActivityRows
from ..archive import ArchiveRows
from ..archived_talks import ArchivedTalkRows
from ..connections import ConnectionRows
from ..events import EventRows
from ..files import FileRows
from ..graph import GraphRows
from ..histories import HistoryRows
from ..kept import KeptAnswerRows
from ..migrate import RECORD, Script, migrate
from ..sessions import SessionRows
from ..snapshots import SnapshotRows
from ..sources import SourceRows
from ..statements import Row
from ..team import TeamRows
from .database import Connection, Database
from .dialect import NUL, translated, translated_script
from .text import TextRows
from .vectors import VectorRows

_LARGE = {
    "entry": ("text", "heading", "summary", "coalesce(metadata, '')"),
    "former": ("text",),
    "content": ("packed",),
    "archive_pack": ("packed",),
    "event": ("data",),
}

UNDONE = "Nothing was saved; try again."
LOCK = 0x6261636B  # the first of the two numbers of our advisory locks; the second is the schema's


class PostgresStore(
    TextRows,
    VectorRows,
    ActivityRows,
    EventRows,
    GraphRows,
    HistoryRows,
    KeptAnswerRows,
    SessionRows,
    SnapshotRows,
    SourceRows,
    FileRows,
    ArchiveRows,
    ArchivedTalkRows,
    ConnectionRows,
    TeamRows,
):
    """`database` is a URL, or a Database whose connections several stores share."""

    def __init__(
        self, database: str | Database, *, schema: str = "public", busy_timeout_s: float = 30.0
    ) -> None:
        self._owns_database = isinstance(database, str)
        self._database = (
            Database(database, busy_timeout_s=busy_timeout_s) if isinstance(database, str) else database
        )
        self._schema = _checked(schema)
        self._is_closed = False
        self._local = threading.local()
        super().__init__(self._database.vector_schema)
        number = zlib.crc32(schema.encode()) - 2**31
        self._begin = f"BEGIN; SELECT pg_advisory_xact_lock({LOCK}, {number})"
        try:
            with self.transaction():
                self._make_schema()
                migrate(self, "postgres", lambda version: None)
        except BackstoryError:
            self.close()
            raise

    def _rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        if (pinned := self._pinned()) is not None:
            with self._database.in_our_words(when_lost=UNDONE):
                return list(pinned.execute(translated(sql).encode(), parameters).fetchall())
        with self._database.in_our_words():
            connection, cursor = self._start(translated(sql), parameters)
            try:
                return list(cursor.fetchall())
            finally:
                self._database.give_back(connection)

    def _change(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        connection = self._pinned()
        assert connection is not None, "a change is part of a transaction"
        with self._database.in_our_words(when_lost=UNDONE):
            return connection.execute(translated(sql).encode(), parameters).rowcount

    def _change_many(self, sql: str, rows: Sequence[Row]) -> None:
        connection = self._pinned()
        assert connection is not None, "a change is part of a transaction"
        if rows:
            with self._database.in_our_words(when_lost=UNDONE), connection.cursor() as cursor:
                cursor.executemany(translated(sql).encode(), rows)

    def _reserve(self, count: int) -> int:
        # the schema's lock is ours, so they follow each other
        sql = "SELECT nextval(pg_get_serial_sequence('entry', 'n')) FROM generate_series(1, ?)"
        numbers = [row[0] for row in self._rows(sql, [count])]
        return min(numbers, default=0)

    def _start(
        self, statement: str, parameters: Sequence[Any] | None = None
    ) -> tuple[Connection, Cursor[tuple[Any, ...]]]:
        if self._is_closed:
            raise Unavailable("The store could not answer: it is closed.")
        return self._database.start(self._schema, statement, parameters)

    def _pinned(self) -> Connection | None:
        """The thread's connection while it is in a transaction."""
        return getattr(self._local, "connection", None)

    @property
    def in_transaction(self) -> bool:
        return self._pinned() is not None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._transaction(self._begin):
            yield

    @contextmanager
    def _unlocked(self) -> Iterator[None]:
        with self._transaction("BEGIN"):
            yield

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        if (outer := self._pinned()) is not None:
            self._change("SAVEPOINT inner_one")
            with _undone_on_error(outer, "ROLLBACK TO inner_one"):
                yield
            self._change("RELEASE inner_one")
            return
        with self._database.in_our_words():
            connection, _ = self._start(begin)
        self._local.connection = connection
        try:
            with _undone_on_error(connection, "ROLLBACK"):
                yield
            self._commit(connection)
        finally:
            self._local.connection = None
            self._database.give_back(connection)

    def _commit(self, connection: Connection) -> None:
        with self._database.in_our_words(when_lost="It may have been saved; look before you try again."):
            done = connection.execute("COMMIT").statusmessage
        if done != "COMMIT":  # a failure that was caught inside
            raise Unavailable("The database undid the transaction, because part of it failed.", hint=UNDONE)

    def _among(self, column: str, numbers: Iterable[int]) -> tuple[str, Any]:
        return f"{column} = ANY(?::bigint[])", list(numbers)

    def _column_names(self, table: str) -> list[str]:
        sql = "SELECT attname::text FROM pg_attribute WHERE attrelid = ?::regclass AND attnum > 0 AND NOT attisdropped"
        return [row[0] for row in self._rows(sql, [table])]

    def last_number(self) -> int:
        sql = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('entry', 'n')::regclass), 0)"
        return int(self._rows(sql)[0][0])

    def finish_import(self, last_number: int) -> None:
        used = {("entry", "n"): last_number}
        with self.transaction():
            for table, column in (("embedding", "v"), ("space", "number")):
                used[table, column] = self._rows(f"SELECT coalesce(max({column}), 0) FROM {table}")[0][0]
            for (table, column), last in used.items():
                self._rows(
                    "SELECT setval(pg_get_serial_sequence(?, ?), ?, ?)",
                    [table, column, max(last, 1), last > 0],
                )
        self._index_vectors()

    def _json_array(self, values: Sequence[str]) -> str:
        # read_copied parses it before anything else could turn an escaped NUL into one
        return f"replace(json_build_array({', '.join(values)})::text, '{NUL}', '\\u0000')"

    def _delete(self, condition: str, values: Sequence[Any]) -> int:
        # what is derived from an entry refers to it, and goes with it
        return self._change(f"DELETE FROM entry AS e WHERE {condition}", values)

    def _make_schema(self) -> None:
        if not self._rows("SELECT 1 FROM pg_namespace WHERE nspname = ?", [self._schema]):
            self._change(f'CREATE SCHEMA "{self._schema}"')

    def schema(self) -> tuple[int, int]:
        if self._rows("SELECT to_regclass(?)", [f'"{self._schema}".migration']) == [(None,)]:
            return 0, 0
        version, compat = self._rows("SELECT max(version), max(compat) FROM migration")[0]
        return version or 0, compat or 0

    def apply(self, script: Script) -> None:
        with self.transaction():
            self._change(RECORD)
            if self.schema()[0] >= script.version:
                return
            connection = self._pinned()
            assert connection is not None
            with self._database.in_our_words():
                text = translated_script(script.path.read_text("utf-8"), self._database.vector_schema)
                connection.execute(text.encode(), prepare=False)
            self._change(
                "INSERT INTO migration (version, name, compat, applied_at) VALUES (?, ?, ?, ?)",
                [script.version, script.name, script.compat, to_ms(utc_now())],
            )

    def used_bytes(self) -> int:
        """Of the texts and contents: the files would shrink only when the database cleans up behind a deletion."""
        sizes = " + ".join(
            f"(SELECT coalesce(sum({' + '.join(f'octet_length({column})' for column in columns)}), 0) FROM {table})"
            for table, columns in _LARGE.items()
        )
        return int(self._rows(f"SELECT {sizes}")[0][0])

    def census(self) -> Census:
        def one(sql: str, *parameters: str) -> int:
            return int(self._rows(sql, parameters)[0][0])

        kinds = {row[0]: row[1] for row in self._rows("SELECT kind, count(*) FROM entry GROUP BY kind")}
        size = (
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c"
            " JOIN pg_namespace s ON s.oid = c.relnamespace WHERE s.nspname = ? AND c.relkind = 'r'"
        )
        return Census(
            memories=kinds.get(Kind.MEMORY, 0),
            messages=kinds.get(Kind.MESSAGE, 0),
            conversations=one("SELECT count(*) FROM conversation"),
            projects=one("SELECT count(DISTINCT project) FROM entry"),
            waiting=one("SELECT count(*) FROM waiting"),
            bytes=one(size, self._schema),
        )

    def problems(self) -> list[str]:
        """The database itself watches over pages and references; an index of ours may lack rows, or be half made."""
        faults = {
            "text index: {} texts are not in the text index": (
                "SELECT count(*) FROM entry e WHERE NOT EXISTS"
                " (SELECT 1 FROM entry_text t WHERE t.entry = e.n AND t.field = 'body')"
            ),
            "text index: {} keys are not in the key index": (
                "SELECT count(*) FROM entry e WHERE key IS NOT NULL AND NOT EXISTS"
                " (SELECT 1 FROM key_text t WHERE t.entry = e.n)"
            ),
            "indexes: {} are not valid": (
                "SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
                " WHERE c.relnamespace = current_schema()::regnamespace AND NOT i.indisvalid"
            ),
        }
        counts = {fault: self._rows(sql)[0][0] for fault, sql in faults.items()}
        return [fault.format(count) for fault, count in counts.items() if count]

    def backup(self, target: Path) -> None:
        raise Unavailable(
            f"A store in PostgreSQL is not copied by Backstory; {target} was not written.",
            hint=f"Use: pg_dump --schema '{self._schema}' --file '{target}' DATABASE_URL",
        )

    def close(self) -> None:
        self._is_closed = True
        if self._owns_database:
            self._database.close()


@contextmanager
def _undone_on_error(connection: Connection, undo: str) -> Iterator[None]:
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
