"""Connections to one PostgreSQL database, shared by the stores of all tenants, and translation of its errors.

Nothing relies on the state of a database session: a pooler such as PgBouncer in transaction mode runs each
transaction in another one, which served another tenant before. Stores get connections only through `read` or
`begin`, and both set the tenant inside the transaction that uses the connection. `maintain` runs statements that name their
tables in full.

A lost connection is replaced, and a statement is sent again only where repeating it is safe: for reads, and for the
beginning of a transaction. A server that was the primary and is now a standby counts as lost: it refuses changes, and
what it reads may be old. Both are repeated until another server has taken over, or the patience of the caller ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import chain, repeat
from typing import Any, TypeVar

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolTimeout

from ...domain.errors import InvalidInput, NotAllowed, Unavailable
from ..database import PoolFigures
from ..migrate import LATEST
from .dialect import adapt_values
from .errors import COLLIDED, TRY_AGAIN, Demoted, in_our_words, is_lost
from .layout import SCHEMA
from .tenants import Tenant

MOST_CONNECTIONS = 16  # enough to use two cores of a database; further clients wait for one of these
OLDEST_PGVECTOR = (0, 8)  # the first version with iterative scans: before it, a filter could hide the nearest
# pauses before each repetition; the last one is repeated until patience ends
PAUSES_S = (0.02, 0.1, 0.3, 1.0)
RESTART_S = 8.0  # enough for a database to restart; callers with less patience wait this long too
RECONNECT_S = 2.0  # the pool retries ever more rarely; after this time the next caller starts again
# lifetime of a connection; PostgreSQL's memory for it grows by a half as statistics are renewed
LIFETIME_S = 600.0
TURN_S = 3.0  # time limit to get one connection; a caller without one asks again, which restarts the pool
OPTIONS: dict[str, Any] = {
    "autocommit": True,  # we send BEGIN ourselves
    "prepare_threshold": None,  # a prepared statement belongs to a session
    "client_encoding": "utf8",
    "application_name": "backstory",
    "connect_timeout": 10,
    # without these a read would wait for hours for a machine that vanished
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,  # milliseconds: keepalives are not sent while data is unacknowledged
}
STANDBY_WAIT_S = 1.0  # time limit for a connection or a lock: the primary would have answered by then
STANDBY_REST_S = 5.0  # seconds for which a standby that did not answer is not used
COMMITS = "commit"
"""The name of the counter of a tenant's commits."""
_STANDBY_STATE = (
    "SELECT current_setting('backstory.tenant'), (SELECT made_at FROM tenant WHERE number = {0:d} AND name = %s),"
    " (SELECT value FROM counter WHERE tenant_number = {0:d} AND name = %s)"
)

LOCAL_SETTINGS = {
    "backstory.level": f"{LATEST}",  # triggers compare it with the level that the store requires
    "jit": "off",  # a plan is used once, so compiling it would take longer than running it
    "hnsw.iterative_scan": "strict_order",
    "hnsw.ef_search": "200",
    "hnsw.max_scan_tuples": "40000",
}
"""Settings of every transaction, in addition to the tenant, the schema and the lock timeout."""

PooledConnection = psycopg.Connection[tuple[Any, ...]]
T = TypeVar("T")


