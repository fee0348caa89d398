"""A write lock that is not given in time is the same event on every database."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from backstory.domain.errors import TimedOut
from backstory.domain.filters import Filter
from backstory.store import Store
from backstory.store.postgres import PostgresStore
from backstory.store.postgres.pool import PostgresPool
from backstory.store.sqlite import SqliteStore

from ..doubles import make_memory
from ..postgres_server import tenant_of, url

IMPATIENT_S = 0.05
Opening = Callable[[Path], AbstractContextManager[Store]]


@contextmanager
def sqlite_store(path: Path) -> Iterator[Store]:
    with closing(SqliteStore(path, busy_timeout_s=IMPATIENT_S)) as store:
        yield store


@contextmanager
def postgres_store(path: Path) -> Iterator[Store]:
    with (
        closing(PostgresPool(url(), busy_timeout_s=IMPATIENT_S, most_connections=1)) as database,
        closing(PostgresStore(database, tenant=tenant_of(path))) as store,
    ):
        yield store


@contextmanager
def in_a_transaction(store: Store) -> Iterator[None]:
    """Another thread is in one meanwhile."""
    begun, finished = threading.Event(), threading.Event()

    def hold() -> None:
        with store.transaction():
            begun.set()
            finished.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    begun.wait()
    try:
        yield
    finally:
        finished.set()
        thread.join()


@pytest.mark.parametrize("open_store", [sqlite_store, postgres_store])
def test_a_lock_that_is_not_given_in_time_is_a_timeout(open_store: Opening, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with open_store(path) as holder, open_store(path) as store:
        with in_a_transaction(holder):
            assert not store.in_transaction
            with pytest.raises(TimedOut, match="busy"):
                store.memories.put([make_memory("a")])
            assert store.entries.count(Filter()) == 0, "readers never wait"
        store.memories.put([make_memory("a")])
        assert store.entries.count(Filter()) == 1


@pytest.mark.parametrize("open_store", [sqlite_store, postgres_store])
def test_a_thread_knows_whether_it_is_in_a_transaction(open_store: Opening, tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        assert not store.in_transaction
        with in_a_transaction(store):
            assert not store.in_transaction, "another thread's does not count"
        with store.transaction():
            with store.transaction():
                assert store.in_transaction
            assert store.in_transaction
        assert not store.in_transaction
