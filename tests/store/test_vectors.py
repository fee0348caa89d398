"""The Store contract: texts that wait for vectors, and vectors. Every test runs on every backend."""

from __future__ import annotations

import threading
from datetime import timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from backstory.domain.entries import EntryVectors
from backstory.domain.filters import Filter
from backstory.domain.records import Entry
from backstory.store import Store
from backstory.store.sqlite import planes

from ..conftest import OpenStore
from ..doubles import DAWN, make_conversation, make_memory, make_messages

Vector = NDArray[np.float32]

HELD_MS = 60_000
OVER_MS = -1  # a lease that ended a millisecond ago
DIMENSIONS = 384


def unit_vectors(count: int, seed: int = 7) -> Vector:
    vectors = np.random.default_rng(seed).standard_normal((count, DIMENSIONS)).astype(np.float32)
    unit: Vector = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def embed_all(store: Store, space: int, vectors: Vector) -> dict[str, int]:
    """Give the waiting entries, oldest first, a vector each; the entry number of each id."""
    waiting = store.vectors.claim(space, len(vectors), lease_ms=0)[::-1]
    store.vectors.put(
        space, [EntryVectors(w.entry, w.revision, v[None]) for w, v in zip(waiting, vectors, strict=True)]
    )
    return {entry.id: number for number, entry in store.entries.load(w.entry for w in waiting).items()}


def test_a_space_keeps_its_number_and_models_have_their_own(store: Store, open_store: OpenStore) -> None:
    one = store.vectors.open_space("one")
    assert store.vectors.open_space("one") == one != store.vectors.open_space("two")
    assert open_store().vectors.open_space("one") == one


def test_a_new_space_starts_with_every_entry_waiting(store: Store) -> None:
    store.memories.put([make_memory("a")])
    store.conversations.put(make_conversation("c"), make_messages("c", "hello", "world"))
    assert store.vectors.count_waiting(store.vectors.open_space("model")) == 3


def test_the_newest_are_embedded_first_with_what_is_known_besides_the_text(store: Store) -> None:
    space = store.vectors.open_space("model")
    store.memories.put([make_memory("a", "first"), make_memory("b", "second", key="k", tags=("t",))])
    waiting = store.vectors.claim(space, 10, lease_ms=0)
    assert [(w.heading, w.text) for w in waiting] == [("k t", "second"), ("", "first")]
    assert store.vectors.claim(space, 1, lease_ms=0) == waiting[:1]


def test_memories_come_first_then_prompts_and_conclusions_then_what_was_said_on_the_way(store: Store) -> None:
    space = store.vectors.open_space("model")
    store.memories.put([make_memory("old", "a memory", created_at=DAWN - timedelta(days=5000))])
    for days, name in ((1, "new"), (300, "old")):
        at = DAWN - timedelta(days=days)
        messages = make_messages(name, "question", "on the way", "answer", created_at=at)
        messages[2] = messages[2]._replace(role="assistant")
        store.conversations.add(make_conversation(name), messages, ())
    order: list[Entry] = []
    while waiting := store.vectors.claim(space, 1, lease_ms=HELD_MS):
        order += store.entries.load(each.entry for each in waiting).values()
    assert [entry.id for entry in order] == ["old", "new:2", "new:0", "old:2", "old:0", "new:1", "old:1"]


def test_a_passage_with_a_vector_is_known_by_its_digest_until_the_last_text_that_holds_it_is_gone(
    store: Store,
) -> None:
    space, other = store.vectors.open_space("model"), store.vectors.open_space("other")
    store.memories.put([make_memory("a"), make_memory("b")])
    vectors = unit_vectors(2)
    for waiting in store.vectors.claim(space, 2, lease_ms=0):
        store.vectors.put(space, [EntryVectors(waiting.entry, waiting.revision, vectors, (7, -(2**62)))])
    known = store.vectors.known(space, {7, -(2**62), 9})
    assert known.keys() == {7, -(2**62)}
    assert float(known[7] @ vectors[0]) > 0.999
    assert float(known[-(2**62)] @ vectors[1]) > 0.999
    assert store.vectors.known(other, {7}) == {}
    store.memories.delete(Filter(ids=("a",)))
    assert store.vectors.known(space, {7}).keys() == {7}
    store.memories.delete(Filter(ids=("b",)))
    assert store.vectors.known(space, {7}) == {}