class PostgresPool:
    def __init__(
        self,
        url: str,
        *,
        read_url: str = "",
        busy_timeout_s: float = 30.0,
        most_connections: int = MOST_CONNECTIONS,
    ) -> None:
        """`read_url` leads to a standby, or to several, for searches."""
        self._lock_timeout_ms = int(busy_timeout_s * 1000)
        self._patience_s = busy_timeout_s
        self.name = _name(url, "database_url")
        standby_name = _name(read_url, "read_url") if read_url else ""
        self.is_prepared = False
        """True if the shared tables are up to date; the first store to be opened prepares them."""
        with self.in_our_words(), psycopg.connect(url, **OPTIONS) as first:
            _check_transactions(first, self.name)
            self.vector_schema = _checked(first)
        self._pool = _open_pool(
            url, OPTIONS, fewest=1, most=most_connections, timeout_s=busy_timeout_s, reconnect_s=RECONNECT_S
        )
        self.standby = StandbyPool(read_url, standby_name) if read_url else None

    def read(self, tenant: int, statement: bytes, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Run one statement that may be run twice, as a transaction of its own, and fetch its rows."""
        settings = _local_settings(tenant, self._lock_timeout_ms)

        def fetch(connection: PooledConnection) -> list[tuple[Any, ...]]:
            rows = _in_one_transaction(connection, settings, statement, parameters, self.name)
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
            cursor = connection.execute(statements.encode())
            cursor.nextset()  # of BEGIN there are no rows
            _check_primary(cursor, self.name)
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
        give_up_at: float | None = None
        for pause_s in chain(PAUSES_S, repeat(PAUSES_S[-1])):
            try:
                return self._once(run)
            except psycopg.OperationalError as error:
                now = time.monotonic()
                give_up_at = give_up_at or now + max(self._patience_s, RESTART_S)
                if not (is_lost(error) or error.sqlstate in COLLIDED) or now + pause_s > give_up_at:
                    raise
                self._renew(error)
            time.sleep(pause_s)
        raise AssertionError("the last pause is repeated")

    def _renew(self, error: psycopg.Error) -> None:
        """Replace connections: where one is lost, others are. Those to a standby work, and must be closed for their kind."""
        if isinstance(error, Demoted):
            self.drain()
        elif is_lost(error):
            self._pool.check()

    def drain(self) -> None:
        """Replace every connection, those in use when they are returned."""
        self._pool.drain()

    def _once(self, run: Callable[[PooledConnection], T]) -> T:
        connection = self._connection()
        try:
            return run(connection)
        except BaseException:
            self.give_back(connection)
            raise

    def _connection(self) -> PooledConnection:
        """A free connection, waited for as long as the caller has patience."""
        give_up_at = time.monotonic() + self._patience_s
        while (left_s := give_up_at - time.monotonic()) > TURN_S:
            with suppress(PoolTimeout):
                return self._pool.getconn(timeout=TURN_S)
        return self._pool.getconn(timeout=max(left_s, 0.001))

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

    def figures(self) -> PoolFigures:
        stats = self._pool.get_stats()
        idle = stats.get("pool_available", 0)
        return PoolFigures(
            used=max(stats.get("pool_size", 0) - idle, 0),
            idle=idle,
            awaited=stats.get("requests_waiting", 0),
            standby_searches=self.standby.searches if self.standby is not None else 0,
            primary_searches=self.standby.failures if self.standby is not None else 0,
        )

    def close(self) -> None:
        self._pool.close()
        if self.standby is not None:
            self.standby.close()

    @contextmanager
    def in_our_words(self, *, when_lost: str = TRY_AGAIN) -> Iterator[None]:
        with in_our_words(self.name, when_lost=when_lost):
            yield


class StandbyPool:
    """Connections to a standby, or to several behind one address, which may be away at any time: `standby.py`."""

    def __init__(self, url: str, name: str) -> None:
        self.name = name
        self.searches = 0
        self.failures = 0
        """Searches that the primary had to run."""
        self._rests_until = 0.0
        options = OPTIONS | {"connect_timeout": 2}
        # no connection before the first search: the standby may be away while the server starts
        self._pool = _open_pool(
            url,
            options,
            fewest=0,
            most=MOST_CONNECTIONS,
            timeout_s=STANDBY_WAIT_S,
            reconnect_s=STANDBY_WAIT_S,
        )

    @property
    def is_resting(self) -> bool:
        """True while the standby is not used, because it did not answer."""
        return time.monotonic() < self._rests_until

    def rest(self) -> None:
        self._rests_until = time.monotonic() + STANDBY_REST_S

    def read(
        self, tenant: Tenant, statement: bytes, parameters: Sequence[Any]
    ) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]]:
        """The state of a tenant on the standby, and the rows of a statement, which are at least as new."""
        settings = _local_settings(tenant.number, int(STANDBY_WAIT_S * 1000)).encode()
        state = _STANDBY_STATE.format(tenant.number).encode()
        with in_our_words(self.name), self._pool.connection() as connection:
            with connection.pipeline():
                connection.execute(settings)
                first = connection.execute(state, [tenant.name, COMMITS])
                cursor = connection.execute(statement, parameters)
            return first.fetchall()[0], cursor.fetchall()

    def close(self) -> None:
        self._pool.close()


def _open_pool(
    url: str, options: dict[str, Any], *, fewest: int, most: int, timeout_s: float, reconnect_s: float
) -> ConnectionPool[PooledConnection]:
    return ConnectionPool(
        url,
        kwargs=options,
        min_size=fewest,
        max_size=most,
        num_workers=1,
        timeout=timeout_s,
        reconnect_timeout=reconnect_s,
        max_lifetime=LIFETIME_S,
        configure=adapt_values,
        open=True,
    )


def _name(url: str, field: str) -> str:
    """The database without its user's password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise InvalidInput(
            f"{field} is not a URL of PostgreSQL.",
            hint="Use postgresql://user:password@host/database.",
            field=field,
        ) from None
    return f"{parts.get('dbname') or 'the default database'} on {parts.get('host') or 'this machine'}"


def _local_settings(tenant: int, lock_timeout_ms: int = 0) -> str:
    """A statement that restricts the transaction to one tenant. The last column shows whether the server is a standby."""
    common = _common_settings(lock_timeout_ms)
    return f"SELECT set_config('backstory.tenant', '{tenant:d}', true), {common}, pg_is_in_recovery()"


@lru_cache
def _common_settings(lock_timeout_ms: int) -> str:
    # pg_temp is named last, because it is otherwise searched first: a temporary table of another program must hide none of ours
    settings = {"search_path": f"{SCHEMA}, pg_temp", "lock_timeout": f"{lock_timeout_ms}"} | LOCAL_SETTINGS
    return ", ".join(f"set_config('{name}', '{value}', true)" for name, value in settings.items())


def _in_one_transaction(
    connection: psycopg.Connection[Any],
    settings: str,
    statement: bytes,
    parameters: Sequence[Any],
    name: str,
) -> list[tuple[Any, ...]]:
    """The rows of a statement that runs with local settings on the primary.

    All that a pipeline sends is one transaction, and one round trip.
    """
    with connection.pipeline():
        first = connection.execute(settings.encode())
        cursor = connection.execute(statement, parameters)
    _check_primary(first, name)
    return cursor.fetchall()


def _check_primary(settings: psycopg.Cursor[Any], name: str) -> None:
    """Raise Demoted for the answer of a standby to `_local_settings`."""
    ((*_, is_standby),) = settings.fetchall()
    if is_standby:
        raise Demoted(f"the server of {name} is a standby, which changes nothing")


def _check_transactions(connection: psycopg.Connection[Any], name: str) -> None:
    """Refuse a pooler that runs the statements of one transaction in several sessions: tenants would be mixed."""
    settings, question = _local_settings(-1), b"SELECT current_setting('backstory.tenant')"
    expected = ("-1",)
    try:
        connection.execute(f"BEGIN; {settings}".encode())
        is_whole = connection.execute(question).fetchone() == expected
        connection.execute("COMMIT")
        is_whole = is_whole and _in_one_transaction(connection, settings, question, (), name) == [expected]
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
