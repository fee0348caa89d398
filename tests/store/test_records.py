"""The Store contract: records go in and come out whole. Every test runs on every backend."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.domain.entries import TextFields
from backstory.domain.filters import Filter, Kind, Order, Page
from backstory.domain.records import CachedAnswer, Priority
from backstory.domain.when import from_ms
from backstory.domain.words import Unit
from backstory.store import Store

from ..conftest import OpenStore
from ..doubles import DAWN, make_conversation, make_memory, make_messages

ALL = Page()
FULL = make_memory(
    "full",
    "Whole text\nwith a line, a \0 and 🎉",
    summary="whole",
    key="auth.jwt",
    category="decision",
    priority=Priority.CRITICAL,
    channel="main",
    tags=("a", "b c"),
    session="s1",
    private=True,
    metadata={"nested": {"n": 1.5, "list": [None, True, "ü"]}},
    updated_at=DAWN + timedelta(milliseconds=1),
)


def numbers(store: Store) -> dict[str, int]:
    """The entry number of each id."""
    entries = store.entries.load(range(1, store.entries.size_hint() + 1))
    return {entry.id: number for number, entry in entries.items()}


def found(store: Store, where: Filter, page: Page = ALL) -> list[str]:
    return [memory.id for memory in store.memories.find(where, page)]


def test_many_memories_at_once_are_put_as_one_by_one(store: Store) -> None:
    store.memories.put([make_memory("old", "walrus", key="k"), make_memory("same", "seal")])
    before = numbers(store)
    put = [make_memory("new", "otter"), make_memory("old", "heron", key="k"), make_memory("same", "seal")]
    store.memories.put([*put, make_memory("new", "puffin")])
    assert {each.id: each.text for each in store.memories.find(Filter(), ALL)} == {
        "old": "heron",
        "same": "seal",
        "new": "puffin",
    }
    after = numbers(store)
    assert {id: after[id] for id in before} == before
    for word, found in (("walrus", set()), ("otter", set()), ("heron", {"old"}), ("puffin", {"new"})):
        matched = store.text.match(Unit((word,)), TextFields.VALUE).tolist()
        assert {id for id, number in after.items() if number in matched} == found


def test_a_memory_comes_back_with_every_field(store: Store) -> None:
    plain = make_memory("plain")
    store.memories.put([FULL, plain])
    assert store.memories.find(Filter(ids=("full",)), ALL) == [FULL]
    assert store.memories.find(Filter(ids=("plain",)), ALL) == [plain]


@given(text=st.text(min_size=1), milliseconds=st.integers(-(10**12), 10**13))
def test_any_text_and_time_comes_back_as_it_was(store: Store, text: str, milliseconds: int) -> None:
    memory = make_memory("any", text, created_at=from_ms(milliseconds), updated_at=from_ms(milliseconds))
    store.memories.put([memory])
    assert store.memories.find(Filter(ids=("any",)), ALL) == [memory]


def test_a_replaced_memory_keeps_its_entry_number(store: Store) -> None:
    store.memories.put([make_memory("a", "first"), make_memory("b")])
    before = numbers(store)
    changed = make_memory("a", "second", key="new", private=True)
    store.memories.put([changed])
    assert numbers(store) == before
    assert store.memories.find(Filter(ids=("a",)), ALL) == [changed]


@pytest.mark.parametrize("beside", [0, 1])
def test_no_answer_is_kept_when_what_it_may_quote_becomes_private(store: Store, beside: int) -> None:
    """However it is put: saved, merged, imported or restored."""
    answer = CachedAnswer("key", "chunks", "", {}, DAWN + timedelta(hours=1))
    others = [make_memory(f"other{n}", "other", private=True) for n in range(beside)]
    store.memories.put([make_memory("m", "text")])
    store.answers.put(answer, DAWN)
    store.memories.put([make_memory("m", "another text"), *others])
    assert store.answers.get("key", "chunks", DAWN) == answer
    store.memories.put([make_memory("m", "another text", private=True), *others])
    assert store.answers.get("key", "chunks", DAWN) is None
    store.answers.put(answer, DAWN)
    store.memories.put([make_memory("m", "text", private=True), *others])
    assert store.answers.get("key", "chunks", DAWN) == answer


def test_an_entry_number_is_never_used_again(store: Store) -> None:
    store.memories.put([make_memory("a"), make_memory("b")])
    used = set(numbers(store).values())
    store.memories.delete(Filter())
    store.memories.put([make_memory("a")])
    assert not used & set(numbers(store).values())


def test_the_last_of_equal_ids_in_one_call_wins(store: Store) -> None:
    store.memories.put([make_memory("a", "first"), make_memory("a", "second")])
    assert [memory.text for memory in store.memories.find(Filter(), ALL)] == ["second"]


EARLIER, LATER = DAWN - timedelta(hours=1), DAWN + timedelta(hours=1)


@pytest.fixture
def varied(store: Store) -> Store:
    store.memories.put(
        [
            make_memory("plain"),
            make_memory("elsewhere", project="/q"),
            make_memory("other", surface="other"),
            make_memory("early", created_at=EARLIER),
            make_memory("late", created_at=LATER, category="decision"),
            make_memory("mine", session="s1", private=True),
            make_memory("theirs", session="s2", private=True),
            make_memory("shared", session="s2"),
            make_memory("nobody's", private=True),
        ]
    )
    store.conversations.put(make_conversation("c1"), make_messages("c1", "hello", "world"))
    return store


EVERY = {"plain", "elsewhere", "other", "early", "late", "mine", "theirs", "shared", "nobody's"}


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        (Filter(), EVERY),
        (Filter(ids=("plain", "late", "missing")), {"plain", "late"}),
        (Filter(kinds=(Kind.MEMORY,)), EVERY),
        (Filter(projects=("/q",)), {"elsewhere"}),
        (Filter(projects=("/p", "/q")), EVERY),
        (Filter(surfaces=("other",)), {"other"}),
        (Filter(threads=("s1", "s2")), {"mine", "theirs", "shared"}),
        (Filter(other_than=("decision",)), EVERY - {"late"}),
        (Filter(created_after=LATER), {"late"}),
        (Filter(created_before=DAWN), {"early"}),
        (Filter(created_after=DAWN, created_before=LATER), EVERY - {"early", "late"}),
        (Filter(public_or_in=""), EVERY - {"mine", "theirs", "nobody's"}),
        (Filter(public_or_in="s1"), EVERY - {"theirs", "nobody's"}),
        (Filter(public_or_in="s2"), EVERY - {"mine", "nobody's"}),
        (Filter(projects=("/p",), threads=("s2",), public_or_in=""), {"shared"}),
        (Filter(ids=("' OR 1=1 --",)), set()),
    ],
)
def test_a_filter_means_the_same_for_listing_counting_and_deleting(
    varied: Store, where: Filter, ids: set[str]
) -> None:
    assert set(found(varied, where)) == ids
    assert varied.entries.count(where._replace(kinds=(Kind.MEMORY,))) == len(ids)
    assert varied.memories.delete(where) == len(ids)
    assert set(found(varied, Filter())) == EVERY - ids
    assert len(varied.messages.of("c1")) == 2


def test_messages_are_neither_listed_nor_deleted_as_memories(varied: Store) -> None:
    assert found(varied, Filter(kinds=(Kind.MESSAGE,))) == []
    assert varied.memories.delete(Filter(kinds=(Kind.MESSAGE,))) == 0
    assert varied.memories.delete(Filter(threads=("c1",))) == 0


def test_counting_counts_messages_too(varied: Store) -> None:
    assert varied.entries.count(Filter()) == len(EVERY) + 2
    assert varied.entries.count(Filter(kinds=(Kind.MESSAGE,))) == 2
    assert varied.entries.count(Filter(threads=("c1",))) == 2


def test_the_newest_come_first_and_equal_times_in_the_order_of_saving(store: Store) -> None:
    at = {"a": 0, "b": 5, "c": 5, "d": 2}
    store.memories.put(
        [make_memory(id, created_at=DAWN + timedelta(milliseconds=ms)) for id, ms in at.items()]
    )
    assert found(store, Filter()) == ["c", "b", "d", "a"]
    assert found(store, Filter(), Page(order=Order.OLDEST)) == ["a", "d", "b", "c"]


@pytest.mark.parametrize("order", list(Order))
def test_pages_joined_are_the_whole_list(store: Store, order: Order) -> None:
    store.memories.put(
        [make_memory(f"{n}", created_at=DAWN + timedelta(seconds=n * 7 % 5)) for n in range(10)]
    )
    whole = found(store, Filter(), Page(order=order))
    pages = [found(store, Filter(), Page(limit=3, offset=offset, order=order)) for offset in range(0, 12, 3)]
    assert [id for page in pages for id in page] == whole
    assert found(store, Filter(), Page(offset=4, order=order)) == whole[4:]
    assert found(store, Filter(), Page(limit=0)) == []


def test_a_conversation_comes_back_with_its_messages_in_order(store: Store) -> None:
    talk = make_conversation("c1", updated_at=LATER)
    messages = make_messages("c1", "hello", "hi", "how is the build?", speaker="Ann")
    store.conversations.put(talk, list(reversed(messages)))
    assert store.conversations.get(["c1", "missing"]) == [talk]
    assert store.messages.of("c1") == messages
    assert store.conversations.get([]) == []
    assert store.messages.of("missing") == []


def test_a_conversation_kept_again_replaces_all_its_messages(store: Store) -> None:
    store.conversations.put(make_conversation("other"), make_messages("other", "untouched"))
    store.conversations.put(make_conversation("c1"), make_messages("c1", "one", "two", "three"))
    renamed = make_conversation("c1", title="Renamed")
    store.conversations.put(renamed, make_messages("c1", "one, corrected"))
    assert store.conversations.get(["c1"]) == [renamed]
    assert [message.text for message in store.messages.of("c1")] == ["one, corrected"]
    assert [message.text for message in store.messages.of("other")] == ["untouched"]


def test_a_memory_of_a_session_with_a_conversations_name_is_not_one_of_its_messages(store: Store) -> None:
    store.memories.put([make_memory("a", session="c1")])
    store.conversations.put(make_conversation("c1"), make_messages("c1", "hello"))
    store.conversations.put(make_conversation("c1"), [])
    assert found(store, Filter()) == ["a"]
    assert store.messages.of("c1") == []


def test_loading_gives_the_records_that_are_still_there(store: Store) -> None:
    store.memories.put([make_memory("a"), make_memory("b")])
    number = numbers(store)
    store.memories.delete(Filter(ids=("b",)))
    assert store.entries.load(number.values()) == {number["a"]: make_memory("a")}
    assert store.entries.load([]) == {}


def test_the_size_hint_is_never_too_small(store: Store) -> None:
    assert store.entries.size_hint() == 0
    store.memories.put([make_memory(f"{n}") for n in range(5)])
    store.memories.delete(Filter(ids=("2",)))
    assert store.entries.size_hint() >= store.entries.count(Filter()) == 4


def test_the_census_counts_what_there_is(varied: Store) -> None:
    varied.vectors.open_space("model")
    census = varied.census()
    assert (census.memories, census.messages, census.conversations) == (len(EVERY), 2, 1)
    assert (census.projects, census.waiting) == (2, len(EVERY) + 2)
    assert census.bytes > 0


def test_a_failed_transaction_leaves_nothing(store: Store) -> None:
    def fail_half_way() -> None:
        with store.transaction():
            store.memories.put([make_memory("after")])
            store.memories.delete(Filter(ids=("before",)))
            store.conversations.put(make_conversation("c1"), make_messages("c1", "hello"))
            raise KeyError

    store.memories.put([make_memory("before")])
    with pytest.raises(KeyError):
        fail_half_way()
    assert found(store, Filter()) == ["before"]
    assert store.census().conversations == 0
    assert store.problems() == []


def test_a_nested_transaction_is_part_of_the_outer_one(store: Store, open_store: OpenStore) -> None:
    other = open_store()

    def fail_after_the_inner_one() -> None:
        with store.transaction():
            with store.transaction():
                store.memories.put([make_memory("inner")])
            assert other.entries.count(Filter()) == 0
            raise KeyError

    with pytest.raises(KeyError):
        fail_after_the_inner_one()
    assert store.entries.count(Filter()) == 0
    with store.transaction():
        store.memories.put([make_memory("afterwards")])
    assert found(other, Filter()) == ["afterwards"]


def test_half_a_batch_is_never_kept(store: Store) -> None:
    bad = make_memory("bad", metadata={"not JSON": object()})
    with pytest.raises(TypeError):
        store.memories.put([make_memory("good"), bad])
    assert store.entries.count(Filter()) == 0


def test_an_error_of_the_callers_own_passes_through_a_transaction_as_it_is(store: Store) -> None:
    with pytest.raises(FileNotFoundError), store.transaction():
        raise FileNotFoundError("not the store's")


def test_connections_see_what_each_other_committed(open_store: OpenStore) -> None:
    one, other = open_store(), open_store()
    one.memories.put([make_memory("a", "first")])
    assert found(other, Filter()) == ["a"]
    other.memories.put([make_memory("a", "second")])
    assert [memory.text for memory in one.memories.find(Filter(), ALL)] == ["second"]
    one.memories.delete(Filter())
    assert other.entries.count(Filter()) == 0


def test_a_store_is_whole_after_it_was_closed_and_opened(open_store: OpenStore) -> None:
    first = open_store()
    first.memories.put([FULL])
    first.conversations.put(make_conversation("c1"), make_messages("c1", "hello"))
    first.close()
    again = open_store()
    assert again.memories.find(Filter(), ALL) == [FULL]
    assert again.messages.of("c1") == make_messages("c1", "hello")
    assert again.problems() == []
