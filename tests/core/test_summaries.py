"""Summaries: picked locally at once, written better by an endpoint later, never in the way."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.core.summaries import MAX_SUMMARY_CHARS, Summarizer, summarize
from backstory.domain.errors import Unavailable
from backstory.domain.filters import Filter, Page
from backstory.domain.records import Memory
from backstory.problems import Problems
from backstory.store import Store

from ..doubles import make_memory
from ..patience import until

LONG = (
    "Good morning to everyone who joined. The coffee machine is working again since Tuesday. "
    "We decided that sessions become JWT tokens because sessions do not scale. "
    "Lunch will be somewhere near the river today. Somebody left an umbrella behind last Friday. "
    "Parking remains difficult while construction continues outside."
)


@given(st.text(max_size=MAX_SUMMARY_CHARS))
def test_a_short_text_is_its_own_summary(text: str) -> None:
    assert summarize(text) == " ".join(text.split())


@given(st.text(min_size=MAX_SUMMARY_CHARS + 1), st.integers(1, MAX_SUMMARY_CHARS))
def test_a_summary_is_never_longer_than_asked_for_and_always_the_same(text: str, longest: int) -> None:
    summary = summarize(text, longest)
    assert len(summary) <= longest
    assert summarize(text, longest) == summary


@given(st.text(st.sampled_from("ab .\n。"), min_size=MAX_SUMMARY_CHARS + 1).filter(str.strip))
def test_a_text_with_words_has_a_summary_of_its_words(text: str) -> None:
    summary = summarize(text)
    assert summary
    assert all(piece in text for piece in summary.split())


def test_a_decision_is_picked_from_small_talk() -> None:
    assert "We decided that sessions become JWT tokens because sessions do not scale." in summarize(LONG)


def test_sentences_keep_their_order() -> None:
    sentences = [f"Point {n} says that the build must be fixed." for n in range(20)]
    picked = summarize(" ".join(sentences))
    places = [picked.index(sentence) for sentence in sentences if sentence in picked]
    assert len(places) > 1
    assert places == sorted(places)


def test_an_endless_sentence_is_cut() -> None:
    assert summarize("word " * 1000) == ("word " * 1000)[:MAX_SUMMARY_CHARS].strip()


class Scribe:
    """Writes what it is told to, or fails; calls back while it writes."""

    def __init__(self, summary: str | Exception, meanwhile: Callable[[], None] = lambda: None) -> None:
        self.summary, self.meanwhile = summary, meanwhile
        self.read: list[str] = []

    def write(self, text: str) -> str:
        self.read.append(text)
        self.meanwhile()
        if isinstance(self.summary, Exception):
            raise self.summary
        return self.summary


@pytest.fixture
def problems(tmp_path: Path) -> Problems:
    return Problems(tmp_path)


Improve = Callable[[Store, Memory, Scribe], None]


@pytest.fixture
def improve(problems: Problems) -> Improve:
    """Save, improve, and wait until the scribe is done."""

    def improve(store: Store, memory: Memory, scribe: Scribe) -> None:
        store.memories.put([memory])
        summarizer = Summarizer(scribe, problems)
        summarizer.improve(store, memory)
        if len(memory.text) > MAX_SUMMARY_CHARS:
            until(lambda: bool(scribe.read))
        if isinstance(scribe.summary, Exception):
            until(lambda: problems.message("summaries") is not None)
        summarizer.close()

    return improve


def kept(store: Store) -> list[Memory]:
    return store.memories.find(Filter(), Page())


MEMORY = make_memory("a", LONG, summary=summarize(LONG))


def test_a_writer_that_succeeds_replaces_the_local_summary(
    store: Store, improve: Improve, problems: Problems
) -> None:
    scribe = Scribe("JWT was chosen.")
    improve(store, MEMORY, scribe)
    assert problems.message("summaries") is None
    assert kept(store) == [MEMORY._replace(summary="JWT was chosen.")]
    assert scribe.read == [LONG]


def test_a_writer_that_fails_leaves_the_local_summary_and_says_why(
    store: Store, improve: Improve, problems: Problems
) -> None:
    improve(store, MEMORY, Scribe(Unavailable("Out of credit.")))
    assert problems.message("summaries") == "Out of credit."
    assert kept(store) == [MEMORY]


def test_an_error_that_is_not_ours_does_not_end_the_writing(store: Store, problems: Problems) -> None:
    scribe = Scribe(ZeroDivisionError())
    summarizer = Summarizer(scribe, problems)
    store.memories.put([MEMORY])
    summarizer.improve(store, MEMORY)
    until(lambda: problems.message("summaries") is not None)
    assert summarizer.written(LONG) is None
    scribe.summary = "Better."
    summarizer.improve(store, MEMORY)
    until(lambda: kept(store) == [MEMORY._replace(summary="Better.")])
    summarizer.close()
    assert problems.message("summaries") is None


def test_a_text_that_changed_meanwhile_keeps_its_own_summary(store: Store, improve: Improve) -> None:
    changed = MEMORY._replace(text="Changed", summary="Changed")
    improve(store, MEMORY, Scribe("Of the old text.", lambda: store.memories.put([changed])))
    assert kept(store) == [changed]


def test_what_else_changed_meanwhile_is_not_undone(store: Store, improve: Improve) -> None:
    moved = MEMORY._replace(project="/elsewhere")
    improve(store, MEMORY, Scribe("Better.", lambda: store.memories.put([moved])))
    assert kept(store) == [moved._replace(summary="Better.")]


def test_a_text_that_was_deleted_meanwhile_stays_deleted(store: Store, improve: Improve) -> None:
    def delete() -> None:
        store.memories.delete(Filter())

    improve(store, MEMORY, Scribe("Better.", delete))
    assert kept(store) == []


def test_others_can_write_while_a_summary_is_written(store: Store, improve: Improve) -> None:
    improve(store, MEMORY, Scribe("Better.", lambda: store.memories.put([make_memory("b")])))
    assert {memory.id: memory.summary for memory in kept(store)} == {"a": "Better.", "b": ""}


def test_a_short_text_is_not_sent_anywhere(store: Store, improve: Improve) -> None:
    scribe = Scribe("Better.")
    improve(store, make_memory("a", "x" * MAX_SUMMARY_CHARS), scribe)
    assert scribe.read == []


def test_without_a_writer_nothing_runs(store: Store, problems: Problems) -> None:
    before = threading.active_count()
    summarizer = Summarizer(None, problems)
    summarizer.improve(store, MEMORY)
    assert threading.active_count() == before
    summarizer.close()
