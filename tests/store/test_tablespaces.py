"""Partitions on several tablespaces: the statement of docs/postgresql.md, run while tenants save and search."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from backstory.domain.filters import Filter
from backstory.domain.words import Unit
from backstory.store.postgres import PostgresStore
from backstory.store.postgres.layout import PARTITIONS, SCHEMA
from backstory.store.postgres.pool import PostgresPool

from .. import postgres_server
from ..doubles import make_memory

DOCS = Path(__file__).parents[2] / "docs" / "postgresql.md"
DISKS = ("disk_a", "disk_b")
PLACES = f"""
SELECT t.relname::text, coalesce(s.spcname::text, 'default') FROM pg_class t
JOIN pg_class c ON c.oid = t.oid OR c.oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = t.oid)
LEFT JOIN pg_tablespace s ON s.oid = c.reltablespace
WHERE t.relnamespace = '{SCHEMA}'::regnamespace AND t.relispartition AND t.relkind = 'r' ORDER BY 1, 2
"""


@contextmanager
def disks(admin: psycopg.Connection[Any]) -> Iterator[None]:
    admin.execute("SET allow_in_place_tablespaces = on")  # in folders of the data directory
    for disk in DISKS:
        admin.execute(f"CREATE TABLESPACE {disk} LOCATION ''".encode())
    try:
        yield
    finally:
        for disk in DISKS:
            admin.execute(f"DROP TABLESPACE {disk}".encode())


@pytest.fixture
def admin() -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(postgres_server.admin_url(), autocommit=True) as admin, disks(admin):
        yield admin


@pytest.fixture
def url(admin: psycopg.Connection[Any]) -> Iterator[str]:
    with postgres_server.own_database("spread") as url:
        yield url


def statement_of_the_docs() -> bytes:
    (statement,) = re.findall(
        r"```sql\n(SELECT format\('ALTER.*?)\\gexec", DOCS.read_text("utf-8"), re.DOTALL
    )
    return str(statement).encode()


def use(store: PostgresStore, is_over: threading.Event) -> int:
    """The number of memories that were saved; each is found at once."""
    number = 0
    while not is_over.is_set() or not number:
        store.memories.put([make_memory(f"{number}", f"word{number} of {store.database.tenant.name}")])
        assert len(store.text.holding(Unit((f"word{number}",)))) == 1
        number += 1
    return number


def test_partitions_are_put_on_several_tablespaces_while_tenants_save_and_search(
    url: str, admin: psycopg.Connection[Any]
) -> None:
    is_over = threading.Event()
    with (
        closing(PostgresPool(url)) as pool,
        psycopg.connect(url.replace(f"//{postgres_server.MEMBER}:", "//postgres:"), autocommit=True) as mover,
        ThreadPoolExecutor(2 * PARTITIONS) as threads,
    ):
        stores = [PostgresStore(pool, tenant=f"user-{number}") for number in range(2 * PARTITIONS)]
        working = [threads.submit(use, store, is_over) for store in stores]
        try:
            for (move,) in mover.execute(statement_of_the_docs()).fetchall():
                mover.execute(move.encode())
        finally:
            is_over.set()
        saved = [each.result() for each in working]
        assert [store.entries.count(Filter()) for store in stores] == saved
        assert [problem for store in stores for problem in store.problems()] == []
        places = mover.execute(PLACES.encode()).fetchall()
        assert {(table[-1], disk) for table, disk in places} == {
            (str(part), DISKS[part % len(DISKS)]) for part in range(PARTITIONS)
        }
        erase(stores[0])
        assert mover.execute(PLACES.encode()).fetchall() == places, "what is written anew stays on its disk"


def erase(store: PostgresStore) -> None:
    with store.transaction():
        store.memories.delete(Filter(ids=("0",)))
        store.residue.note(["entry", "entry_text"])
    store.residue.overwrite()