def test_what_is_leased_is_given_to_nobody_else_until_the_lease_is_over(
    store: Store, open_store: OpenStore
) -> None:
    space, other = store.vectors.open_space("model"), open_store()
    store.memories.put([make_memory(f"{n}") for n in range(5)])
    first = store.vectors.claim(space, 3, lease_ms=HELD_MS)
    second = other.vectors.claim(space, 3, lease_ms=OVER_MS)
    assert len(first) == 3
    assert len(second) == 2
    assert not {w.entry for w in first} & {w.entry for w in second}
    again = store.vectors.claim(space, 3, lease_ms=HELD_MS)
    assert {w.entry for w in again} == {w.entry for w in second}
    assert store.vectors.claim(space, 3, lease_ms=HELD_MS) == []


def test_a_lease_of_0_takes_texts_whoever_has_them(store: Store) -> None:
    space = store.vectors.open_space("model")
    store.memories.put([make_memory("a")])
    held = store.vectors.claim(space, 1, lease_ms=HELD_MS)
    assert store.vectors.claim(space, 1, lease_ms=0) == held


def test_embedded_texts_wait_no_longer(store: Store) -> None:
    space = store.vectors.open_space("model")
    store.memories.put([make_memory("a"), make_memory("b")])
    embed_all(store, space, unit_vectors(2))
    assert store.vectors.count_waiting(space) == store.census().waiting == 0
    assert store.vectors.claim(space, 10, lease_ms=0) == []


def test_vectors_of_a_text_that_changed_or_went_meanwhile_are_ignored(store: Store) -> None:
    space = store.vectors.open_space("model")
    store.memories.put([make_memory("kept"), make_memory("changed"), make_memory("gone")])
    waiting = store.vectors.claim(space, 10, lease_ms=HELD_MS)
    store.memories.put([make_memory("changed", "another text")])
    store.memories.delete(Filter(ids=("gone",)))
    vectors = unit_vectors(3)
    store.vectors.put(
        space, [EntryVectors(w.entry, w.revision, v[None]) for w, v in zip(waiting, vectors, strict=True)]
    )
    near = store.vectors.nearest(space, vectors[0], Filter(), 10)
    assert {entry.id for entry in store.entries.load(near).values()} == {"kept"}
    assert [w.text for w in store.vectors.claim(space, 10, lease_ms=HELD_MS)] == ["another text"]
    assert store.problems() == []


def test_a_changed_text_loses_its_vectors_and_waits_again(store: Store) -> None:
    space = store.vectors.open_space("model")
    store.memories.put([make_memory("a", "before")])
    vectors = unit_vectors(1)
    embed_all(store, space, vectors)
    store.memories.put([make_memory("a", "after")])
    assert store.vectors.nearest(space, vectors[0], Filter(), 10) == {}
    assert store.vectors.count_waiting(space) == 1


def test_what_does_not_change_the_text_keeps_its_vectors(store: Store) -> None:
    space = store.vectors.open_space("model")
    store.memories.put([make_memory("a", "same")])
    vectors = unit_vectors(1)
    embed_all(store, space, vectors)
    store.memories.put([make_memory("a", "same", summary="better", project="/elsewhere", private=True)])
    assert store.vectors.count_waiting(space) == 0
    assert len(store.vectors.nearest(space, vectors[0], Filter(projects=("/elsewhere",)), 10)) == 1


def test_deleting_removes_vectors_and_what_waits(store: Store) -> None:
    space, later = store.vectors.open_space("model"), store.vectors.open_space("later")
    store.memories.put([make_memory("a"), make_memory("b")])
    vectors = unit_vectors(2)
    number = embed_all(store, space, vectors)
    store.memories.delete(Filter(ids=("a",)))
    assert store.vectors.nearest(space, vectors[0], Filter(), 10).keys() == {number["b"]}
    assert store.vectors.passages(space, number.values())[0] == [number["b"]]
    assert store.vectors.count_waiting(later) == 1
    assert store.problems() == []


