"""The backlog: every text gets its vectors, whoever dies or fails on the way."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from backstory.domain.entries import PendingText
from backstory.domain.errors import Unavailable
from backstory.domain.filters import Filter
from backstory.problems import Problems
from backstory.search.backlog import MODEL_PATIENCE_S, Backlog
from backstory.search.engine import Found, Search
from backstory.store import Store

from ..conftest import OpenStore
from ..doubles import DAWN, HashedWords, make_conversation, make_memory, make_messages
from ..patience import PATIENCE_S, until


class Milestones(HashedWords):
    """Says when it has embedded, and when it was asked in vain."""

    def __init__(self) -> None:
        super().__init__()
        self.done, self.asked = threading.Semaphore(0), threading.Semaphore(0)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.release()
        vectors = super().embed(texts)
        self.done.release()
        return vectors


def found_ids(store: Store, found: Found) -> list[str]:
    entries = store.entries.load(hit.entry for hit in found.hits)
    return [entries[hit.entry].id for hit in found.hits]


@pytest.fixture
def problems(tmp_path: Path) -> Problems:
    return Problems(tmp_path)


@pytest.fixture
def open_backlog(problems: Problems) -> Iterator[Callable[[Store, HashedWords], Backlog]]:
    opened: list[Backlog] = []
    before = set(threading.enumerate())

    def open_backlog(store: Store, embedder: HashedWords) -> Backlog:
        opened.append(Backlog(store, embedder, problems, backoff_s=lambda failures: 0.01))
        return opened[-1]

    yield open_backlog
    for backlog in opened:
        backlog.close()
    for thread in set(threading.enumerate()) - before:
        thread.join(PATIENCE_S)
        assert not thread.is_alive(), "a backlog that was closed goes on"


OpenBacklog = Callable[[Store, HashedWords], Backlog]


def test_what_waits_is_embedded_in_the_background(store: Store, open_backlog: OpenBacklog) -> None:
    embedder = Milestones()
    backlog = open_backlog(store, embedder)
    store.memories.put([make_memory("a", "first")])
    backlog.wake()
    assert embedder.done.acquire(timeout=PATIENCE_S)
    store.memories.put([make_memory("b", "second")])
    backlog.wake()
    assert embedder.done.acquire(timeout=PATIENCE_S)
    assert sorted(embedder.embedded) == ["first", "second"]


def test_on_a_busy_machine_the_background_rests_between_texts_and_ends_at_once_when_closed(
    store: Store, problems: Problems
) -> None:
    embedder, asked = Milestones(), threading.Event()

    def is_busy() -> bool:
        asked.set()
        return True

    backlog = Backlog(store, embedder, problems, is_busy=is_busy)
    store.memories.put([make_memory(f"{n}", f"text {n}") for n in range(100)])
    backlog.wake()
    assert asked.wait(PATIENCE_S)
    backlog.close()
    assert problems.message("embedding") is None


def test_nothing_is_embedded_before_it_is_needed(store: Store, open_backlog: OpenBacklog) -> None:
    embedder, before = HashedWords(), threading.active_count()
    open_backlog(store, embedder)
    store.memories.put([make_memory("a")])
    assert embedder.embedded == []
    assert threading.active_count() == before


def test_draining_embeds_all_that_waits(store: Store, open_backlog: OpenBacklog) -> None:
    embedder = HashedWords()
    backlog = open_backlog(store, embedder)
    store.memories.put([make_memory(f"{n}", f"text {n}") for n in range(100)])
    assert backlog.drain() == 100
    assert store.vectors.count_waiting(backlog.space) == 0
    assert backlog.drain() == 0


def test_a_text_that_is_known_from_elsewhere_is_not_embedded_again(
    store: Store, open_store: OpenStore, open_backlog: OpenBacklog
) -> None:
    embedder, other = HashedWords(), HashedWords()
    store.memories.put([make_memory("a", "a vehicle"), make_memory("copy", "a vehicle")])
    assert open_backlog(store, embedder).drain() == 2
    assert embedder.embedded == ["a vehicle"]
    store.memories.put([make_memory("later", "a vehicle"), make_memory("new", "a boat")])
    backlog = open_backlog(open_store(), other)
    assert backlog.drain() == 2
    assert other.embedded == ["a boat"]
    assert {*found_ids(store, Search(store, backlog).find("car", Filter()))} == {"a", "copy", "later"}


def test_a_key_that_counts_notes_is_not_embedded(store: Store, open_backlog: OpenBacklog) -> None:
    embedder = HashedWords()
    store.memories.put([
        make_memory("a", "a vehicle", key="note_505"),
        make_memory("b", "a boat", key="task-7", category="decision", tags=("water", "#12", "s3_bucket")),
        make_memory("c", "a plane", key="travel_plan_2", tags=("python3", "2026")),
    ])  # fmt: skip
    open_backlog(store, embedder).drain()
    assert sorted(embedder.embedded) == [
        "a vehicle",
        "decision water s3_bucket: a boat",
        "travel_plan_2 python3: a plane",
    ]


def test_a_fork_of_a_conversation_costs_only_what_is_new_in_it(
    store: Store, open_backlog: OpenBacklog
) -> None:
    embedder = HashedWords()
    backlog = open_backlog(store, embedder)
    store.conversations.put(make_conversation("c"), make_messages("c", "question", "answer"))
    backlog.drain()
    fork = make_messages("fork", "question", "answer", "more", created_at=DAWN + timedelta(days=9))
    store.conversations.put(make_conversation("fork"), fork)
    assert backlog.drain() == 3
    assert sorted(embedder.embedded) == ["answer", "more", "question"]


def test_of_a_long_message_the_beginning_and_the_end_are_embedded_and_all_of_a_long_memory(
    store: Store, open_backlog: OpenBacklog
) -> None:
    embedder = HashedWords()
    parts = [f"{name} {'x' * 700}." for name in ("first", "second", "third", "last")]
    store.conversations.put(make_conversation("c"), make_messages("c", "\n\n".join(parts)))
    open_backlog(store, embedder).drain()
    assert embedder.embedded == [parts[0], parts[3]]
    store.memories.put([make_memory("a", "\n\n".join(parts))])
    open_backlog(store, embedder).drain()
    assert embedder.embedded[2:] == [parts[1], parts[2]]


def test_what_a_dead_process_had_claimed_is_taken_over_after_its_lease(
    store: Store, open_store: OpenStore, open_backlog: OpenBacklog
) -> None:
    dead, embedder = open_store(), Milestones()
    space = dead.vectors.open_space(embedder.model)
    store.memories.put([make_memory("a", "text")])
    assert len(dead.vectors.claim(space, 10, lease_ms=-1)) == 1
    dead.close()
    open_backlog(store, embedder).wake()
    assert embedder.done.acquire(timeout=PATIENCE_S)


def test_a_search_does_not_wait_for_a_dead_process(
    store: Store, open_store: OpenStore, open_backlog: OpenBacklog
) -> None:
    dead, embedder = open_store(), HashedWords()
    store.memories.put([make_memory("a", "vehicle")])
    dead.vectors.claim(dead.vectors.open_space(embedder.model), 10, lease_ms=3_600_000)
    dead.close()
    found = Search(store, open_backlog(store, embedder)).find("car", Filter())
    assert found_ids(store, found) == ["a"]


def test_others_can_write_while_a_text_is_embedded(
    store: Store, open_store: OpenStore, open_backlog: OpenBacklog
) -> None:
    embedder, other = HashedWords(), open_store()
    store.memories.put([make_memory("a", "slow")])
    embedder.meanwhile = lambda: other.memories.put([make_memory("b", "meanwhile")])
    backlog = open_backlog(store, embedder)
    space = backlog.space
    backlog.query("anything")
    assert other.entries.count(Filter()) == 2
    assert store.vectors.count_waiting(space) == 0
    assert store.problems() == []


def test_a_text_that_changes_while_it_is_embedded_gets_the_vectors_of_the_new_one(
    store: Store, open_backlog: OpenBacklog
) -> None:
    embedder = HashedWords()
    backlog = open_backlog(store, embedder)
    store.memories.put([make_memory("a", "weather")])

    def change() -> None:
        embedder.meanwhile = lambda: None
        store.memories.put([make_memory("a", "vehicle")])

    embedder.meanwhile = change
    backlog.drain()
    search = Search(store, backlog)
    assert found_ids(store, search.find("car", Filter())) == ["a"]
    assert search.find("weather", Filter()).hits == []


def test_a_failing_embedder_is_reported_and_what_waits_is_kept(
    store: Store, open_backlog: OpenBacklog
) -> None:
    embedder = Milestones()
    embedder.failure = Unavailable("The endpoint is down.")
    backlog = open_backlog(store, embedder)
    store.memories.put([make_memory("a")])
    backlog.wake()
    until(lambda: backlog.problem is not None)
    assert store.vectors.count_waiting(backlog.space) == 1
    assert backlog.problem == "The endpoint is down."


def test_once_the_embedder_answers_again_the_next_save_brings_all_up_to_date(
    store: Store, open_backlog: OpenBacklog
) -> None:
    embedder = Milestones()
    embedder.failure = Unavailable("The endpoint is down.")
    backlog = open_backlog(store, embedder)
    store.memories.put([make_memory("a", "during the outage")])
    backlog.wake()
    assert embedder.asked.acquire(timeout=PATIENCE_S)
    embedder.failure = None
    store.memories.put([make_memory("b", "after the outage")])
    backlog.wake()
    until(lambda: store.vectors.count_waiting(backlog.space) == 0)
    assert sorted(embedder.embedded) == ["after the outage", "during the outage"]


def test_a_backlog_that_is_closed_while_its_embedder_fails_ends_at_once(
    store: Store, open_backlog: OpenBacklog
) -> None:
    embedder = Milestones()
    embedder.failure = Unavailable("The endpoint is down.")
    backlog = open_backlog(store, embedder)
    closer = threading.Thread(target=backlog.close, daemon=True)
    started = threading.Event()

    def close() -> None:
        closer.start()
        started.set()
        closer.join(0.2)  # it has asked the background to end, and waits for that

    embedder.meanwhile = close
    store.memories.put([make_memory("a")])
    backlog.wake()
    assert started.wait(PATIENCE_S)
    closer.join(PATIENCE_S)
    assert not closer.is_alive()


def test_what_another_embeds_at_the_same_moment_is_not_left(
    store: Store, open_backlog: OpenBacklog, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.memories.put([make_memory("m", "JWT expires after a day")])
    backlog, other = open_backlog(store, HashedWords()), open_backlog(store, HashedWords())
    assert store.vectors.count_waiting(backlog.space) == 1
    claim = store.vectors.claim

    def faster(space: int, limit: int, *, lease_ms: int) -> list[PendingText]:
        monkeypatch.setattr(store.vectors, "claim", claim)
        other.drain()
        return claim(space, limit, lease_ms=lease_ms)

    monkeypatch.setattr(store.vectors, "claim", faster)
    assert backlog.catch_up()


def test_another_model_embeds_all_anew_and_never_mixes(store: Store, open_backlog: OpenBacklog) -> None:
    first, second = HashedWords(), HashedWords(model="another", dimensions=64, synonyms={})
    store.memories.put([make_memory("a", "vehicle")])
    old = open_backlog(store, first)
    old.drain()
    new = open_backlog(store, second)
    assert store.vectors.count_waiting(new.space) == 1
    assert Search(store, new).find("car", Filter()).hits == []
    assert second.embedded == ["vehicle", "car"]
    assert found_ids(store, Search(store, new).find("vehicle", Filter())) == ["a"]
    assert found_ids(store, Search(store, old).find("car", Filter())) == ["a"]
    store.memories.put([make_memory("b", "login")])
    assert (old.drain(), new.drain()) == (1, 1)


def test_many_threads_may_search_and_save_at_once(store: Store, open_backlog: OpenBacklog) -> None:
    backlog = open_backlog(store, HashedWords())
    search, failures = Search(store, backlog), []

    def work(name: str) -> None:
        try:
            for n in range(10):
                store.memories.put([make_memory(f"{name}{n}", f"vehicle {name}{n}")])
                backlog.wake()
                assert found_ids(store, search.find(f"car {name}{n}", Filter()))[0] == f"{name}{n}"
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert failures == []
    backlog.drain()
    assert store.problems() == []


class Choosy(HashedWords):
    """Cannot embed texts that hold `bad`; fails in a way that is not ours."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if any("bad" in text for text in texts):
            raise ZeroDivisionError
        return super().embed(texts)


