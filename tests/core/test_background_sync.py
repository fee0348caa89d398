"""Sync in the background of a server: behind its answers, by itself, and gone when it leaves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from backstory.core import Engine
from backstory.core import background as module
from backstory.core.background import Background
from backstory.core.calls import Call
from backstory.domain.filters import Filter
from backstory.readers import Places, Source
from backstory.store import Store

from ..doubles import HashedWords, make_memory, make_settings
from ..patience import PATIENCE_S, until
from .toy_reader import append, toy_reader, write


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def open_engine(store: Store, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Engine]]:
    """An engine that syncs with the toy reader, and does not wait between two times."""
    monkeypatch.setattr(module, "START_AFTER_S", 0.0)
    monkeypatch.setattr(module, "LEAST_REST_S", 0.0)
    monkeypatch.setattr("backstory.worker.FIRST_BACKOFF_S", 0.0)
    engines: list[Engine] = []

    def open_engine(before_each: Callable[[], None] = lambda: None) -> Engine:
        readers = {"toy": toy_reader(1, before_each)}
        monkeypatch.setattr("backstory.readers.load_readers", lambda names: readers)
        settings = make_settings(home.parent, sync_interval_s=0.01)
        engines.append(Engine(settings, store, None, background=reading(home)))
        return engines[-1]

    yield open_engine
    for engine in engines:
        if engine.background is not None:
            engine.background.close()


def reading(home: Path) -> Callable[[Engine], Background]:
    return lambda engine: Background(engine, lambda: Places(home, {}, "linux"))


def line(id: str, text: str) -> dict[str, object]:
    return {"talk": "t", "id": id, "text": text}


def test_nothing_is_read_before_it_is_asked_for(
    open_engine: Callable[..., Engine], store: Store, home: Path
) -> None:
    write(home / "a.toy", line("1", "one"))
    before = set(threading.enumerate())
    open_engine()
    assert set(threading.enumerate()) == before
    assert store.sync.sources() == {}


def test_what_is_appended_is_found_soon(open_engine: Callable[..., Engine], store: Store, home: Path) -> None:
    write(home / "a.toy", line("1", "one"))
    open_engine().sync_soon()
    until(lambda: store.entries.count(Filter()) == 1)
    append(home / "a.toy", line("2", "two"))
    until(lambda: store.entries.count(Filter()) == 2)


def test_texts_that_an_earlier_process_left_get_their_vectors_though_there_is_nothing_to_read(
    store: Store, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "START_AFTER_S", 0.0)
    monkeypatch.setattr("backstory.readers.load_readers", lambda names: {"toy": toy_reader()})
    store.memories.put([make_memory("m", "Lunch is at noon.")])
    with closing(
        Engine(make_settings(home.parent), store, HashedWords(), background=reading(home))
    ) as engine:
        engine.sync_soon()
        assert engine.backlog is not None
        space = engine.backlog.space
        until(lambda: store.vectors.count_waiting(space) == 0)


def test_a_call_that_must_know_everything_reads_first(
    open_engine: Callable[..., Engine], store: Store, home: Path
) -> None:
    write(home / "a.toy", line("1", "one"))
    open_engine().sync_now(Call())
    assert store.entries.count(Filter()) == 1


def test_where_nobody_has_read_anything_a_call_reads_first_and_once(
    open_engine: Callable[..., Engine], store: Store, home: Path
) -> None:
    write(home / "a.toy", line("1", "one"))
    engine = open_engine()
    assert engine.sync_first(Call()) == ()
    assert store.entries.count(Filter()) == 1
    append(home / "a.toy", line("2", "two"))
    assert engine.sync_first(Call()) == open_engine().sync_first(Call()) == ()
    assert store.entries.count(Filter()) == 1


def test_calls_at_once_wait_for_the_first_reading(
    open_engine: Callable[..., Engine], store: Store, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backstory.core.sync.decoding.SMALL_BYTES", 1)
    monkeypatch.setattr(module, "FIRST_S", PATIENCE_S)
    write(home / "a.toy", line("1", "one"), line("2", "two"))
    reached, go_on = threading.Event(), threading.Event()

    def wait_for_others() -> None:
        if store.entries.count(Filter()):
            reached.set()
            go_on.wait(PATIENCE_S)

    engine = open_engine(wait_for_others)
    counts: list[int] = []

    def ask() -> None:
        engine.sync_first(Call())
        counts.append(store.entries.count(Filter()))

    calls = [threading.Thread(target=ask) for _ in range(3)]
    calls[0].start()
    assert reached.wait(PATIENCE_S)
    for call in calls[1:]:
        call.start()
    go_on.set()
    for call in calls:
        call.join(PATIENCE_S)
    assert counts == [2, 2, 2]


def test_the_first_reading_ends_in_time_and_says_so(
    open_engine: Callable[..., Engine], store: Store, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backstory.core.sync.decoding.SMALL_BYTES", 1)
    monkeypatch.setattr(module, "FIRST_S", 0.0)
    write(home / "a.toy", *(line(str(n), "text") for n in range(5)))
    engine = open_engine()
    (notice,) = engine.sync_first(Call())
    assert "being read at the moment" in notice
    assert store.entries.count(Filter()) < 5
    assert engine.sync_first(Call()) == ()  # nobody waits twice
    engine.sync_soon()
    until(lambda: store.entries.count(Filter()) == 5)


def test_a_first_reading_that_fails_is_told_and_not_tried_by_each_call(
    open_engine: Callable[..., Engine], home: Path
) -> None:
    tries: list[None] = []

    def fail() -> None:
        tries.append(None)
        raise ZeroDivisionError

    write(home / "a.toy", line("1", "one"))
    engine = open_engine(fail)
    (notice,) = engine.sync_first(Call())
    assert "ZeroDivisionError" in notice
    assert engine.sync_first(Call()) == ()
    assert len(tries) == 1


def test_an_engine_without_places_reads_nothing(store: Store) -> None:
    engine = Engine(make_settings(), store, None)
    engine.sync_soon()
    engine.sync_now(Call())
    assert engine.sync_first(Call()) == ()
    assert engine.background is None


def test_closing_stops_in_the_middle_of_a_file(
    open_engine: Callable[..., Engine], store: Store, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backstory.core.sync.decoding.SMALL_BYTES", 1)
    write(home / "a.toy", *(line(str(n), "text") for n in range(50)))
    reached, go_on = threading.Event(), threading.Event()

    def stop_after_two() -> None:
        if store.entries.count(Filter()) >= 2:
            reached.set()
            go_on.wait(PATIENCE_S)

    engine = open_engine(stop_after_two)
    engine.sync_soon()
    assert reached.wait(PATIENCE_S)
    background = engine.background
    assert isinstance(background, Background)
    closing = threading.Thread(target=background.close)
    closing.start()
    until(lambda: background._workers["sync"].is_closing)
    go_on.set()
    closing.join(PATIENCE_S)
    assert 2 <= store.entries.count(Filter()) < 50
    assert store.leases.take("sync", "another process", for_ms=15_000)


def test_calls_go_first(
    open_engine: Callable[..., Engine], store: Store, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backstory.core.sync.decoding.SMALL_BYTES", 1)
    monkeypatch.setattr(module, "LONGEST_YIELD_S", 30.0)
    write(home / "a.toy", *(line(str(n), "text") for n in range(5)))
    engine = open_engine()
    with engine.serving():
        engine.sync_soon()
        until(lambda: store.entries.count(Filter()) == 1)
        engine.sync_now(Call())  # the caller itself waits for it, so there is nothing to make room for
        assert store.entries.count(Filter()) == 5
    assert not engine.is_serving


def test_a_store_that_cannot_be_written_is_tried_again(
    open_engine: Callable[..., Engine], store: Store, home: Path
) -> None:
    write(home / "a.toy", line("1", "one"))
    engine = open_engine()
    settings = engine.settings
    engine.settings = settings.changed(max_store_mb=0)
    engine.sync_soon()
    until(lambda: engine.problems.message("sync") is not None)
    engine.settings = settings
    until(lambda: store.entries.count(Filter()) == 1 and engine.problems.message("sync") is None)


def test_an_error_of_a_reader_does_not_end_the_syncing(
    open_engine: Callable[..., Engine], store: Store, home: Path
) -> None:
    errors: list[Exception] = [ZeroDivisionError(), RuntimeError()]

    def fail() -> None:
        if errors:
            raise errors.pop()

    write(home / "a.toy", line("1", "one"))
    engine = open_engine(fail)
    engine.sync_soon()
    until(lambda: store.entries.count(Filter()) == 1 and engine.problems.message("sync") is None)
    assert errors == []


def test_a_bug_in_one_reader_does_not_stop_the_others(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(places: Places) -> list[Source]:
        raise ZeroDivisionError

    write(tmp_path / "a.toy", line("1", "one"))
    readers = {"broken": toy_reader(1)._replace(name="broken", find=fail), "toy": toy_reader(1)}
    monkeypatch.setattr("backstory.readers.load_readers", lambda names: readers)
    engine = Engine(make_settings(tmp_path), store, None, background=reading(tmp_path))
    (notice,) = engine.sync_now(Call())
    assert "ZeroDivisionError" in notice
    assert store.entries.count(Filter()) == 1


def test_a_call_that_must_know_everything_tells_what_it_could_not_read(
    open_engine: Callable[..., Engine], store: Store, home: Path
) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    write(home / "a.toy", line("1", "one"))
    engine = open_engine(fail)
    (notice,) = engine.sync_now(Call())
    assert notice.startswith("Histories of other assistants are not read at the moment: an unexpected Zero")
    assert engine.search.find("one", Filter()).notices[-1] == notice


def test_old_conversations_are_archived_by_a_worker_of_their_own(store: Store, tmp_path: Path) -> None:
    """What stops the sync does not stop retention, nor the other way round."""
    settings = make_settings(tmp_path, retention_days=30.0)
    engine = Engine(settings, store, None, background=reading(tmp_path))
    assert engine.background is not None
    engine.background.wake()
    names = {thread.name for thread in threading.enumerate()}
    engine.background.close()
    assert {"sync", "retention"} <= names


def test_a_turn_that_has_ended_is_read_even_if_the_server_leaves_at_once(
    open_engine: Callable[..., Engine], store: Store, home: Path
) -> None:
    engine = open_engine()
    write(home / "a.toy", line("1", "one"))
    engine.read_turn(str(home / "a.toy"))
    assert engine.background is not None
    engine.background.close()
    assert [message.text for message in store.messages.of("toy:t")] == ["one"]


def test_a_transcript_that_no_reader_looks_for_is_left_alone(
    open_engine: Callable[..., Engine], store: Store, home: Path, tmp_path: Path
) -> None:
    engine = open_engine()
    write(tmp_path / "elsewhere.toy", line("1", "one"))
    engine.read_turn(str(tmp_path / "elsewhere.toy"))
    assert engine.background is not None
    engine.background.close()
    assert store.conversations.projects() == []