def test_spaces_are_never_mixed(store: Store) -> None:
    one, two = store.vectors.open_space("one"), store.vectors.open_space("two")
    store.memories.put([make_memory("a"), make_memory("b")])
    vectors = unit_vectors(2)
    newest = store.vectors.claim(one, 1, lease_ms=0)[0]
    store.vectors.put(one, [EntryVectors(newest.entry, newest.revision, vectors[:1])])
    assert store.vectors.nearest(two, vectors[0], Filter(), 10) == {}
    assert not len(store.vectors.passages(two, [newest.entry])[0])
    assert (store.vectors.count_waiting(one), store.vectors.count_waiting(two)) == (1, 2)


def test_spaces_may_have_different_dimensions(store: Store) -> None:
    store.memories.put([make_memory("a")])
    for model, dimensions in (("small", 3), ("large", 1000)):
        space = store.vectors.open_space(model)
        vector = np.zeros((1, dimensions), np.float32)
        vector[0, -1] = 1
        embed_all(store, space, vector)
        assert list(store.vectors.nearest(space, vector[0], Filter(), 1).values()) == pytest.approx(
            [1], abs=0.01
        )


@pytest.fixture
def crowd(store: Store) -> tuple[Store, int, Vector, dict[str, int]]:
    """1,200 entries with vectors; every hundredth is in a project of its own."""
    space, vectors = store.vectors.open_space("model"), unit_vectors(1200)
    store.memories.put(
        [make_memory(f"{n}", project="/rare" if n % 100 == 0 else "/p") for n in range(len(vectors))]
    )
    return store, space, vectors, embed_all(store, space, vectors)


Crowd = tuple[Store, int, Vector, dict[str, int]]


def test_the_nearest_come_with_their_cosine_similarity(crowd: Crowd) -> None:
    store, space, vectors, number = crowd
    query = vectors[321]
    near = store.vectors.nearest(space, query, Filter(), 10)
    assert len(near) == 10
    assert next(iter(near)) == number["321"]
    assert near[number["321"]] == pytest.approx(1, abs=0.01)
    truth = {number[f"{n}"]: similarity for n, similarity in enumerate((vectors @ query).tolist())}
    assert near == pytest.approx({entry: truth[entry] for entry in near}, abs=0.01)
    assert list(near.values()) == sorted(near.values(), reverse=True)


def test_a_selective_filter_gets_the_true_nearest_of_what_it_lets_through(crowd: Crowd) -> None:
    store, space, vectors, number = crowd
    query = vectors[1]
    rare = {number[f"{n}"]: float(vectors[n] @ query) for n in range(0, 1200, 100)}
    best = sorted(rare, key=lambda entry: -rare[entry])[:10]
    near = store.vectors.nearest(space, query, Filter(projects=("/rare",)), 10)
    assert list(near) == best


def test_a_filter_that_lets_nothing_through_finds_nothing(crowd: Crowd) -> None:
    store, space, vectors, _ = crowd
    assert store.vectors.nearest(space, vectors[0], Filter(projects=("/none",)), 5) == {}


def test_the_nearest_are_right_after_most_were_deleted(crowd: Crowd) -> None:
    store, space, vectors, number = crowd
    assert store.vectors.nearest(space, vectors[5], Filter(), 1).keys() == {number["5"]}
    store.memories.delete(Filter(projects=("/p",)))
    near = store.vectors.nearest(space, vectors[5], Filter(), 50)
    assert near.keys() == {number[f"{n}"] for n in range(0, 1200, 100)}


def test_the_nearest_are_those_of_a_new_connection_after_some_were_deleted(
    crowd: Crowd, open_store: OpenStore
) -> None:
    store, space, vectors, number = crowd
    near = store.vectors.nearest(space, vectors[5], Filter(), 75)
    gone = tuple(id for id, entry in number.items() if entry in near)
    open_store().memories.delete(Filter(ids=gone))
    new = open_store().vectors.nearest(space, vectors[5], Filter(), 75)
    assert store.vectors.nearest(space, vectors[5], Filter(), 75) == new
    assert new.keys().isdisjoint(near)


def test_vectors_are_given_of_the_entries_asked_for_alone(crowd: Crowd) -> None:
    store, space, vectors, number = crowd
    entries, rows = store.vectors.passages(space, [number["3"], number["4"], number["3"], 10**9])
    near = dict(zip(entries, (rows @ vectors[3]).tolist(), strict=True))
    assert near == pytest.approx({number["3"]: 1, number["4"]: float(vectors[3] @ vectors[4])}, abs=0.01)