def test_a_text_that_cannot_be_embedded_keeps_no_other_waiting(
    store: Store, open_backlog: OpenBacklog
) -> None:
    backlog = open_backlog(store, Choosy())
    store.memories.put([make_memory(f"{n}", f"{'bad' if n % 3 else 'good'} {n}") for n in range(40)])
    backlog.wake()
    until(lambda: store.vectors.count_waiting(backlog.space) == 26 and backlog.problem is not None)
    assert backlog.problem == "The embedding model failed: ZeroDivisionError."
    with pytest.raises(Unavailable, match="ZeroDivisionError"):
        backlog.drain()


def test_a_search_works_though_a_text_cannot_be_embedded(store: Store, open_backlog: OpenBacklog) -> None:
    backlog = open_backlog(store, Choosy())
    store.memories.put([make_memory("a", "bad vehicle"), make_memory("b", "vehicle")])
    found = Search(store, backlog).find("car", Filter())
    assert found_ids(store, found) == ["b"]
    assert found.strategy == "hybrid"
    assert found.notices == ("1 text still waits for its vectors; until then only its words find it.",)


def test_a_search_whose_query_cannot_be_embedded_is_by_words_and_says_so(
    store: Store, open_backlog: OpenBacklog
) -> None:
    store.memories.put([make_memory("a", "a bad vehicle")])
    found = Search(store, open_backlog(store, Choosy())).find("bad vehicle", Filter())
    assert found_ids(store, found) == ["a"]
    assert found.strategy == "text"
    assert found.notices == ("Searched by words alone: The embedding model failed: ZeroDivisionError.",)


