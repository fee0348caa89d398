"""One PostgreSQL database: its connections, lent to the stores of any of its schemas, and its failures in our words.

A connection that was lost is replaced, and what was asked of it is asked again, as long as nothing can have
happened twice: that is so for a read, and for the beginning of a transaction.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from ...domain.errors import BackstoryError, InvalidInput, NotAllowed, StorageFull, TimedOut, Unavailable
from .dialect import adapt_texts

MOST_CONNECTIONS = 16  # what two cores of a database keep busy; more clients wait for one of these
OLDEST_PGVECTOR = (0, 8)  # iterative scans: before it, a filter made the nearest disappear
PAUSES_S = (0.02, 0.1, 0.3, 1.0, 2.0, 4.0)  # a database restarts within these
RECONNECT_S = 30.0  # it tries ever more rarely; after so long whoever asks next begins anew
LOST = {"53300", "57P01", "57P02", "57P03"}  # too many connections, shut down, crashed, starting
COLLIDED = {"40001", "40P01"}  # serialization failure, deadlock
OPTIONS: dict[str, Any] = {
    "autocommit": True,  # we say BEGIN ourselves
    "client_encoding": "utf8",
    "application_name": "backstory",
    "connect_timeout": 10,
    # a machine that vanished says nothing: without these a read would wait for it for hours
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}
TRY_AGAIN = "Try again; `backstory doctor` looks for the cause."


class PooledConnection(psycopg.Connection[tuple[Any, ...]]):
    schema = ""
    """The one it served last."""


class PostgresPool:
    def __init__(
        self, url: str, *, busy_timeout_s: float = 30.0, most_connections: int = MOST_CONNECTIONS
    ) -> None:
        self._busy_timeout_s = busy_timeout_s
        try:
            self.name = _name(url)
        except psycopg.ProgrammingError:
            raise InvalidInput(
                "database_url is not a URL of PostgreSQL.",
                hint="Use postgresql://user:password@host/database.",
                field="database_url",
            ) from None
        with self.in_our_words(), psycopg.connect(url, **OPTIONS) as first:
            self.vector_schema = _checked(first)
        self._pool: ConnectionPool[PooledConnection] = ConnectionPool(
            url,
            connection_class=PooledConnection,
            kwargs=OPTIONS,
            min_size=1,
            max_size=most_connections,
            num_workers=1,
            timeout=busy_timeout_s,
            reconnect_timeout=RECONNECT_S,
            configure=self._configure,
            open=True,
        )

    def start(
        self, schema: str, statement: str, parameters: Sequence[Any] | None = None
    ) -> tuple[PooledConnection, psycopg.Cursor[tuple[Any, ...]]]:
        """Borrow a connection and run on it what may be run twice. Whoever calls gives it back."""
        for pause_s in PAUSES_S:
            try:
                return self._start(schema, statement, parameters)
            except psycopg.OperationalError as error:
                if not _is_lost(error) and error.sqlstate not in COLLIDED:
                    raise
            self._pool.check()  # where one is lost, all are
            time.sleep(pause_s)
        return self._start(schema, statement, parameters)

    def _start(
        self, schema: str, statement: str, parameters: Sequence[Any] | None
    ) -> tuple[PooledConnection, psycopg.Cursor[tuple[Any, ...]]]:
        connection = self._pool.getconn()
        try:
            if connection.schema != schema:
                path = sql.SQL("SET search_path TO {}").format(sql.Identifier(schema))
                connection.execute(path, prepare=False)
                connection.schema = schema
            # several statements in one cannot be prepared; they have no parameters
            prepare = None if parameters is not None else False
            return connection, connection.execute(statement.encode(), parameters, prepare=prepare)
        except BaseException:
            self.give_back(connection)
            raise

    def give_back(self, connection: PooledConnection) -> None:
        if connection.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
            with suppress(psycopg.OperationalError):
                connection.rollback()
        self._pool.putconn(connection)

    def store_schemas(self) -> list[str]:
        """Those that hold a store."""
        find = (
            "SELECT n.nspname::text FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid"
            " WHERE c.relname = 'entry_text' AND c.relkind = 'r' AND has_schema_privilege(n.oid, 'USAGE') ORDER BY 1"
        )
        with self.in_our_words(), self._pool.connection() as connection:
            return [row[0] for row in connection.execute(find)]

    def close(self) -> None:
        self._pool.close()

    def _configure(self, connection: PooledConnection) -> None:
        adapt_texts(connection)
        milliseconds = int(self._busy_timeout_s * 1000)
        # a plan for the words and filters at hand beats one for any: some words are in every text, some in none;
        # and it is used once, so that compiling it takes longer than running it
        connection.execute(
            f"SET lock_timeout = {milliseconds}; SET plan_cache_mode = force_custom_plan; SET jit = off;"
            " SET client_min_messages = warning; SET hnsw.iterative_scan = strict_order;"
            " SET hnsw.ef_search = 200; SET hnsw.max_scan_tuples = 40000"
        )

    @contextmanager
    def in_our_words(self, *, when_lost: str = TRY_AGAIN) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise _in_our_words(error, self.name, when_lost) from error


def _name(url: str) -> str:
    """The database without its user's password."""
    parts = conninfo_to_dict(url)
    return f"{parts.get('dbname') or 'the default database'} on {parts.get('host') or 'this machine'}"