def test_an_entry_is_as_near_as_its_nearest_passage(store: Store) -> None:
    space, vectors = store.vectors.open_space("model"), unit_vectors(3)
    store.memories.put([make_memory("long")])
    (waiting,) = store.vectors.claim(space, 1, lease_ms=0)
    store.vectors.put(space, [EntryVectors(waiting.entry, waiting.revision, vectors)])
    for vector in vectors:
        assert store.vectors.nearest(space, vector, Filter(), 5) == pytest.approx(
            {waiting.entry: 1}, abs=0.01
        )


def test_vectors_that_another_connection_adds_are_found(store: Store, open_store: OpenStore) -> None:
    other, vectors = open_store(), unit_vectors(2)
    space = store.vectors.open_space("model")
    store.memories.put([make_memory("a")])
    first = embed_all(store, space, vectors[:1])
    assert store.vectors.nearest(space, vectors[1], Filter(), 5).keys() == set(first.values())
    other.memories.put([make_memory("b")])
    second = embed_all(other, space, vectors[1:])
    assert next(iter(store.vectors.nearest(space, vectors[1], Filter(), 5))) == second["b"]


def test_private_entries_of_others_are_not_near(store: Store) -> None:
    space, vectors = store.vectors.open_space("model"), unit_vectors(1)
    store.memories.put([make_memory("a", session="s", private=True)])
    embed_all(store, space, vectors)
    assert store.vectors.nearest(space, vectors[0], Filter(public_or_in=""), 5) == {}
    assert len(store.vectors.nearest(space, vectors[0], Filter(public_or_in="s"), 5)) == 1


def test_all_vectors_of_entries_are_given_with_the_entry_of_each(store: Store) -> None:
    space = store.vectors.open_space("model")
    store.memories.put([make_memory("a"), make_memory("b"), make_memory("c")])
    vectors = unit_vectors(4)
    c, b, a = store.vectors.claim(space, 3, lease_ms=0)
    of_each = [(a, vectors[:2]), (b, vectors[2:3]), (c, vectors[3:])]
    store.vectors.put(space, [EntryVectors(text.entry, text.revision, some) for text, some in of_each])
    entries, rows = store.vectors.passages(space, [a.entry, b.entry])
    assert sorted(entries) == sorted([a.entry, a.entry, b.entry])
    for text, some in of_each[:2]:
        own = rows[[place for place, entry in enumerate(entries) if entry == text.entry]]
        assert np.allclose(np.sort(own @ some.T, axis=1)[:, -1], 1, atol=0.01)
    assert not len(store.vectors.passages(space, [])[0])


def test_a_text_is_found_also_while_its_vectors_are_put_once_more(
    store: Store, open_store: OpenStore
) -> None:
    space = store.vectors.open_space("model")
    store.memories.put([make_memory("a")])
    (text,) = store.vectors.claim(space, 1, lease_ms=0)
    vectors = unit_vectors(1)
    put = EntryVectors(text.entry, text.revision, vectors)
    store.vectors.put(space, [put])
    other, is_over = open_store(), threading.Event()

    def put_again() -> None:
        while not is_over.is_set():
            other.vectors.put(space, [put])

    busy = threading.Thread(target=put_again)
    busy.start()
    try:
        for _ in range(200):
            assert text.entry in store.vectors.nearest(space, vectors[0], Filter(), 10)
    finally:
        is_over.set()
        busy.join()


@pytest.mark.parametrize("every", [1, 7, 10])
def test_the_smallest_of_very_many_distances_are_found(every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By counting a tenth of them; also where the small ones are just those that are counted, or none of them."""
    monkeypatch.setattr(planes, "_COUNTED", 1_000)
    distance = np.full(10_000, 300, np.uint16)
    distance[1::every] = np.random.default_rng(every).integers(0, 200, len(distance[1::every]))
    found = planes._closest(distance, 200)
    assert len(set(found.tolist())) == len(found)
    assert 100 <= len(found) <= 400
    assert sorted(distance[found]) == sorted(distance)[: len(found)]
