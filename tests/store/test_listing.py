"""The Store contract: sets of entries that hold a word or a field, and listings of them. Every backend."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

import pytest

from backstory.domain.entries import TextFields, numbers_of
from backstory.domain.filters import Filter, Order, Page
from backstory.domain.records import Former, Priority, Session
from backstory.domain.words import Unit
from backstory.store import Store

from ..doubles import DAWN, make_conversation, make_memory, make_messages


def ids(store: Store, entries: Iterable[int]) -> set[str]:
    return {entry.id for entry in store.entries.load(map(int, entries)).values()}


@pytest.mark.parametrize(
    ("fields", "found"),
    [(TextFields.KEY, {"key"}), (TextFields.VALUE, {"value"}), (TextFields.BOTH, {"key", "value"})],
)
def test_a_word_is_found_in_the_fields_that_are_asked_for(
    store: Store, fields: TextFields, found: set[str]
) -> None:
    store.memories.put(
        [
            make_memory("key", "other", key="auth_token"),
            make_memory("value", "the token", key="other"),
            make_memory("neither", "other", key="other", category="token", tags=("token",)),
        ]
    )
    assert ids(store, store.text.match(Unit(("token",)), fields)) == found
    assert ids(store, store.text.match(Unit(("tok",), is_prefix=True), fields)) == found


def test_a_key_that_changes_or_goes_is_no_longer_found(store: Store) -> None:
    store.memories.put([make_memory("a", key="first"), make_memory("b", key="first")])
    store.memories.put([make_memory("a", key="second")])
    store.memories.delete(Filter(ids=("b",)))
    assert not len(store.text.match(Unit(("first",)), TextFields.KEY))
    assert ids(store, store.text.match(Unit(("second",)), TextFields.KEY)) == {"a"}
    store.memories.put([make_memory("a", key=None)])
    assert not len(store.text.match(Unit(("second",)), TextFields.BOTH))
    assert store.problems() == []


@pytest.mark.parametrize("name", ["area", "50%", "a_b", "ä", 'quo"te', "exclaim!"])
def test_metadata_is_found_by_the_name_of_a_field(store: Store, name: str) -> None:
    store.memories.put([make_memory("with", metadata={name: 1}), make_memory("without", metadata={"axb": 1})])
    assert ids(store, set(store.memories.with_metadata(name))) == {"with"}


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("auth?jwt", {"auth_jwt"}),
        ("[aA]uth?*", {"Auth.JWT", "auth_jwt"}),
        ("Auth*", {"Auth.JWT"}),
        ("AUTH*", set()),
        ("user_[0-9]", {"user_7"}),
        ("user_[^0-9]", {"user_x"}),
        ("user_[!0-9]", {"user_x"}),
        ("[!]bang", {"!bang"}),
        ("user_[x-]", {"user_x"}),
        ("user_[]x]", {"user_x"}),
        ("[[]a[]]\\d", {"[a]\\d"}),
        ("user_[", set()),
        ("user_[]", set()),
        ("[]", set()),
        ("user_[^]", set()),
        ("user_[z-a]", set()),
        ("user_[^z-a]", {"user_7", "user_x"}),
        ("user_[z-a7]", {"user_7"}),
        ("user_[-x]", {"user_x"}),
        ("user_[w-y-9]", {"user_x"}),
        ("user_[^.w-z]", {"user_7"}),
        ("*[|^$]*", {"(a|b)+"}),
        ("*[[:alpha:]]*", {"[a]\\d"}),
        ("(a|b)+", {"(a|b)+"}),
        ("100%", {"100%"}),
        ("100%*", {"100%", "100%?"}),
        ("a_th*", set()),
        ("!*", {"!bang"}),
        ("ärger", set()),
    ],
)
def test_a_key_pattern_is_a_glob_with_classes_and_case(store: Store, pattern: str, found: set[str]) -> None:
    keys = ("Auth.JWT", "auth_jwt", "100%", "100%?", "!bang", "Ärger", "user_7", "user_x", "[a]\\d", "(a|b)+")
    store.memories.put([make_memory(key, key=key) for key in keys])
    assert {memory.id for memory in store.memories.find(Filter(key_glob=pattern), Page())} == found


def test_keys_are_ordered_by_their_code_points_and_none_comes_first(store: Store) -> None:
    store.memories.put(
        [make_memory(key or "none", key=key) for key in ("b", "B", "ä", "a.b", None, "a_b", "a")]
    )
    expected = [None, "B", "a", "a.b", "a_b", "b", "ä"]
    assert [listed.key for listed in store.memories.listing(Filter(), Order.KEY)] == expected
    assert [listed.key for listed in store.memories.listing(Filter(), Order.KEY_REVERSED)] == expected[::-1]


def test_of_some_memories_those_of_the_channels_are_listed(store: Store) -> None:
    channels = ("a", "b", None, "a", "c")
    store.memories.put([make_memory(f"m{n}", channel=channel) for n, channel in enumerate(channels)])
    numbers = store.memories.numbers(Filter(), Order.OLDEST, None).tolist()
    some = numbers_of(sorted(numbers)[:3] + sorted(numbers)[4:])
    channel_of = dict(zip(sorted(numbers), channels, strict=True))
    for wanted in (("a",), ("a", "c"), ("",)):
        found = store.memories.numbers(Filter(channels=wanted), Order.OLDEST, some)
        assert sorted(found) == [n for n in some.tolist() if channel_of[n] in wanted]


def test_the_newest_of_some_memories_come_in_order_before_the_others(store: Store) -> None:
    ages = (5, 0, 3, 3, 9, 3, 1)
    memories = [make_memory(f"m{n}", created_at=DAWN - timedelta(days=age)) for n, age in enumerate(ages)]
    store.memories.put(memories)
    every = store.memories.numbers(Filter(), Order.NEWEST, None)
    for count in range(1, len(ages) + 2):
        found = store.memories.numbers(Filter(), Order.NEWEST, numbers_of(sorted(every)), count)
        assert found[:count].tolist() == every[:count].tolist()
        assert sorted(found) == sorted(every)


def test_listings_are_filtered_ordered_and_limited_to_some(store: Store) -> None:
    for place, priority in enumerate((Priority.LOW, Priority.CRITICAL, Priority.HIGH)):
        at = DAWN + timedelta(seconds=place)
        store.memories.put([make_memory(f"m{place}", key=f"k{place}", priority=priority, created_at=at)])

    def keys(where: Filter, order: Order) -> list[str | None]:
        return [listed.key for listed in store.memories.listing(where, order)]

    assert keys(Filter(), Order.PRIORITY) == ["k1", "k2", "k0"]
    assert keys(Filter(), Order.PRIORITY_REVERSED) == ["k0", "k2", "k1"]
    assert keys(Filter(keys=("k0", "k2")), Order.NEWEST) == ["k2", "k0"]
    zero, one, two = [listed.entry for listed in store.memories.listing(Filter(), Order.KEY)]
    for order, expected in ((Order.NEWEST, [two, zero]), (Order.OLDEST, [zero, two])):
        assert store.memories.numbers(Filter(), order, numbers_of([zero, two])).tolist() == expected
        assert store.memories.numbers(Filter(), order, numbers_of([])).tolist() == []
    assert store.memories.numbers(Filter(), Order.NEWEST, None).tolist() == [two, one, zero]
    only = store.memories.numbers(Filter(keys=("k0",)), Order.NEWEST, numbers_of([zero, two]))
    assert only.tolist() == [zero]
    paged = [
        memory.key for memory in store.memories.find(Filter(), Page(limit=2, offset=1, order=Order.OLDEST))
    ]
    assert paged == ["k1", "k2"]


def test_used_bytes_grow_with_what_is_kept_and_shrink_with_what_goes(store: Store) -> None:
    before = store.used_bytes()
    store.memories.put([make_memory("large", "word " * 100_000)])
    full = store.used_bytes()
    store.memories.delete(Filter())
    assert before <= store.used_bytes() < full


def test_sessions_come_back_whole_and_newest_first(store: Store) -> None:
    later = DAWN + timedelta(days=1)
    old = Session("a", "Old", "/p", "keeper", DAWN, DAWN, "main", "about", None)
    new = Session("b", "New", "/p", "keeper", later, later, "general", "", "a")
    for session in (old, new, old._replace(id="c", surface="other")):
        store.sessions.put(session)
    assert store.sessions.get("a") == old
    assert store.sessions.get("nobody") is None
    assert store.sessions.find("keeper", after=None, before=None) == [new, old]
    assert store.sessions.find("keeper", after=later, before=None) == [new]
    assert store.sessions.find("keeper", after=None, before=later) == [old]
    store.sessions.put(old._replace(name="Renamed"))
    assert [session.name for session in store.sessions.find("keeper", after=None, before=None)] == [
        "New",
        "Renamed",
    ]


def test_former_values_keep_their_order_and_go_with_their_memory(store: Store) -> None:
    memory = make_memory("a", "one", metadata={"n": 1}, private=True)
    store.memories.put([memory])
    store.memories.add_former(memory)
    store.memories.put([memory._replace(text="two", private=False)])
    store.memories.add_former(memory)
    assert store.memories.former("a") == [
        Former("one", None, Priority.NORMAL, None, {"n": 1}, DAWN, private=True),
        Former("two", None, Priority.NORMAL, None, {"n": 1}, DAWN),
    ]
    store.memories.delete(Filter(ids=("a",)))
    store.memories.put([memory])
    assert store.memories.former("a") == []


def test_sessions_count_the_memories_that_match(store: Store) -> None:
    store.memories.put(
        [make_memory(f"m{n}", session="s" if n < 2 else "t", private=n == 0) for n in range(3)]
    )
    assert store.memories.count_by_session(Filter()) == {"s": 2, "t": 1}
    assert store.memories.count_by_session(Filter(public_or_in="")) == {"s": 1, "t": 1}


def test_projects_and_surfaces_are_those_of_memories_alone(store: Store) -> None:
    assert (store.memories.projects(), store.memories.surfaces()) == ([], [])
    store.memories.put(
        [make_memory("a", surface="s2", project="/q"), make_memory("b", surface="s1", project="")]
    )
    store.conversations.put(make_conversation("c", project="/r"), make_messages("c", "hi", surface="s3"))
    assert (store.memories.projects(), store.memories.surfaces()) == (["/q"], ["s1", "s2"])
