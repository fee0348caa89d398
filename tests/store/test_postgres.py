"""What is PostgreSQL's own: tenants, lost connections, an index that answers approximately, failures in our words."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import psycopg
import pytest

from backstory.domain.entries import EntryVectors, TextFields
from backstory.domain.errors import Incompatible, InvalidInput, NotAllowed, Unavailable
from backstory.domain.filters import Filter, Page
from backstory.domain.words import Unit
from backstory.store import migrate
from backstory.store.postgres import PostgresStore, vectors
from backstory.store.postgres.pool import PostgresPool

from .. import postgres_server
from ..doubles import make_conversation, make_memory, make_messages
from .test_vectors import unit_vectors

TENANT = "only_postgres"
Admin = psycopg.Connection[tuple[object, ...]]
"""A connection past the store."""


@pytest.fixture
def pool() -> PostgresPool:
    return postgres_server.pool()


@pytest.fixture
def admin() -> Iterator[Admin]:
    with psycopg.connect(postgres_server.admin_url(), autocommit=True) as connection:
        yield connection
    for tenant in (TENANT, f"{TENANT}_two"):
        postgres_server.drop(tenant)


@pytest.fixture
def store(pool: PostgresPool, admin: Admin) -> PostgresStore:
    return PostgresStore(pool, tenant=TENANT)


def texts(store: PostgresStore) -> dict[str, str]:
    return {memory.id: memory.text for memory in store.memories.find(Filter(), Page())}


def lose_connections(admin: Admin) -> None:
    admin.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )


def test_stores_of_one_database_never_meet(store: PostgresStore, pool: PostgresPool) -> None:
    other = PostgresStore(pool, tenant=f"{TENANT}_two")
    store.memories.put([make_memory("same", "mine", key="k")])
    other.memories.put([make_memory("same", "yours", key="k")])
    assert (texts(store), texts(other)) == ({"same": "mine"}, {"same": "yours"})
    assert not len(store.text.match(Unit(("yours",)), TextFields.BOTH))
    assert other.memories.delete(Filter()) == 1
    assert texts(store) == {"same": "mine"}


def restored(url: str) -> PostgresStore:
    """The only tenant of a database whose tables are gone, and made anew as by a restore."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET client_min_messages = warning")
        connection.execute("DROP SCHEMA backstory CASCADE")
    return PostgresStore(url, tenant=TENANT)


def test_words_of_a_database_that_was_restored_are_read_anew() -> None:
    with postgres_server.own_database("restored") as url, closing(PostgresStore(url, tenant=TENANT)) as store:
        store.memories.put([make_memory("a", "former")])
        assert len(store.text.holding(Unit(("former",)))) == 1
        assert len(store.text.holding(Unit(("present",)))) == 0
        with closing(restored(url)) as other:
            other.memories.put([make_memory("b", "present")])
        assert len(store.text.holding(Unit(("former",)))) == 0
        assert len(store.text.holding(Unit(("present",)))) == 1


def test_conversations_of_a_database_that_was_restored_are_told_apart_anew() -> None:
    with postgres_server.own_database("restored") as url, closing(PostgresStore(url, tenant=TENANT)) as store:

        def held() -> set[str | None]:
            return store.entries.all_threads(store.text.holding(Unit(("walrus",))))

        store.conversations.put(make_conversation("former"), make_messages("former", "a walrus"))
        assert held() == {"former"}
        with closing(restored(url)) as other:
            other.conversations.put(make_conversation("present"), make_messages("present", "a walrus"))
        assert held() == {"present"}


def test_a_tenant_that_was_deleted_while_it_was_open_is_not_written(store: PostgresStore) -> None:
    postgres_server.drop(TENANT)
    with pytest.raises(Unavailable, match="was deleted while it was open"):
        store.memories.put([make_memory("lost")])