def _checked(connection: psycopg.Connection[Any]) -> str:
    """Make sure of what a store needs; the schema of pgvector."""
    (encoding,) = connection.execute("SHOW server_encoding").fetchone() or ("",)
    if encoding != "UTF8":
        raise Unavailable(
            f"The database keeps texts as {encoding}; Backstory needs UTF8.",
            hint="Create the database with ENCODING 'UTF8'.",
        )
    find = "SELECT extversion, extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'"
    if not (found := connection.execute(find).fetchone()):
        try:
            # two servers that start together must not both create it
            connection.execute("BEGIN; SELECT pg_advisory_xact_lock(hashtext('backstory extension'))")
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            connection.execute("COMMIT")
        except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile) as error:
            raise Unavailable(
                "The database server has no pgvector.", hint="Install the extension pgvector on the server."
            ) from error
        except psycopg.errors.InsufficientPrivilege as error:
            raise NotAllowed(
                "The database has no pgvector, and this user may not create it.",
                hint="Ask its owner to run: CREATE EXTENSION vector",
            ) from error
        found = connection.execute(find).fetchone()
    assert found is not None
    version, schema = found
    if tuple(map(int, version.split(".")[:2])) < OLDEST_PGVECTOR:
        raise Unavailable(
            f"The database has pgvector {version}; Backstory needs 0.8 or newer.",
            hint="Install a newer one on the server, then run: ALTER EXTENSION vector UPDATE",
        )
    return str(schema)


def _is_lost(error: psycopg.Error) -> bool:
    if not isinstance(error, psycopg.OperationalError) or isinstance(error, PoolClosed | PoolTimeout):
        return False
    return error.sqlstate is None or error.sqlstate in LOST or error.sqlstate.startswith("08")


def _in_our_words(error: psycopg.Error, name: str, when_lost: str) -> BackstoryError:
    code = error.sqlstate or ""
    if code == "53100":
        return StorageFull(
            f"There is no space left for {name}.", hint="Nothing was saved; free some space and try again."
        )
    if code == "55P03":
        return TimedOut("The store is busy: another server holds it for too long.", hint="Try again.")
    if code in ("42501", "25006", "28000", "28P01"):
        return NotAllowed(f"The database refused: {_said(error)}.", hint="Check the user and its rights.")
    if code == "54000":
        return InvalidInput(f"A key, name or path is too long for the database: {_said(error)}.")
    if isinstance(error, PoolTimeout):
        return TimedOut(f"No connection to {name} became free in time.", hint=TRY_AGAIN)
    if code in COLLIDED:
        return Unavailable("Another server changed the same at the same time.", hint=when_lost)
    if _is_lost(error):
        return Unavailable(f"The connection to {name} is lost: {_said(error)}.", hint=when_lost)
    return Unavailable(f"The store could not answer: {_said(error)}.", hint=TRY_AGAIN)


def _said(error: psycopg.Error) -> str:
    lines = str(error.diag.message_primary or error).splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")
