"""Searches on a standby: used when it has the tenant's commits, and never when it lacks one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from backstory.app import open_store, read_settings
from backstory.domain.errors import InvalidInput, Unavailable
from backstory.domain.filters import Filter
from backstory.search.backlog import Backlog
from backstory.search.engine import Search
from backstory.store import Store
from backstory.store.postgres import PostgresStore
from backstory.store.postgres.pool import PostgresPool

from .. import postgres_server
from ..doubles import HashedWords, make_memory
from ..patience import until
from ..server.team import Web, listening
from ..standby_server import Standby, standby
from ..typed import typed

ANN, BEN = "user-ann", "user-ben"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with postgres_server.own_database("followed") as url:
        yield url


@pytest.fixture(scope="module")
def copy(url: str) -> Iterator[Standby]:
    with standby("followed") as copy:
        yield copy


@pytest.fixture
def following(copy: Standby) -> Iterator[Standby]:
    """A standby that follows again when the test ends."""
    yield copy
    copy.resume()


@pytest.fixture
def pool(url: str, following: Standby) -> Iterator[PostgresPool]:
    with closing(PostgresPool(url, read_url=following.url)) as pool:
        yield pool


def ids(store: Store, query: str) -> set[str]:
    """The ids of the memories that a search finds."""
    hits = Search(store, None).find(query, Filter()).hits
    return {entry.id for entry in store.entries.load([hit.entry for hit in hits]).values()}


def searches_at(store: Store) -> list[str]:
    """The kind of server, standby or primary, that a search reads."""
    servers: list[str] = []

    def search(each: Store) -> None:
        is_standby = each.database.value("SELECT pg_is_in_recovery()")
        servers.append("standby" if is_standby else "primary")

    store.searched(search)
    return servers


def test_a_search_runs_on_a_standby_that_has_the_tenants_commits(
    pool: PostgresPool, following: Standby
) -> None:
    store = PostgresStore(pool, tenant=ANN)
    store.memories.put([make_memory("a", "the gate opens at noon")])
    following.catch_up()
    assert searches_at(store) == ["standby"]
    assert ids(store, "gate") == {"a"}


def test_an_own_write_is_found_while_the_standby_is_behind(pool: PostgresPool, following: Standby) -> None:
    ann, ben = (PostgresStore(pool, tenant=name) for name in (ANN, BEN))
    ben.memories.put([make_memory("b", "the sluice opens at noon")])
    following.catch_up()
    following.pause()
    ann.memories.put([make_memory("late", "the sluice opens at dusk")])
    assert ids(ann, "sluice") == {"late"}
    assert searches_at(ann) == ["primary"]
    assert searches_at(ben) == ["standby"], "another tenant's commits make nobody wait"
    ann.memories.delete(Filter(ids=("late",)))
    assert ids(ann, "sluice") == set()
    following.resume()
    following.catch_up()
    assert searches_at(ann) == ["standby"]
    assert ids(ann, "sluice") == set()


def test_a_write_of_another_server_is_found_while_the_standby_is_behind(
    url: str, pool: PostgresPool, following: Standby
) -> None:
    store = PostgresStore(pool, tenant=ANN)
    following.catch_up()
    following.pause()
    with closing(PostgresStore(url, tenant=ANN)) as other:
        other.memories.put([make_memory("elsewhere", "the capstan was oiled")])
    assert ids(store, "capstan") == {"elsewhere"}


def test_a_vector_that_the_search_itself_makes_is_found(pool: PostgresPool, following: Standby) -> None:
    store = PostgresStore(pool, tenant=ANN)
    store.memories.put([make_memory("v", "halyard")])
    following.catch_up()
    following.pause()  # with the text there and the vector not
    found = Search(store, Backlog(store, HashedWords())).find("halyard", Filter())
    (hit,) = found.hits
    assert found.strategy == "hybrid"
    assert hit.known_parts["cosine"] > 0.9


def test_a_transaction_reads_what_it_wrote(pool: PostgresPool, following: Standby) -> None:
    store = PostgresStore(pool, tenant=ANN)
    with store.transaction():
        store.memories.put([make_memory("inside", "the davit is loose")])
        assert ids(store, "davit") == {"inside"}


def test_a_transaction_that_changes_nothing_is_not_counted(pool: PostgresPool) -> None:
    store = PostgresStore(pool, tenant=ANN)
    counts: list[int] = []
    for changes in (False, True, False):
        with store.transaction():
            store.entries.count(Filter())
            if changes:
                store.memories.put([make_memory("counted")])
        store.database.read_commits()
        counts.append(store.database.known_commits)
    assert counts[1] == counts[0] + 1
    assert counts[2] == counts[1]


def test_without_the_standby_the_primary_answers(url: str) -> None:
    with standby("followed") as copy, closing(PostgresPool(url, read_url=copy.url)) as pool:
        store = PostgresStore(pool, tenant=BEN)
        store.memories.put([make_memory("c", "the keel was laid")])
        copy.catch_up()
        assert searches_at(store) == ["standby"]
        assert store.standby_problem() is None
        copy.stop()
        assert ids(store, "keel") == {"c"}
        assert searches_at(store) == ["primary"]
        assert store.standby_problem() is not None
        assert pool.figures()[-2:] == (1, 2), "searches on the standby, and those that the primary had to run"


def test_a_database_that_is_no_copy_is_not_searched(url: str) -> None:
    with postgres_server.own_database("stranger") as strange:
        with closing(PostgresStore(strange, tenant=ANN)) as foreign:
            foreign.memories.put([make_memory(f"f{n}", "the mast of a stranger") for n in range(3)])
        with closing(PostgresPool(url, read_url=strange)) as pool:
            store = PostgresStore(pool, tenant=ANN)
            store.memories.put([make_memory("own", "the mast of our own")])
            assert ids(store, "mast") == {"own"}


def test_an_address_that_is_none_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="read_url is not a URL"):
        PostgresPool(url, read_url="postgresql://[")
    with pytest.raises(InvalidInput, match="read_url is for a store in PostgreSQL"):
        open_store(read_settings({"home": tmp_path, "read_url": url}))


def test_the_doctor_tells_whether_the_standby_answers(tmp_path: Path, url: str, following: Standby) -> None:
    following.catch_up()
    for read_url, expected in ((following.url, "ok"), (f"postgresql://{tmp_path}/nowhere", "warn")):
        variables = {"BACKSTORY_DATABASE_URL": url, "BACKSTORY_READ_URL": read_url}
        checks = json.loads(typed("doctor", "--json", home=tmp_path, **variables).stdout)["checks"]
        assert [check["state"] for check in checks if check["name"] == "standby"] == [expected]


class Door:
    """An address that leads to one of two servers, as that of a proxy does."""

    def __init__(self, folder: Path, database: str) -> None:
        self._socket = folder / ".s.PGSQL.5432"
        self.url = f"postgresql://{postgres_server.MEMBER}@/{database}?host={folder}"

    def lead_to(self, server: Path) -> None:
        self._socket.unlink(missing_ok=True)
        self._socket.symlink_to(server / self._socket.name)


def cut_connections(admin: psycopg.Connection[Any]) -> None:
    sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'backstory'"
    admin.execute(sql)


def test_a_call_waits_while_its_address_leads_to_a_standby(
    tmp_path: Path, url: str, following: Standby
) -> None:
    primary = Path(postgres_server.server().pgdata)
    door = Door(tmp_path, "followed")
    door.lead_to(primary)
    with (
        closing(PostgresPool(door.url)) as pool,
        psycopg.connect(postgres_server.admin_url(), autocommit=True) as admin,
        ThreadPoolExecutor(2) as threads,
    ):
        store = PostgresStore(pool, tenant=ANN)
        door.lead_to(following.folder)
        cut_connections(admin)
        saving = threads.submit(store.memories.put, [make_memory("after", "the anchor is up")])
        counting = threads.submit(store.entries.count, Filter())
        until(lambda: following.connections() > 0)
        assert not saving.done()
        door.lead_to(primary)
        saving.result()
        assert counting.result() >= 0
        assert ids(store, "anchor") == {"after"}


def test_a_standby_in_the_place_of_the_database_is_named(following: Standby) -> None:
    with pytest.raises(Unavailable, match="is a standby"):
        PostgresPool(following.url)


def save(web: Web, session: str, word: str) -> None:
    arguments = {"text": f"binnacle {word}"}
    assert not web.call("remember", arguments, Mcp_Session_Id=session)["isError"]


def recall(web: Web, session: str) -> str:
    return str(web.call("recall", {"query": "binnacle"}, Mcp_Session_Id=session))


def test_a_server_searches_on_its_standby_and_finds_what_was_just_saved(
    tmp_path: Path, url: str, following: Standby
) -> None:
    urls = {"database_url": url, "read_url": following.url}
    (tmp_path / "config.toml").write_text("".join(f"{name} = '{value}'\n" for name, value in urls.items()))
    with listening(tmp_path) as web:
        session = web.greet()
        save(web, session, "first")
        following.catch_up()
        assert "binnacle first" in recall(web, session)
        assert following.connections() > 0
        following.pause()
        save(web, session, "second")
        assert "binnacle second" in recall(web, session)


def test_an_address_of_several_servers_leads_to_the_primary(following: Standby) -> None:
    hosts = f"{following.folder},{postgres_server.server().pgdata}"
    url = f"postgresql://{postgres_server.MEMBER}@/followed?host={hosts}&target_session_attrs=read-write"
    with closing(PostgresStore(url, tenant=BEN)) as store:
        store.memories.put([make_memory("several", "the yard is hoisted")])
        assert ids(store, "yard") == {"several"}
