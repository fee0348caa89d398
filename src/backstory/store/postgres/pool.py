"""Connections to one PostgreSQL database, shared by the stores of all tenants, and translation of its errors.

Nothing relies on the state of a database session: a pooler such as PgBouncer in transaction mode runs each
transaction in another one, which served another tenant before. A store gets a connection only through `read` or
`begin`, and both set the tenant inside the transaction that uses it. `maintain` runs statements that name their
tables in full.

A lost connection is replaced, and a statement is sent again only where repeating it is safe: for reads, and for the
beginning of a transaction.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, TypeVar

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from ...domain.errors import BackstoryError, InvalidInput, NotAllowed, StorageFull, TimedOut, Unavailable
from ..migrate import LATEST
from .dialect import adapt_values
from .layout import SCHEMA

MOST_CONNECTIONS = 16  # what two cores of a database keep busy; more clients wait for one of these
OLDEST_PGVECTOR = (0, 8)  # iterative scans: before it, a filter made the nearest disappear
PAUSES_S = (0.02, 0.1, 0.3, 1.0, 2.0, 4.0)  # a database restarts within these
RECONNECT_S = 30.0  # it tries ever more rarely; after so long whoever asks next begins anew
LOST = {"53300", "57P01", "57P02", "57P03"}  # too many connections, shut down, crashed, starting
COLLIDED = {"40001", "40P01"}  # serialization failure, deadlock
OPTIONS: dict[str, Any] = {
    "autocommit": True,  # we say BEGIN ourselves
    "prepare_threshold": None,  # a prepared statement belongs to a session
    "client_encoding": "utf8",
    "application_name": "backstory",
    "connect_timeout": 10,
    # a machine that vanished says nothing: without these a read would wait for it for hours
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}
TRY_AGAIN = "Try again; `backstory doctor` looks for the cause."


LOCAL_SETTINGS = {
    "backstory.level": f"{LATEST}",  # which triggers compare with what the store needs
    "jit": "off",  # a plan is used once, so that compiling it takes longer than running it
    "hnsw.iterative_scan": "strict_order",
    "hnsw.ef_search": "200",
    "hnsw.max_scan_tuples": "40000",
}
"""Settings of every transaction, in addition to the tenant, the schema and the lock timeout."""

PooledConnection = psycopg.Connection[tuple[Any, ...]]
T = TypeVar("T")


class PostgresPool:
    def __init__(
        self, url: str, *, busy_timeout_s: float = 30.0, most_connections: int = MOST_CONNECTIONS
    ) -> None:
        self._lock_timeout_ms = int(busy_timeout_s * 1000)
        try:
            self.name = _name(url)
        except psycopg.ProgrammingError:
            raise InvalidInput(
                "database_url is not a URL of PostgreSQL.",
                hint="Use postgresql://user:password@host/database.",
                field="database_url",
            ) from None
        self.is_prepared = False
        """True if the shared tables are up to date; the first store to be opened prepares them."""
        with self.in_our_words(), psycopg.connect(url, **OPTIONS) as first:
            _check_transactions(first, self.name)
            self.vector_schema = _checked(first)
        self._pool: ConnectionPool[PooledConnection] = ConnectionPool(
            url,
            kwargs=OPTIONS,
            min_size=1,
            max_size=most_connections,
            num_workers=1,
            timeout=busy_timeout_s,
            reconnect_timeout=RECONNECT_S,
            configure=adapt_values,
            open=True,
        )

    def read(self, tenant: int, statement: bytes, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Run one statement that may be run twice, as a transaction of its own, and fetch its rows."""
        settings = _local_settings(tenant, self._lock_timeout_ms)

        def fetch(connection: PooledConnection) -> list[tuple[Any, ...]]:
            rows = _in_one_transaction(connection, settings, statement, parameters)
            self.give_back(connection)
            return rows

        return self._on_a_connection(fetch)

    def begin(self, tenant: int, lock: tuple[int, int] | None = None) -> PooledConnection:
        """A connection in a new transaction; the caller ends the transaction and returns the connection.

        `lock` are the two numbers of an advisory lock that the transaction holds."""
        statements = f"BEGIN; {_local_settings(tenant, self._lock_timeout_ms)}"
        if lock:
            statements += "; SELECT pg_advisory_xact_lock({:d}, {:d})".format(*lock)

        def begin(connection: PooledConnection) -> PooledConnection:
            connection.execute(statements.encode())
            return connection

        return self._on_a_connection(begin)

    def maintain(self, command: str, relation: str, rest: str = "", *, schema: str = SCHEMA) -> None:
        """Run a command that no transaction may contain, for example VACUUM, on a table or an index."""
        statement = f"{command} {sql.Identifier(schema, relation).as_string()}{rest}"

        def run(connection: PooledConnection) -> None:
            connection.execute(statement.encode())
            self.give_back(connection)

        self._on_a_connection(run)

    def _on_a_connection(self, run: Callable[[PooledConnection], T]) -> T:
        """Borrow a connection for `run`, which returns or retains it. A lost connection is replaced."""
        for pause_s in PAUSES_S:
            try:
                return self._once(run)
            except psycopg.OperationalError as error:
                if not _is_lost(error) and error.sqlstate not in COLLIDED:
                    raise
            self._pool.check()  # where one is lost, all are
            time.sleep(pause_s)
        return self._once(run)

    def _once(self, run: Callable[[PooledConnection], T]) -> T:
        connection = self._pool.getconn()
        try:
            return run(connection)
        except BaseException:
            self.give_back(connection)
            raise

    def give_back(self, connection: PooledConnection) -> None:
        if connection.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
            with suppress(psycopg.OperationalError):
                connection.rollback()
        self._pool.putconn(connection)

    def tenants(self) -> list[str]:
        """The names of all tenants, including those whose store still has a schema of its own."""
        directory = f"{SCHEMA}.tenant"
        separate = (
            "SELECT n.nspname::text FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid"
            " WHERE c.relname = 'entry_text' AND c.relkind = 'r' AND has_schema_privilege(n.oid, 'USAGE')"
        )
        with self.in_our_words(), self._pool.connection() as connection:
            names = {row[0] for row in connection.execute(separate)}
            if connection.execute("SELECT to_regclass(%s)", [directory]).fetchone() != (None,):
                names |= {row[0] for row in connection.execute(f"SELECT name FROM {directory}".encode())}
        return sorted(names)

    def close(self) -> None:
        self._pool.close()

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


