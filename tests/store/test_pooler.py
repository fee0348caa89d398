"""Stores behind a pooler that lends a server connection for one transaction: no state of a session is relied on."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from backstory.domain.entries import EntryVectors
from backstory.domain.errors import Unavailable
from backstory.domain.filters import Filter, Page
from backstory.store.postgres import PostgresStore
from backstory.store.postgres.pool import PostgresPool
from backstory.store.tables import VECTOR

from .. import pgbouncer, postgres_server
from ..doubles import make_memory
from .test_vectors import unit_vectors

TENANTS = tuple(f"pooled_{name}" for name in ("ann", "ben", "cid", "dee"))


@pytest.fixture
def url() -> Iterator[str]:
    folder = Path(postgres_server.server().pgdata)
    with pgbouncer.pooler(folder, database=postgres_server.DATABASE, user=postgres_server.MEMBER) as url:
        yield url
    for tenant in TENANTS:
        postgres_server.drop(tenant)


@pytest.fixture
def pool(url: str) -> Iterator[PostgresPool]:
    with closing(PostgresPool(url)) as pool:
        yield pool


def use(store: PostgresStore, tenant: str, rounds: int) -> list[str]:
    """What was read in a tenant that is not its own."""
    strange = []
    for number in range(rounds):
        store.memories.put([make_memory(f"{tenant} {number}", f"words of {tenant}")])
        strange += [
            memory.id
            for memory in store.memories.find(Filter(), Page(limit=500))
            if not memory.id.startswith(f"{tenant} ")
        ]
    return strange


def test_tenants_behind_a_transaction_pooler_never_meet(pool: PostgresPool) -> None:
    stores = {tenant: PostgresStore(pool, tenant=tenant) for tenant in TENANTS}
    with ThreadPoolExecutor(8) as threads:
        # two threads for each tenant write the same memories
        jobs = [threads.submit(use, store, tenant, 12) for tenant, store in [*stores.items()] * 2]
    assert [strange for job in jobs for strange in job.result()] == []
    for tenant, store in stores.items():
        memories = store.memories.find(Filter(), Page(limit=500))
        assert {memory.id for memory in memories} == {f"{tenant} {number}" for number in range(12)}


def test_what_another_program_left_in_a_session_is_not_looked_at(url: str, pool: PostgresPool) -> None:
    store = PostgresStore(pool, tenant=TENANTS[0])
    store.memories.put([make_memory("mine", "words")])
    with psycopg.connect(url, autocommit=True) as careless:
        # the session that rested longest is next, so each one is reached, however many the pooler has opened
        for _ in range(2 * pgbouncer.POOL_SIZE):
            careless.execute(
                "SET search_path TO public; CREATE TEMPORARY TABLE IF NOT EXISTS entry (LIKE backstory.entry)"
            )
    assert [memory.id for memory in store.memories.find(Filter(), Page())] == ["mine"]
    store.memories.put([make_memory("second", "words")])
    assert store.entries.count(Filter()) == 2


def test_vectors_are_found_and_forgotten_bytes_overwritten_behind_a_pooler(pool: PostgresPool) -> None:
    stores = [PostgresStore(pool, tenant=tenant) for tenant in TENANTS[:2]]
    vectors = unit_vectors(5)
    for store in stores:
        space = store.vectors.open_space("model")
        store.memories.put([make_memory(f"{number}", f"words {number}") for number in range(len(vectors))])
        waiting = store.vectors.claim(space, len(vectors), lease_ms=0)
        store.vectors.put(
            space,
            [EntryVectors(w.entry, w.revision, v[None]) for w, v in zip(waiting, vectors, strict=True)],
        )
        nearest = store.vectors.nearest(space, vectors[2], Filter(), 1)
        assert list(nearest) == [waiting[2].entry]
    with stores[0].transaction():
        stores[0].memories.delete(Filter())
        stores[0].residue.note(["entry", "entry_text", VECTOR])
    stores[0].residue.overwrite()
    assert [store.entries.count(Filter()) for store in stores] == [0, len(vectors)]
    assert stores[1].problems() == []


def test_a_pooler_that_does_not_keep_a_transaction_together_is_refused() -> None:
    folder = Path(postgres_server.server().pgdata)
    with (
        pgbouncer.pooler(folder, pool_mode="statement") as url,
        pytest.raises(Unavailable, match="does not keep a transaction together"),
    ):
        PostgresPool(url)
