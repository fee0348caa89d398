"""Ranking: pure functions of evidence."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.domain.entries import Outline, Posting
from backstory.domain.words import Unit
from backstory.search.ranking import LEAST_SIMILARITY, SHORT, Evidence, rank


def outline(entry: int, **changes: Any) -> Outline:
    fields = {
        "entry": entry, "thread": None, "seq": 0, "role": "", "speaker": "", "size": 100, "project": "/p",
        "created_ms": 0,
    }  # fmt: skip
    return Outline(**(fields | changes))


def message(entry: int, seq: int, **changes: Any) -> Outline:
    return outline(entry, **({"thread": "c", "seq": seq, "role": "user"} | changes))


def posting(word: str, *entries: int, frequency: int | None = None, is_bonus: bool = False) -> Posting:
    unit = Unit((word,), is_bonus=is_bonus)
    return Posting(unit, len(entries) if frequency is None else frequency, frozenset(entries), True)


def evidence(*postings: Posting, similarity: dict[int, float] | None = None, **changes: Any) -> Evidence:
    words = frozenset(word for p in postings for word in p.unit.words)
    plain = Evidence(postings, store_size=100, similarity=similarity or {}, query_words=words, project=None)
    return plain._replace(**changes)


def order(outlines: list[Outline], known: Evidence) -> list[int]:
    return [ranked.entry for ranked in rank(outlines, known)]


def test_who_covers_more_of_the_query_comes_first() -> None:
    known = evidence(posting("a", 1, 2), posting("b", 1, 3), posting("c", 1, 2))
    assert order([outline(n) for n in (1, 2, 3)], known) == [1, 2, 3]


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    known = evidence(posting("common", 2, frequency=90), posting("rare", 1, frequency=1))
    assert order([outline(1), outline(2)], known) == [1, 2]


def test_who_has_every_word_is_covered_whole() -> None:
    (ranked,) = rank([outline(1)], evidence(posting("a", 1), posting("b", 1)))
    assert ranked.coverage == pytest.approx(1)


def test_a_bonus_that_is_nowhere_is_not_missed() -> None:
    plain, bonus = posting("a", 1), posting("b", is_bonus=True)
    (ranked,) = rank([outline(1)], evidence(plain, bonus))
    assert ranked.coverage == pytest.approx(1)
    (missed,) = rank([outline(1)], evidence(plain, posting("b")))
    assert missed.coverage < 1


def test_the_nearer_in_meaning_comes_first_among_equals_in_words() -> None:
    known = evidence(posting("a", 1, 2), similarity={1: 0.2, 2: 0.7})
    assert order([outline(1), outline(2)], known) == [2, 1]


def test_meaning_alone_is_enough_unless_it_is_noise() -> None:
    known = evidence(posting("a", 1), similarity={2: LEAST_SIMILARITY, 3: LEAST_SIMILARITY - 0.01, 4: -0.5})
    assert order([outline(n) for n in (1, 2, 3, 4)], known) == [1, 2]


def test_equals_come_newest_first() -> None:
    known = evidence(posting("a", 1, 2, 3))
    assert order([outline(n) for n in (2, 3, 1)], known) == [3, 2, 1]


def test_an_entry_that_both_arms_found_is_ranked_once() -> None:
    assert order([outline(1), outline(1)], evidence(posting("a", 1))) == [1]


def test_a_short_message_borrows_from_the_ones_beside_it() -> None:
    known = evidence(posting("deploy", 1), posting("staging", 2))
    alone = {r.entry: r.coverage for r in rank([message(2, 1)], known)}
    beside = {r.entry: r.coverage for r in rank([message(1, 0), message(2, 1)], known)}
    assert beside[2] > alone[2]


def test_more_is_borrowed_from_the_message_before_than_from_the_one_after() -> None:
    known = evidence(posting("answer", 2))
    covered = {r.entry: r.coverage for r in rank([message(1, 0), message(2, 1), message(3, 2)], known)}
    assert covered[2] > covered[3] > covered[1] > 0


@pytest.mark.parametrize(
    "reader",
    [
        message(2, 1, size=SHORT),
        message(2, 2),
        message(2, 1, thread="another"),
        outline(2, thread="c", seq=1),
    ],
    ids=["long", "not beside", "another conversation", "a memory"],
)
def test_nobody_else_borrows(reader: Outline) -> None:
    known = evidence(posting("a", 1))
    assert order([message(1, 0), reader], known) == [1]


def test_an_entry_gains_when_its_thread_answers_in_other_places_too() -> None:
    known = evidence(posting("a", 1, 3), posting("b", 2, 4), store_size=1000)
    pool = [outline(1), outline(2), outline(3, thread="s"), outline(4, thread="s")]
    scores = {r.entry: r.score for r in rank(pool, known)}
    assert min(scores[3], scores[4]) > max(scores[1], scores[2])


def test_the_callers_project_is_preferred_and_no_other_excluded() -> None:
    pool = [outline(1, project="/mine"), outline(2, project="/other")]
    assert order(pool, evidence(posting("a", 1, 2), project="/mine")) == [1, 2]
    assert order(pool, evidence(posting("a", 1, 2), project=None)) == [2, 1]


def test_what_an_assistant_repeats_stands_behind_what_it_was_told() -> None:
    pool = [message(1, 0, thread="x"), message(2, 0, thread="y", role="assistant")]
    assert order(pool, evidence(posting("a", 1, 2))) == [1, 2]


def test_a_speaker_named_in_the_query_is_preferred() -> None:
    pool = [message(1, 0, thread="x", speaker="Ann"), message(2, 0, thread="y", speaker="Bob")]
    assert order(pool, evidence(posting("ann"), posting("a", 1, 2))) == [1, 2]


def test_nothing_known_ranks_nothing() -> None:
    assert rank([], evidence()) == []
    assert rank([outline(1)], evidence()) == []


pools = st.lists(
    st.builds(
        outline,
        st.integers(1, 30),
        thread=st.sampled_from([None, "s", "t"]),
        seq=st.integers(0, 4),
        role=st.sampled_from(["", "user", "assistant"]),
        size=st.sampled_from([10, SHORT]),
        project=st.sampled_from(["/p", "/q"]),
    ),
    max_size=12,
    unique_by=lambda o: o.entry,
)
entry_sets = st.frozensets(st.integers(1, 30))


@given(
    pools, st.lists(entry_sets, min_size=1, max_size=4), st.dictionaries(st.integers(1, 30), st.floats(-1, 1))
)
def test_the_same_evidence_gives_the_same_order_with_scores_from_0_to_1(
    pool: list[Outline], held: list[frozenset[int]], similarity: dict[int, float]
) -> None:
    known = evidence(*(posting(f"w{n}", *entries) for n, entries in enumerate(held)), similarity=similarity)
    ranked = rank(pool, known)
    shuffled = random.Random(1).sample(pool, len(pool))
    assert rank(shuffled, known) == ranked
    assert all(0 <= r.score <= 1 for r in ranked)
    assert [r.score for r in ranked] == sorted((r.score for r in ranked), reverse=True)
