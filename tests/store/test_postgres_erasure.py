"""Erasure in tables that tenants of PostgreSQL share: large ones are rewritten in the hours of the settings, once for all tenants."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from backstory.app import open_store, read_settings
from backstory.cli.erasure import erase_now, list_erasures
from backstory.core import Caller, Core, Engine
from backstory.core.forgetting import erase, erasure
from backstory.core.forgetting.erasure import Erasure, erase_everywhere
from backstory.domain.errors import InvalidInput, TimedOut
from backstory.domain.filters import Filter
from backstory.settings import Settings
from backstory.store.database import Database
from backstory.store.postgres import PostgresStore, residue
from backstory.store.postgres.pool import PostgresPool
from backstory.store.tables import Forgettable, with_words_of

from .. import postgres_server
from ..doubles import DAWN, SteppedClock, make_memory, make_settings

NAMES = ("user-ann", "user-ben", "team-red", "team-blue", "user-eve")
WINDOW = "02:00-04:00"


@pytest.fixture
def word() -> str:
    """A word that no other test leaves in the files of the server."""
    return "Qu" + "".join(random.choices("bcdfghjklmnpqrstvwxz", k=12))


def is_on_disk(url: str, word: str) -> bool:
    with psycopg.connect(postgres_server.admin_url(), autocommit=True) as connection:
        connection.execute("CHECKPOINT")
    files = (Path(postgres_server.server().pgdata) / "base").rglob("*")
    return any(word.lower().encode() in path.read_bytes().lower() for path in files if path.is_file())


def engine_of(pool: PostgresPool, name: str, home: Path, clock: SteppedClock) -> Engine:
    settings = make_settings(home / name, erasure_window=WINDOW)
    return Engine(settings, PostgresStore(pool, tenant=name), None, now=clock)


def delete(store: PostgresStore, id: str) -> None:
    with store.transaction():
        store.memories.delete(Filter(ids=(id,)))
        store.residue.note(with_words_of([Forgettable.MEMORIES]))


def no_rest() -> None:
    pass


def test_large_tables_wait_for_their_hours_and_the_receipt_names_them(
    pool: PostgresPool, url: str, tmp_path: Path, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasure, "LOCKED_AT_ONCE_BYTES", 0)
    clock = SteppedClock()
    start = DAWN.replace(hour=2, minute=0, second=0, microsecond=0)
    start += timedelta(days=start < DAWN)
    with closing(engine_of(pool, "user-ann", tmp_path, clock)) as engine:
        Core(engine, Caller(project="/p"), "projectmemory").memories.save(f"{word} is called heron.")
        (id,) = [id for id, _ in engine.store.memories.stamps(Filter())]
        receipt = erase(engine, (id,))
        assert f"between {start:%Y-%m-%d} 02:00 and 04:00 UTC" in receipt.notices[0]
        assert engine.store.census().memories == 0
        wait_s = Erasure(engine).overwrite_due(no_rest)
        assert wait_s == (start - DAWN).total_seconds()
        assert erase_everywhere(engine) <= wait_s
        assert engine.store.residue.get() is not None
        assert is_on_disk(url, word)
        clock.step(wait_s)
        assert Erasure(engine).overwrite_due(no_rest) is None
        assert engine.store.residue.get() is None
        assert not is_on_disk(url, word)


def test_small_tables_are_rewritten_before_the_answer(
    pool: PostgresPool, url: str, tmp_path: Path, word: str
) -> None:
    with closing(engine_of(pool, "user-ann", tmp_path, SteppedClock())) as engine:
        engine.store.memories.put([make_memory("a", f"{word} is called heron.")])
        assert erase(engine, ("a",)).notices == []
        assert not is_on_disk(url, word)


def test_a_table_is_rewritten_once_for_all_tenants_that_deleted_from_it(
    pool: PostgresPool, url: str, tmp_path: Path, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if none of them is open."""
    for name in NAMES:
        with closing(PostgresStore(pool, tenant=name)) as store:
            store.memories.put(
                [make_memory("a", f"{word}{name[-3:]} is called heron."), make_memory("b", "stays")]
            )
            if name != "user-eve":
                delete(store, "a")
    rewritten: list[str] = []
    rewrite = residue._rewrite

    def record(database: Database, table: str) -> None:
        rewritten.append(table)
        rewrite(database, table)

    monkeypatch.setattr(residue, "_rewrite", record)
    clock = SteppedClock()
    clock.step((DAWN.replace(hour=3) + timedelta(days=1) - DAWN).total_seconds())
    with closing(engine_of(pool, "control", tmp_path, clock)) as engine:
        assert engine.store.residue.pending() == [name for name in NAMES if name != "user-eve"]
        erase_everywhere(engine)
        assert engine.store.residue.pending() == []
        assert engine.store.residue.overwrite_everywhere() == []
    assert "former" in rewritten
    assert len(rewritten) == len(set(rewritten))
    for name in NAMES:
        assert is_on_disk(url, f"{word}{name[-3:]}") == (name == "user-eve")
        with closing(PostgresStore(pool, tenant=name)) as store:
            assert store.census().memories == 1 + (name == "user-eve")
            assert store.problems() == []