def test_catching_up_with_an_embedder_that_fails_is_no_error(store: Store, open_backlog: OpenBacklog) -> None:
    embedder = HashedWords(failure=Unavailable("The endpoint is down."))
    store.memories.put([make_memory("a")])
    backlog = open_backlog(store, embedder)
    assert not backlog.catch_up()
    until(lambda: backlog.problem == "The endpoint is down.")


class SlowToLoad(HashedWords):
    def __init__(self) -> None:
        super().__init__(is_loaded=False)
        self.may_load = threading.Event()

    def load(self) -> None:
        assert self.may_load.wait(PATIENCE_S)
        if self.failure is not None:
            raise self.failure
        super().load()


def test_who_is_waited_for_answers_by_words_until_the_model_is_loaded(store: Store) -> None:
    store.memories.put([make_memory("it", "vehicle"), make_memory("word", "car")])
    embedder = SlowToLoad()
    backlog = Backlog(store, embedder, is_serving=lambda: True, model_patience_s=0.0)
    with closing(backlog):
        search = Search(store, backlog)
        found = search.find("car", Filter())
        assert found_ids(store, found) == ["word"]
        assert found.notices == ("Searched by words alone: the model is still being loaded.",)
        embedder.may_load.set()
        until(lambda: embedder.is_loaded)
        found = search.find("car", Filter())
        assert (set(found_ids(store, found)), found.notices) == ({"it", "word"}, ())