def _local_settings(tenant: int, lock_timeout_ms: int = 0) -> str:
    """A statement that makes a tenant the only one, until the transaction ends."""
    return f"SELECT set_config('backstory.tenant', '{tenant:d}', true), {_common_settings(lock_timeout_ms)}"


@lru_cache
def _common_settings(lock_timeout_ms: int) -> str:
    # named last, pg_temp is not looked at first: what another program left in this session hides no table
    settings = {"search_path": f"{SCHEMA}, pg_temp", "lock_timeout": f"{lock_timeout_ms}"} | LOCAL_SETTINGS
    return ", ".join(f"set_config('{name}', '{value}', true)" for name, value in settings.items())


def _in_one_transaction(
    connection: psycopg.Connection[Any], settings: str, statement: bytes, parameters: Sequence[Any]
) -> list[tuple[Any, ...]]:
    """The rows of a statement that runs with local settings.

    All that a pipeline sends is one transaction, and one round trip.
    """
    with connection.pipeline():
        connection.execute(settings.encode())
        cursor = connection.execute(statement, parameters)
    return cursor.fetchall()


def _check_transactions(connection: psycopg.Connection[Any], name: str) -> None:
    """Refuse a pooler that runs the statements of one transaction in several sessions: tenants would be mixed."""
    settings, question = _local_settings(-1), b"SELECT current_setting('backstory.tenant')"
    expected = ("-1",)
    try:
        connection.execute(f"BEGIN; {settings}".encode())
        is_whole = connection.execute(question).fetchone() == expected
        connection.execute("COMMIT")
        is_whole = is_whole and _in_one_transaction(connection, settings, question, ()) == [expected]
    except psycopg.errors.ProtocolViolation:  # the answer of PgBouncer where `pool_mode = statement`
        is_whole = False
    if not is_whole:
        raise Unavailable(
            f"The pooler before {name} does not keep a transaction together.",
            hint="Set its pool_mode to transaction or session, or use the address of the database itself.",
        )


def _checked(connection: psycopg.Connection[Any]) -> str:
    """Check the requirements of a store, and return the schema of pgvector."""
    (encoding,) = connection.execute("SHOW server_encoding").fetchone() or ("",)
    if encoding != "UTF8":
        raise Unavailable(
            f"The database keeps texts as {encoding}; Backstory needs UTF8.",
            hint="Create the database with ENCODING 'UTF8'.",
        )
    find = "SELECT extversion, extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'"
    if not (row := connection.execute(find).fetchone()):
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
        row = connection.execute(find).fetchone()
    assert row is not None
    version, schema = row
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