@pytest.mark.parametrize("name", ["", "Upper", 'quo"te', "a;b", "1st", "x" * 64, "with space"])
def test_a_tenant_has_a_plain_name(pool: PostgresPool, name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be the name of a tenant"):
        PostgresStore(pool, tenant=name)


@pytest.mark.parametrize(
    "text", ["100% of ?", "%s %(name)s %%", "why? 'quoted' ?", "a\0b", "\ufdd0 \ufdd00 \ufdd01"]
)
def test_signs_that_mean_something_to_the_driver_are_only_text(store: PostgresStore, text: str) -> None:
    memory = make_memory("a", text, key=text, tags=(text,), metadata={text: text}, session="s")
    store.memories.put([memory])
    assert store.memories.find(Filter(keys=(text,)), Page()) == [memory]
    assert store.memories.with_metadata(text)
    copied = store.checkpoints.copy(Filter(), [])
    manifest = json.loads(store.files.read_blobs([copied.root])[copied.root])
    (chunk,) = store.files.read_blobs(manifest["chunks"]).values()
    assert text in json.loads(chunk)


def test_a_lost_connection_is_replaced_unnoticed(store: PostgresStore, admin: Admin) -> None:
    store.memories.put([make_memory("before")])
    lose_connections(admin)
    assert store.entries.count(Filter()) == 1
    lose_connections(admin)
    store.memories.put([make_memory("after")])
    assert store.entries.count(Filter()) == 2


def test_a_connection_lost_in_a_transaction_is_an_error_that_says_what_to_do(
    store: PostgresStore, admin: Admin
) -> None:
    def lose_it_half_way() -> None:
        with store.transaction():
            store.memories.put([make_memory("half")])
            lose_connections(admin)
            store.memories.put([make_memory("rest")])

    with pytest.raises(Unavailable, match="is lost") as caught:
        lose_it_half_way()
    assert caught.value.hint == "Nothing was saved; try again."
    assert store.entries.count(Filter()) == 0
    store.memories.put([make_memory("again")])


def test_a_restarted_database_is_waited_for(store: PostgresStore) -> None:
    store.memories.put([make_memory("before")])
    restarting = threading.Thread(target=postgres_server.restart)
    restarting.start()
    while restarting.is_alive():
        assert store.entries.count(Filter()) == 1
    restarting.join()
    postgres_server.restart()
    store.memories.put([make_memory("after")])
    assert texts(store).keys() == {"before", "after"}
    assert store.problems() == []


def test_a_failure_that_is_caught_inside_a_transaction_still_undoes_it(store: PostgresStore) -> None:
    def swallow_it() -> None:
        with store.transaction():
            store.memories.put([make_memory("a")])
            with pytest.raises(Unavailable):
                store.database.rows("SELECT nonsense")

    with pytest.raises(Unavailable, match="part of it failed"):
        swallow_it()
    assert store.entries.count(Filter()) == 0


def test_writers_and_embedders_at_once_neither_fail_nor_lose_anything(store: PostgresStore) -> None:
    space, vector = store.vectors.open_space("model"), unit_vectors(1)

    def write(name: str) -> None:
        for number in range(20):
            store.memories.put(
                [make_memory(f"{name}{number % 7}", f"text {number}"), make_memory("shared", name)]
            )
            store.memories.delete(Filter(ids=(f"{name}{number % 3}",)))

    def embed(lease_ms: int) -> None:
        for _ in range(30):
            waiting = store.vectors.claim(space, 8, lease_ms=lease_ms)
            store.vectors.put(space, [EntryVectors(w.entry, w.revision, vector) for w in waiting])

    with ThreadPoolExecutor(6) as pool:
        jobs = [pool.submit(write, name) for name in "abc"]
        jobs += [pool.submit(embed, lease_ms) for lease_ms in (0, 0, 60_000)]
    for job in jobs:
        job.result()
    assert store.problems() == []
    while waiting := store.vectors.claim(space, 100, lease_ms=0):
        store.vectors.put(space, [EntryVectors(w.entry, w.revision, vector) for w in waiting])
    rows = store.database.rows("SELECT entry, count(*) FROM embedding GROUP BY entry ORDER BY entry")
    assert rows == [(entry, 1) for entry in sorted(store.vectors.nearest(space, vector[0], Filter(), 100))]


def test_the_index_finds_what_a_filter_lets_through(admin: Admin, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recall against comparing all, for a filter too wide for that; with clusters, as texts have them."""
    monkeypatch.setattr(vectors, "NARROW", 1)
    monkeypatch.setattr(vectors, "INDEXED_VECTORS", 100)
    random = np.random.default_rng(7)
    centres = unit_vectors(40)
    clustered = centres[random.integers(0, 40, 2000)] + 0.04 * random.standard_normal((2000, 384))
    clustered = (clustered / np.linalg.norm(clustered, axis=1, keepdims=True)).astype(np.float32)
    # so few rows would be compared one by one
    with closing(
        PostgresPool(f"{postgres_server.url()}&options=-c%20enable_seqscan%3Doff%20-c%20enable_sort%3Doff")
    ) as eager:
        store = PostgresStore(eager, tenant=TENANT)
        space = store.vectors.open_space("model")
        store.memories.put(
            [make_memory(f"{n}", project="/tenth" if n % 10 == 0 else "/p") for n in range(len(clustered))]
        )
        waiting = store.vectors.claim(space, len(clustered), lease_ms=0)[::-1]
        store.vectors.put(
            space,
            [EntryVectors(w.entry, w.revision, v[None]) for w, v in zip(waiting, clustered, strict=True)],
        )
        numbers = [w.entry for w in waiting]
        found = 0
        for query in clustered[5:2000:100]:
            tenth = sorted(range(0, 2000, 10), key=lambda n: -float(clustered[n] @ query))[:10]
            near = store.vectors.nearest(space, query, Filter(projects=("/tenth",)), 10)
            found += len({numbers[n] for n in tenth} & near.keys())
        assert found / 200 >= 0.95
        assert "embedding_nearest" in str(
            store.database.rows(
                f"EXPLAIN SELECT v.v FROM embedding v WHERE space = {space}"
                f" ORDER BY v.code::public.halfvec(384) OPERATOR(public.<#>) ?::public.halfvec(384) LIMIT 10",
                [str(clustered[0].tolist())],
            )
        )


def test_a_very_long_text_is_found_by_its_last_words(store: PostgresStore) -> None:
    words = [f"word{number}" for number in range(30_000)]
    store.memories.put(
        [make_memory("long", " ".join([*words, "x" * 5_000, "the very end"])), make_memory("b")]
    )
    for unit in (
        Unit(("word29999",)),
        Unit(("word1979", "word1980")),
        Unit(("very", "end")),
        Unit(("x" * 5_000,)),
    ):
        (posting,) = store.text.postings([unit], 1_000)
        assert (posting.frequency, len(posting.entries)) == (1, 1)
    assert store.problems() == []


def test_a_newer_incompatible_database_is_refused() -> None:
    with postgres_server.own_database("newer") as url, closing(PostgresStore(url, tenant=TENANT)) as store:
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute("INSERT INTO backstory.migration VALUES (99, 'from the future', 99, 0)")
        with pytest.raises(Incompatible, match="newer Backstory"):
            PostgresStore(url, tenant=TENANT)
        with pytest.raises(Incompatible, match="newer Backstory"):
            store.memories.put([make_memory("a")])


def test_a_script_that_fails_changes_nothing(
    store: PostgresStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(migrate._SCRIPTS, tmp_path / "scripts")
    broken = "CREATE TABLE novelty (x TEXT);\nINSERT INTO missing VALUES (1);\n"
    (tmp_path / "scripts" / f"{migrate.LATEST + 1:04}_next.sql").write_text(broken)
    monkeypatch.setattr(migrate, "_SCRIPTS", tmp_path / "scripts")
    monkeypatch.setattr(migrate, "LATEST", migrate.LATEST + 1)
    with pytest.raises(Unavailable, match="missing"):
        PostgresStore(postgres_server.url(), tenant=TENANT)
    assert migrate.schema(store.database)[0] == migrate.LATEST - 1
    assert store.database.rows("SELECT to_regclass('novelty')") == [(None,)]


def test_a_text_that_is_not_in_an_index_is_a_problem(store: PostgresStore, admin: Admin) -> None:
    store.memories.put([make_memory("a", key="k")])
    for table in ("entry_text", "key_text"):
        statement = f"DELETE FROM backstory.{table} WHERE tenant_number = {store.database.tenant.number:d}"
        admin.execute(statement.encode())
    assert store.problems() == [
        "text index: 1 texts are not in the text index",
        "text index: 1 keys are not in the key index",
    ]


def test_a_backup_is_left_to_the_database(store: PostgresStore, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="pg_dump"):
        store.backup(tmp_path / "copy.db")


def test_a_database_that_cannot_be_reached_is_said_without_its_password() -> None:
    with pytest.raises(Unavailable) as caught:
        PostgresStore("postgresql://me:s3cret@127.0.0.1:1/nothing")
    assert "nothing on 127.0.0.1" in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_a_url_that_is_none_is_refused_without_its_password() -> None:
    with pytest.raises(InvalidInput) as caught:
        PostgresStore("postgresql://me:s3cret@[host/db")
    assert "s3cret" not in str(caught.value)


def test_a_user_who_may_not_create_pgvector_is_told_whom_to_ask(admin: Admin) -> None:
    admin.execute("CREATE DATABASE bare TEMPLATE template0")
    admin.execute("CREATE ROLE guest LOGIN")
    try:
        with pytest.raises(NotAllowed, match="CREATE EXTENSION vector"):
            PostgresPool(postgres_server.url().replace("member:@/memory", "guest:@/bare"))
    finally:
        admin.execute("DROP DATABASE bare")
        admin.execute("DROP ROLE guest")


def test_a_database_that_cannot_hold_every_language_is_refused(admin: Admin) -> None:
    admin.execute("CREATE DATABASE narrow ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    try:
        with pytest.raises(Unavailable, match="needs UTF8"):
            PostgresPool(postgres_server.url().replace("@/memory", "@/narrow"))
    finally:
        admin.execute("DROP DATABASE narrow")


def test_a_user_who_may_only_read_is_not_allowed(store: PostgresStore, admin: Admin) -> None:
    admin.execute("CREATE ROLE guest LOGIN")
    try:
        with pytest.raises(NotAllowed, match="permission denied"):
            PostgresStore(postgres_server.url().replace("member:@", "guest:@"), tenant=TENANT)
    finally:
        admin.execute("DROP ROLE guest")


WITHOUT_DRIVER = """
import sys
sys.modules["psycopg"] = None
from pathlib import Path
from backstory.app import open_store
from backstory.domain.errors import Unavailable
from backstory.settings import Settings
try:
    open_store(Settings(home=Path("."), project=Path("."), database_url="postgresql://host/db"))
except Unavailable as error:
    print(error)
"""


CHECKOUT = Path(__file__).resolve().parents[2]


def test_without_the_extra_the_error_says_what_to_install() -> None:
    ran = subprocess.run([sys.executable, "-c", WITHOUT_DRIVER], capture_output=True, text=True, check=True)
    assert f"pip install --editable '{CHECKOUT}[postgres]'" in ran.stdout


def test_some_hundred_entries_are_looked_up_by_their_numbers(store: PostgresStore, admin: Admin) -> None:
    store.memories.put([make_memory(f"m{n}") for n in range(1500)])
    admin.execute("ANALYZE backstory.entry")
    source, numbers = store.database.chosen_entries([*range(1, 301), 1])
    plan = store.database.rows(f"EXPLAIN SELECT e.text FROM {source} WHERE e.kind = 'memory'", [numbers])
    assert f"entry_p{store.database.tenant.part}_pkey" in str(plan)
    assert len(store.database.rows(f"SELECT e.n FROM {source} WHERE e.kind = 'memory'", [numbers])) == 300


def test_a_search_reads_few_words_that_are_not_sorted_into_the_index_yet(store: PostgresStore) -> None:
    sql = (
        "SELECT pg_size_bytes(split_part(unnest(reloptions), '=', 2) || 'kB') FROM pg_class WHERE relname = ?"
    )
    for index in ("entry_text_words", "key_text_words"):
        assert store.database.values(f"{sql} AND relnamespace = current_schema()::regnamespace", [index]) == [
            65536
        ]