def test_what_else_a_new_process_does_is_not_counted_as_waiting_for_the_model(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backstory.search.backlog.LONGEST_WAIT_S", PATIENCE_S)
    store.memories.put([make_memory("it", "vehicle")])
    embedder = SlowToLoad()
    began = time.process_time()

    def be_busy() -> None:
        while time.process_time() < began + 2 * MODEL_PATIENCE_S:
            pass
        embedder.may_load.set()

    busy = threading.Thread(target=be_busy)
    with closing(Backlog(store, embedder, is_serving=lambda: True)) as backlog:
        busy.start()
        found = Search(store, backlog).find("car", Filter())
        busy.join()
    assert (found_ids(store, found), found.notices) == (["it"], ())


@pytest.mark.skipif(sys.platform == "win32", reason="it has no clock of another thread")
def test_a_model_that_takes_too_much_to_load_is_not_waited_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backstory.search.backlog.LONGEST_WAIT_S", PATIENCE_S)

    class Laborious(SlowToLoad):
        def load(self) -> None:
            while not self.may_load.is_set():
                pass

    embedder = Laborious()
    with closing(Backlog(store, embedder, is_serving=lambda: True, model_patience_s=0.05)) as backlog:
        assert Search(store, backlog).find("car", Filter()).strategy == "text"
        embedder.may_load.set()


def test_a_model_that_cannot_be_loaded_is_said_by_the_next_search(store: Store) -> None:
    store.memories.put([make_memory("word", "car")])
    embedder = SlowToLoad()
    embedder.failure = Unavailable("The model is broken.")
    embedder.may_load.set()
    backlog = Backlog(store, embedder, is_serving=lambda: True, model_patience_s=PATIENCE_S)
    with closing(backlog):
        found = Search(store, backlog).find("car", Filter())
        assert found.notices == ("Searched by words alone: The model is broken.",)


def test_on_the_command_line_nobody_answers_before_the_model_is_loaded(store: Store) -> None:
    store.memories.put([make_memory("it", "vehicle")])
    embedder = SlowToLoad()
    with closing(Backlog(store, embedder, model_patience_s=0.0)) as backlog:
        assert Search(store, backlog).find("car", Filter()).strategy == "hybrid"