def test_only_one_server_rewrites_tables_at_a_time(pool: PostgresPool) -> None:
    with closing(PostgresStore(pool, tenant="user-ann")) as store:
        store.memories.put([make_memory("a", "heron")])
        delete(store, "a")
        others: list[list[str]] = []

        def look() -> None:
            if not others:
                others.append(store.database.overwrite_everywhere(no_rest))

        assert store.database.overwrite_everywhere(look) == ["user-ann"]
        assert others == [[]]


def test_a_tenant_that_deletes_meanwhile_stays_recorded(pool: PostgresPool) -> None:
    with closing(PostgresStore(pool, tenant="user-ann")) as store:
        store.memories.put([make_memory("a", "heron"), make_memory("b", "egret")])
        delete(store, "a")
        more = iter(["b"])

        def delete_more() -> None:
            for id in more:
                delete(store, id)

        store.database.overwrite_everywhere(delete_more)
        assert store.residue.get() is not None
        store.database.overwrite_everywhere(no_rest)
        assert store.residue.get() is None


def test_a_rewrite_does_not_queue_others_behind_a_long_reader(
    pool: PostgresPool, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(residue, "PATIENCE_S", 0.3)
    monkeypatch.setattr(residue, "LOCK_WAIT_MS", 20)
    searches: list[int] = []
    with closing(PostgresStore(pool, tenant="user-ann")) as store, psycopg.connect(url) as reader:
        store.memories.put([make_memory("a", "heron"), make_memory("b", "egret")])
        delete(store, "a")
        # has a table in use, and sees nothing that was deleted
        reader.execute("LOCK TABLE backstory.entry IN ACCESS SHARE MODE")
        monkeypatch.setattr(time, "sleep", lambda _: searches.append(store.census().memories))
        with pytest.raises(TimedOut):
            store.residue.overwrite()
        assert set(searches) == {1}
        reader.rollback()
        monkeypatch.undo()
        store.residue.overwrite()
        assert store.residue.get() is None


@pytest.fixture(params=["sqlite", "postgres"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    if request.param == "sqlite":
        yield make_settings(tmp_path, database_url=f"sqlite:///{tmp_path}/store.db", erasure_window=WINDOW)
        return
    with postgres_server.own_database("admin_erasure") as url:
        yield make_settings(tmp_path, database_url=url, erasure_window=WINDOW)


def test_an_operator_lists_pending_erasures_and_has_them_done(settings: Settings) -> None:
    options = argparse.Namespace()
    assert list_erasures([], options, settings).body["tenants"] == []
    assert erase_now([], options, settings).body == {"overwritten": [], "left": []}
    with closing(open_store(settings)) as store:
        store.memories.put([make_memory("a", "heron"), make_memory("b", "egret")])
        with store.transaction():
            store.memories.delete(Filter(ids=("a",)))
            store.residue.note(with_words_of([Forgettable.MEMORIES]))
    pending = list_erasures([], options, settings)
    (name,) = pending.body["tenants"]
    assert (pending.body["window"], "`backstory admin erasure now`" in pending.text) == (WINDOW, True)
    assert erase_now([], options, settings).body == {"overwritten": [name], "left": []}
    with closing(open_store(settings)) as store:
        assert store.residue.get() is None
        assert store.census().memories == 1


@pytest.mark.parametrize("value", ["at night", "2-4"])
def test_other_hours_are_refused(value: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="erasure_window must be hours of the day such as 02:00-04:00"):
        read_settings({"home": tmp_path, "erasure_window": value})
