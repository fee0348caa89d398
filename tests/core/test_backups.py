"""Automatic backups: one a day, one before the archive, none before forgetting, and never too many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from backstory.core import Caller, Core, Engine
from backstory.core.backups import DAILY, Backups, surplus
from backstory.core.calls import Call
from backstory.core.forgetting.retention import Retention
from backstory.domain.backups import LOG, MANUAL, Backup
from backstory.domain.categories import REFLECTION
from backstory.domain.errors import InvalidInput, StorageFull
from backstory.domain.filters import Filter, Page
from backstory.domain.when import utc_now
from backstory.store import Store
from backstory.store.backups import backup_path, find_backups
from backstory.store.sqlite import SqliteStore

from ..conftest import caller_of
from ..doubles import make_memory, make_settings

MakeEngine = Callable[..., Engine]


class Days:
    """A clock that goes on by days from now: a store knows when it was made."""

    def __init__(self) -> None:
        self.now = utc_now()

    def __call__(self) -> datetime:
        return self.now

    def go_on(self, days: float) -> None:
        self.now += timedelta(days=days)


@pytest.fixture
def days() -> Days:
    return Days()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path / "store.db")) as store:
        store.memories.put([make_memory("a", "the first")])
        yield store


@pytest.fixture
def make_engine(store: SqliteStore, days: Days, tmp_path: Path) -> MakeEngine:
    def make_engine(**changes: Any) -> Engine:
        return Engine(make_settings(tmp_path, **changes), store, None, now=days)

    return make_engine


def files(store: Store) -> list[Backup]:
    assert store.backups is not None
    return store.backups.find()


def reasons(store: Store) -> list[str]:
    return [backup.reason for backup in files(store)]


def texts(path: Path) -> list[str]:
    with closing(SqliteStore(path, is_copy=True)) as copy:
        assert copy.problems() == []
        return sorted(memory.text for memory in copy.memories.find(Filter(), Page()))


def test_the_first_is_made_when_the_store_is_a_day_old_then_one_each_day(
    make_engine: MakeEngine, store: SqliteStore, days: Days
) -> None:
    backups = Backups(make_engine())
    backups.make_daily()
    days.go_on(0.9)
    backups.make_daily()
    assert reasons(store) == []
    days.go_on(0.2)
    for _ in range(3):
        backups.make_daily()
    assert reasons(store) == [DAILY]
    days.go_on(1)
    backups.make_daily()
    assert reasons(store) == [DAILY, DAILY]
    assert texts(files(store)[0].path) == ["the first"]


def test_only_so_many_are_kept_and_those_that_a_person_asked_for_stay(
    make_engine: MakeEngine, store: SqliteStore, days: Days
) -> None:
    assert store.backups is not None
    store.backups.make(days(), MANUAL)
    backups = Backups(make_engine(backups_kept=2))
    for _ in range(4):
        days.go_on(1.1)
        backups.make_daily()
    assert reasons(store) == [MANUAL, DAILY, DAILY]
    assert files(store)[-1].made_at == days().replace(microsecond=0)


def test_they_are_bounded_in_size(make_engine: MakeEngine, store: SqliteStore, days: Days) -> None:
    size_mb = store.census().bytes / 1_000_000
    backups = Backups(make_engine(backups_max_mb=size_mb * 2.5))
    for _ in range(4):
        days.go_on(1.1)
        backups.make_daily()
    assert len(files(store)) == 2


def test_a_store_that_is_larger_than_its_backups_may_be_has_none(
    make_engine: MakeEngine, store: SqliteStore, days: Days
) -> None:
    backups = Backups(make_engine(backups_max_mb=0.001))
    days.go_on(2)
    backups.make_daily()
    assert backups.is_too_large()
    assert reasons(store) == []


def test_they_can_be_turned_off(make_engine: MakeEngine, store: SqliteStore, days: Days) -> None:
    days.go_on(2)
    Backups(make_engine(backups="off")).make_daily()
    assert reasons(store) == []


def test_a_disk_without_room_is_said_and_nothing_is_written(
    make_engine: MakeEngine, store: SqliteStore, days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backstory.core.backups.LEAST_LEFT_BYTES", 10**18)
    days.go_on(2)
    with pytest.raises(StorageFull, match="no space for a backup"):
        Backups(make_engine()).make_daily()
    assert reasons(store) == []


def test_another_process_that_makes_it_is_not_joined(
    make_engine: MakeEngine, store: SqliteStore, days: Days
) -> None:
    days.go_on(2)
    assert store.leases.take("backup", "another", for_ms=60_000)
    Backups(make_engine()).make_daily()
    assert reasons(store) == []


def test_one_is_made_before_the_archive_if_something_goes_there(
    make_engine: MakeEngine, store: SqliteStore, days: Days
) -> None:
    retention = Retention(make_engine())
    retention.archive(retention.find(30), Call())
    assert reasons(store) == []
    store.memories.put([make_memory("old", "a reflection", surface="session-mgmt", category=REFLECTION)])
    days.go_on(400)
    retention.archive(retention.find(30), Call())
    (backup,) = files(store)
    assert backup.reason == "before-archive"
    assert texts(backup.path) == ["a reflection", "the first"]
    assert store.entries.count(Filter()) == 1


def test_none_is_made_before_forgetting(make_engine: MakeEngine) -> None:
    core = Core(make_engine(), Caller(project="/p"))
    call = caller_of(core)
    ids = [call("save_context", context_text=f"text {n}")["id"] for n in range(30)]
    call("delete_context", id=ids[0])
    call("clear_all_context", confirmation="confirm")
    assert files(core.engine.store) == []


def test_what_is_forgotten_can_be_taken_out_of_a_backup(
    make_engine: MakeEngine, store: SqliteStore, days: Days
) -> None:
    store.memories.put([make_memory("b", "secret")])
    backups = Backups(make_engine())
    backups.make(DAILY)
    (backup,) = backups.find()
    backups.rewrite(backup, lambda copy: copy.memories.delete(Filter(ids=("b",))))
    assert backups.find()[0].path == backup.path
    assert texts(backup.path) == ["the first"]
    assert store.entries.count(Filter()) == 2
    with pytest.raises(ZeroDivisionError):
        backups.rewrite(backup, lambda copy: copy.memories.delete(Filter()) / 0)
    assert texts(backup.path) == ["the first"]
    assert [path.name for path in backup.path.parent.iterdir()] == [backup.path.name]
    backups.remove(backup)
    assert backups.find() == []


def test_a_log_can_only_be_removed(make_engine: MakeEngine, tmp_path: Path, days: Days) -> None:
    path = backup_path(tmp_path / "backups", "store", days(), LOG, suffix=".wal")
    path.parent.mkdir()
    path.write_bytes(b"frames")
    backups = Backups(make_engine())
    (log,) = backups.find()
    with pytest.raises(InvalidInput, match="only removed"):
        backups.rewrite(log, lambda copy: None)


def test_two_of_the_same_second_have_two_names(tmp_path: Path) -> None:
    at = datetime(2026, 3, 1, 9, 30, 5, tzinfo=UTC)
    for name in ("store-20260301-093005-daily.db", "store-20260301-093005-2-daily.db"):
        path = backup_path(tmp_path, "store", at, "daily")
        assert path.name == name
        path.touch()
    (tmp_path / "store-2-20260301-093005.db").touch()  # of a store called store-2
    (tmp_path / "store-notes.db").touch()
    assert [(each.made_at, each.reason) for each in find_backups(tmp_path, "store")] == [(at, "daily")] * 2


def test_the_last_one_stays_however_large_it_is() -> None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    made = [Backup(Path(f"{n}"), at + timedelta(days=n), DAILY, 10**9) for n in range(3)]
    assert surplus(made, daily=7, most_bytes=1) == made[:2]
