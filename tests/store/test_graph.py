"""The graph's rows: tied to their entries, told only to those who may see them, bounded for each entity."""

from __future__ import annotations

from backstory.domain.filters import Filter
from backstory.domain.graph import Extract, Label, Mention, Relation
from backstory.store import Store

from ..conftest import OpenStore
from ..doubles import make_memory

ITEM, LEFT, RIGHT = 1, 2, 3


def keep(store: Store, id: str, *mentions: Mention, relations: tuple[Relation, ...] = ()) -> None:
    """Store what was found in the present text of a memory."""
    (waiting,) = store.graph.unread(Filter(ids=(id,)), 1, 10)
    store.graph.put([Extract(waiting.entry, waiting.revision, ITEM, mentions, relations)], 1)


def test_a_memory_waits_until_its_present_text_was_read(store: Store) -> None:
    store.memories.put([make_memory("a", key="k")])
    (waiting,) = store.graph.unread(Filter(), 1, 10)
    assert (waiting.name, waiting.text) == ("k", "a text")
    keep(store, "a")
    assert store.graph.count_unread(Filter(), 1) == 0
    store.memories.put([make_memory("a", "another text", key="k")])
    assert store.graph.count_unread(Filter(), 1) == 1


def test_a_better_extractor_reads_again_and_a_worse_one_does_not(store: Store) -> None:
    store.memories.put([make_memory("a")])
    (waiting,) = store.graph.unread(Filter(), 2, 10)
    store.graph.put([Extract(waiting.entry, waiting.revision, ITEM, (), ())], 2)
    assert [store.graph.count_unread(Filter(), extractor) for extractor in (1, 2, 3)] == [0, 0, 1]


def test_a_memory_without_a_key_is_named_by_its_id(store: Store) -> None:
    store.memories.put([make_memory("a")])
    assert [each.name for each in store.graph.unread(Filter(), 1, 10)] == ["a"]


def test_what_was_read_of_a_text_that_changed_meanwhile_is_dropped(
    store: Store, open_store: OpenStore
) -> None:
    store.memories.put([make_memory("a")])
    (waiting,) = store.graph.unread(Filter(), 1, 10)
    open_store().memories.put([make_memory("a", "another text")])
    store.graph.put([Extract(waiting.entry, waiting.revision, ITEM, [Mention(LEFT, "file", "x", 1)], ())], 1)
    assert store.graph.entities(Filter()) == []
    assert store.graph.count_unread(Filter(), 1) == 1


def test_a_deleted_memory_takes_its_graph_along(store: Store) -> None:
    store.memories.put([make_memory("a"), make_memory("b")])
    both = (Mention(LEFT, "file", "x", 2), Mention(RIGHT, "file", "y", 1))
    keep(store, "a", *both, relations=(Relation(LEFT, "calls", RIGHT, 0.5),))
    keep(store, "b", both[0])
    store.memories.delete(Filter(ids=("a",)))
    assert [(each.name, each.times) for each in store.graph.entities(Filter())] == [("x", 2)]
    assert store.graph.relations_at([LEFT, RIGHT], Filter()) == []
    assert store.problems() == []


def test_every_question_sees_only_what_the_filter_lets_through(store: Store) -> None:
    store.memories.put([make_memory("open"), make_memory("hidden", session="s", private=True)])
    both = (Mention(LEFT, "name", "x", 1), Mention(RIGHT, "file", "y", 1), Mention(ITEM, "item", "i", 1))
    said = (Relation(LEFT, "calls", RIGHT, 0.5), Relation(ITEM, "mentions", RIGHT, 1.0))
    keep(store, "open", both[0])
    keep(store, "hidden", *both, relations=said)
    public, own = Filter(public_or_in=""), Filter(public_or_in="s")
    assert [each.number for each in store.graph.entities(public)] == [LEFT]
    assert {each.number for each in store.graph.entities(own)} == {ITEM, LEFT, RIGHT}
    assert store.graph.labels([LEFT, RIGHT], public) == [Label(LEFT, "name", "x")]
    assert (store.graph.named(["y"], public), store.graph.named(["y"], own)) == ([], [RIGHT])
    for relations in (
        store.graph.relations_at([LEFT, RIGHT], public),
        store.graph.relations_near([LEFT, RIGHT], public, (), 10),
        store.graph.relations_of_entries(public),
    ):
        assert relations == []
    assert sorted(store.graph.relations_at([RIGHT], own)) == sorted(said)
    assert store.graph.relations_of_entries(own) == [said[1]]
    assert store.graph.sources([LEFT], public) == {LEFT: ["open"]}


def test_an_entity_of_several_types_has_the_best_founded_one(store: Store) -> None:
    store.memories.put([make_memory("a"), make_memory("b")])
    keep(store, "a", Mention(LEFT, "name", "Auth", 1))
    keep(store, "b", Mention(LEFT, "class", "Auth", 1))
    assert [(each.type, each.sources) for each in store.graph.entities(Filter())] == [("class", 2)]
    assert store.graph.labels([LEFT], Filter()) == [Label(LEFT, "class", "Auth")]


def test_a_step_reads_the_newest_statements_of_each_entity(store: Store) -> None:
    ends = (Mention(LEFT, "file", "x", 1),)
    for n in range(5):
        store.memories.put([make_memory(f"m{n}")])
        mention = Mention(10 + n, "file", f"y{n}", 1)
        keep(store, f"m{n}", *ends, mention, relations=(Relation(LEFT, "calls", 10 + n, 0.5),))
    near = store.graph.relations_near([LEFT], Filter(), (), 2)
    assert {relation.object for relation in near} == {13, 14}
    assert store.graph.relations_near([LEFT], Filter(), ("fixes",), 2) == []
    assert len(store.graph.relations_near([LEFT, *range(10, 200)], Filter(), ("calls",), 2)) == 5


def test_equal_statements_are_one_relation_with_its_sources(store: Store) -> None:
    store.memories.put([make_memory("a"), make_memory("b")])
    ends = (Mention(LEFT, "file", "x", 1), Mention(RIGHT, "file", "y", 1))
    for id, confidence in (("a", 0.5), ("b", 0.75)):
        keep(store, id, *ends, relations=(Relation(LEFT, "calls", RIGHT, confidence),))
    assert store.graph.relations_at([LEFT], Filter()) == [Relation(LEFT, "calls", RIGHT, 0.75, 2)]
