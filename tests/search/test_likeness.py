"""Scores are calibrated: on labelled pairs, a paraphrase is above the default threshold and a stranger below it."""

from __future__ import annotations

from math import nan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.core import Caller, Core, Engine
from backstory.core.ask import Inquiry
from backstory.domain.filters import Filter, Kind
from backstory.search import certainty
from backstory.search.backlog import Backlog
from backstory.search.engine import Search
from backstory.search.minilm import MiniLM
from backstory.store import Store

from ..doubles import make_conversation, make_messages, make_settings

THRESHOLD, SURE = 0.7, 0.5
shares = st.floats(0, 1)


def labelled(label: str) -> list[tuple[str, str]]:
    lines = Path(__file__).with_name("likeness.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    return [(query, text) for kind, query, text in rows if kind == label]


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


@pytest.fixture
def knowing(store: Store, model: MiniLM) -> Core:
    """One store with all texts of the set: each query has its one answer among 59 others."""
    core = Core(Engine(make_settings(), store, model), Caller(project="/p"), "projectmemory")
    for text in dict.fromkeys(text for _, text in labelled("same")):
        core.memories.save(text)
    assert core.engine.backlog is not None
    core.engine.backlog.drain()
    core.engine.backlog.close()
    return core


def found(core: Core, query: str) -> set[str]:
    ranking = core.ask.find(Inquiry(query, least=THRESHOLD))
    return {shown.entry.text for shown in core.previews.show(ranking.hits, ranking)}


def test_paraphrases_are_found_and_strangers_are_not_with_the_default_threshold(knowing: Core) -> None:
    answers = {query: found(knowing, query) for query, _ in labelled("same")}
    missed = [query for query, text in labelled("same") if text not in answers[query]]
    strangers = [(query, text) for query, text in labelled("unrelated") if text in answers[query]]
    assert strangers == []
    assert len(missed) <= 2, missed
    assert sum(map(len, answers.values())) <= 2 * len(answers)


@pytest.mark.parametrize("with_vectors", [True, False])
def test_the_only_conversation_is_not_sure_for_being_the_only_one(
    store: Store, model: MiniLM, with_vectors: bool
) -> None:
    texts = [text for _, text in labelled("same")]
    for number, text in enumerate(texts):
        name = f"c{number}"
        store.conversations.put(make_conversation(name), make_messages(name, "Look at it.", text))
    backlog = Backlog(store, model) if with_vectors else None
    if backlog is not None:
        backlog.drain()
    search = Search(store, backlog)

    def is_sure(query: str, number: int) -> bool:
        only = Filter(kinds=(Kind.MESSAGE,), threads=(f"c{number % len(texts)}",))
        return any(hit.certainty >= SURE for hit in search.find(query, only).hits)

    queries = [query for query, _ in labelled("same")]
    answers = sum(is_sure(query, number) for number, query in enumerate(queries))
    strangers = sum(
        is_sure(query, number + away) for number, query in enumerate(queries) for away in range(1, 7)
    )
    assert answers >= 54, answers
    assert strangers <= 8, strangers  # of 360


def likeness(nearness: float, coverage: float) -> float:
    (alike,) = certainty.likeness(np.array([nearness]), np.array([coverage])).tolist()
    return float(alike)


@given(shares, shares, shares)
def test_more_evidence_never_makes_less_sure(cosine: float, coverage: float, more: float) -> None:
    assert likeness(min(cosine + more, 1), coverage) >= likeness(cosine, coverage)
    assert likeness(cosine, min(coverage + more, 1)) >= likeness(cosine, coverage)
    assert likeness(nan, min(coverage + more, 1)) >= likeness(nan, coverage)
    assert 0 <= likeness(cosine, coverage) <= 1


def test_a_name_that_is_there_word_for_word_is_found_whatever_its_vector_says() -> None:
    assert likeness(0.15, 1.0) >= THRESHOLD
    assert likeness(nan, 1.0) >= THRESHOLD


def test_without_any_evidence_nothing_is_sure() -> None:
    assert likeness(0.0, 0.0) < 0.05
    assert likeness(nan, 0.0) == 0.0
