"""Items as the core saves and finds them."""

from __future__ import annotations

import pytest

from backstory.core import Caller, Core, Engine
from backstory.core.ask import MAX_RANKED_MEMORIES
from backstory.core.memories import MemoryDraft
from backstory.domain.entries import TextFields
from backstory.domain.errors import InvalidInput, StorageFull
from backstory.domain.filters import Filter, Order, Page, Sorting
from backstory.domain.metadata import as_given, as_object
from backstory.store import Store

from ..doubles import SteppedClock, make_conversation, make_memory, make_messages, make_settings


def search(core: Core, query: str, fields: TextFields = TextFields.BOTH) -> list[str]:
    found = core.ask.holding(query, Filter(), fields=fields)
    assert found.total == len(found.memories)
    return [memory.text for memory in found.memories]


@pytest.mark.parametrize(
    "value",
    [None, {}, {"a": 1}, [], [1], "", "x", 0, False, {"": 1}, {"": {"": 1}}, {"": None}, {"": 1, "a": 2}],
)
def test_metadata_of_any_kind_goes_round(value: object) -> None:
    kept = as_object(value)
    assert isinstance(kept, dict)
    assert as_given(kept) == ({} if value is None else value)


def test_a_draft_without_a_key_is_never_replaced(core: Core) -> None:
    first = core.memories.save_item(MemoryDraft("one"))
    second = core.memories.save_item(MemoryDraft("two"))
    assert first.id != second.id
    with pytest.raises(InvalidInput, match="key is empty"):
        core.memories.save_item(MemoryDraft("three", key=""))


def test_messages_are_not_items(core: Core, store: Store) -> None:
    store.conversations.put(make_conversation("c"), make_messages("c", "a zebra in a message"))
    core.memories.save("a zebra in a memory")
    assert search(core, "zebra") == ["a zebra in a memory"]
    assert search(core, "-lion") == ["a zebra in a memory"]
    assert search(core, "zeb*") == ["a zebra in a memory"]


def test_a_changed_item_is_found_by_its_new_words_alone(core: Core) -> None:
    core.memories.save_item(MemoryDraft("alpha text", key="first_key"))
    core.memories.save_item(MemoryDraft("beta text", key="first_key"))
    assert search(core, "alpha") == []
    assert search(core, "beta") == search(core, "first", TextFields.KEY) == ["beta text"]
    core.deletion.by_key("first_key", core.sessions.current().id)
    assert search(core, "first", TextFields.KEY) == search(core, "beta") == []
    assert core.engine.store.problems() == []


def test_what_says_a_word_more_often_and_is_shorter_comes_first(core: Core, store: Store) -> None:
    texts = ["cache and many other words that say nothing of it", "cache and more", "cache cache and more"]
    store.memories.put([make_memory(f"m{n}", text) for n, text in enumerate(texts)])
    store.memories.put([make_memory("keyed", "and nothing more", tags=("cache",)), make_memory("other", "x")])
    found = search(core, "cache", TextFields.VALUE)
    assert found == texts[::-1]
    assert search(core, "cach*", TextFields.VALUE) == texts[::-1]
    assert set(search(core, "cache")) == {*texts}


def test_of_alternatives_the_rarer_word_counts_more_and_both_most(core: Core, store: Store) -> None:
    texts = ["cache of views", "tokens in views", "cache of tokens", "cache of names"]
    store.memories.put([make_memory(f"m{n}", text) for n, text in enumerate(texts)])
    found = search(core, "cache OR tokens")
    assert found[:2] == ["cache of tokens", "tokens in views"]
    assert set(found) == set(texts)


def test_a_form_that_begins_otherwise_is_ranked_too(core: Core, store: Store) -> None:
    store.memories.put(
        [make_memory("a", "Überläufe, alle"), make_memory("b", "viele andere Worte und uberlaufe")]
    )
    assert search(core, "uberlaufe") == ["Überläufe, alle", "viele andere Worte und uberlaufe"]


def test_more_matches_than_are_ranked_are_all_there(core: Core, store: Store) -> None:
    store.memories.put([make_memory(f"m{n}", f"common {n}") for n in range(MAX_RANKED_MEMORIES + 5)])
    assert len(search(core, "common")) == MAX_RANKED_MEMORIES + 5


def test_sorting_by_a_field_puts_what_lacks_it_last_either_way(core: Core) -> None:
    for key, metadata in (("a", {"n": 2}), ("b", {}), ("c", {"n": 1})):
        core.memories.save_item(MemoryDraft("x", key=key, metadata=metadata))
    for is_descending, expected in ((False, ["c", "a", "b"]), (True, ["a", "c", "b"])):
        sorting = Sorting(Order.NEWEST, "n", is_descending)
        found = core.ask.holding("x", Filter(), fields=TextFields.BOTH, sorting=sorting, limit=None, offset=0)
        assert [memory.key for memory in found.memories] == expected


def test_a_full_store_refuses_every_save_and_keeps_what_it_has(store: Store, clock: SteppedClock) -> None:
    core = Core(Engine(make_settings(max_store_mb=0), store, None, now=clock), Caller(project="/p"))
    with pytest.raises(StorageFull, match=r"limit of 0 MB"):
        core.memories.save("text")
    with pytest.raises(StorageFull):
        core.memories.save_item(MemoryDraft("text", key="k"))
    assert store.memories.find(Filter(), Page()) == []
    assert (
        Core(Engine(make_settings(), store, None), Caller(project="/p")).memories.save("text").text == "text"
    )
