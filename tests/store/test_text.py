"""The Store contract: where the words of a query stand. Every test runs on every backend."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backstory.domain.entries import COUNTED
from backstory.domain.filters import Filter, Kind
from backstory.domain.records import Trust
from backstory.domain.words import Unit, query_units
from backstory.store import Store

from ..conftest import OpenStore
from ..doubles import make_conversation, make_memory, make_messages

PLENTY = 100_000


def holding(store: Store, unit: Unit, where: Filter | None = None) -> set[str]:
    """The ids of the entries that hold a unit."""
    (posting,) = store.text.postings([unit], PLENTY, where)
    assert posting.unit == unit
    assert posting.is_whole
    assert posting.frequency >= len(posting.entries)
    return {entry.id for entry in store.entries.load(posting.entries.tolist()).values()}


def finds(store: Store, query: str) -> set[str]:
    """The ids of the entries that hold all of what a query must have."""
    asked = [unit for unit in query_units(query) if not unit.is_bonus]
    assert asked
    return set.intersection(*(holding(store, unit) for unit in asked))


def word(*words: str) -> Unit:
    return Unit(words)


@pytest.fixture
def crowd(store: Store) -> Store:
    store.memories.put(
        [make_memory(f"{n}", "common", project="/rare" if n < 3 else "/p") for n in range(1200)]
    )
    return store


@pytest.fixture
def corpus(store: Store) -> Store:
    texts = {
        "camel": "call getUserName() before XMLHttpRequest opens",
        "snake": "the column user_name is unique",
        "ticket": "fixed in AUTH-1234 yesterday",
        "numbers": "AUTH has 1234 users",
        "path": "see src/backstory/store/sqlite.py for the pragma",
        "japanese": "東京タワーは高い",
        "chinese": "数据库连接失败",
        "korean": "데이터베이스 연결",
        "thai": "ฐานข้อมูล",
        "accents": "le café de l'école",
        "english": "The tokens are expiring daily",
    }
    store.memories.put([make_memory(id, text) for id, text in texts.items()])
    return store


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("getUserName", {"camel"}),
        ("getusername", {"camel"}),
        ("user name", {"camel", "snake"}),
        ("userName", {"snake"}),
        ("username", {"snake"}),
        ("user_name", {"snake"}),
        ("HTTP", {"camel"}),
        ("http", {"camel"}),
        ("xmlhttprequest", {"camel"}),
        ("AUTH-1234", {"ticket"}),
        ("auth 1234", {"ticket", "numbers"}),
        ("auth-1234 yesterday", {"ticket"}),
        ("backstory/store/sqlite.py", {"path"}),
        ("sqlite.py", {"path"}),
        ("store", {"path"}),
        ("東京", {"japanese"}),
        ("タワー", {"japanese"}),
        ("京", {"japanese"}),
        ("い", {"japanese"}),
        ("数据库", {"chinese"}),
        ("连接", {"chinese"}),
        ("连", {"chinese"}),
        ("데이터", {"korean"}),
        ("ข้อมูล", {"thai"}),
        ("cafe", {"accents"}),
        ("CAFÉ", {"accents"}),
        ("ecole", {"accents"}),
        ("cafe\u0301", {"accents"}),
        ("e\u0301cole", {"accents"}),
        ("token", {"english"}),
        ("expires", {"english"}),
        ('"tokens are expiring"', {"english"}),
        ('"expiring tokens"', set()),
        ("nowhere", set()),
        ("OR", set()),
        ('" NEAR( * ^', set()),
    ],
)
def test_a_query_finds_the_texts_that_say_it(corpus: Store, query: str, ids: set[str]) -> None:
    assert finds(corpus, query) == ids


def test_words_must_stand_side_by_side(store: Store) -> None:
    store.memories.put(
        [make_memory("together", "red green blue"), make_memory("apart", "red, then blue, then green")]
    )
    assert holding(store, word("red", "green")) == {"together"}
    assert holding(store, word("green", "red")) == set()
    assert holding(store, word("green")) == {"together", "apart"}


def test_a_prefix_finds_longer_words(store: Store) -> None:
    store.memories.put([make_memory("long", "deployments"), make_memory("short", "deploy")])
    assert holding(store, Unit(("deplo",), is_prefix=True)) == {"long", "short"}
    assert holding(store, Unit(("deplo",))) == set()


@pytest.mark.parametrize("query", ["python", "Python", "言語", "型"])
def test_latin_words_are_found_beside_scripts_without_spaces(store: Store, query: str) -> None:
    store.memories.put([make_memory("mixed", "Python言語の型")])
    assert finds(store, query) == {"mixed"}


def test_key_category_and_tags_are_found_like_words(store: Store) -> None:
    store.memories.put([make_memory("a", "x", key="jwtExpiry", category="decision", tags=("auth", "東京都"))])
    for query in ("jwtExpiry", "expiry", "decision", "auth", "京都"):
        assert finds(store, query) == {"a"}, query


def test_a_changed_text_is_found_by_its_new_words_only(store: Store) -> None:
    store.memories.put([make_memory("a", "old getUserName", tags=("before",))])
    store.memories.put([make_memory("a", "new", tags=("after",))])
    for gone in ("old", "user", "before"):
        assert holding(store, word(gone)) == set(), gone
    for there in ("new", "after"):
        assert holding(store, word(there)) == {"a"}, there


def test_deleted_texts_are_not_found(store: Store) -> None:
    store.memories.put([make_memory("a", "shared gone"), make_memory("b", "shared")])
    store.conversations.put(make_conversation("c"), make_messages("c", "shared gone"))
    store.memories.delete(Filter(ids=("a",)))
    store.conversations.put(make_conversation("c"), [])
    assert holding(store, word("gone")) == set()
    assert store.text.postings([word("shared")], PLENTY)[0].frequency == 1


WORDS = ("alpha", "beta", "gamma", "delta")


def change(store: Store, random_: random.Random) -> None:
    """One of all that puts words into the index or takes some out."""
    id, text = f"m{random_.randrange(12)}", " ".join(random_.sample(WORDS, 2))
    match random_.choices(("put", "delete", "say", "forget"), (6, 2, 1, 1))[0]:
        case "put":
            store.memories.put([make_memory(id, text, tags=(random_.choice(WORDS),))])
        case "delete":
            store.memories.delete(Filter(ids=(id,)))
        case "say":
            store.conversations.put(make_conversation("c"), make_messages("c", text, "alpha"))
        case "forget":
            store.conversations.delete(["c"])


def places(store: Store, unit: Unit) -> tuple[list[int], list[int]]:
    return store.text.postings([unit], PLENTY)[0].entries.tolist(), store.text.holding(unit).tolist()


def few_places(store: Store, unit: Unit, most: int) -> list[int] | None:
    """The entries of a unit, or None where more than `most` have it."""
    posting, again = store.text.rare_postings([unit, unit], most)
    assert again.frequency == posting.frequency
    if posting.frequency > most:
        assert not len(posting.entries)
        return None
    assert posting.is_whole
    assert posting.frequency == len(posting.entries)
    return [*map(int, posting.entries)]


@pytest.mark.parametrize("seed", range(4))
def test_postings_that_are_kept_are_those_that_are_there(
    store: Store, open_store: OpenStore, seed: int
) -> None:
    """Whatever two processes do, and however few are read at a time."""
    random_, stores = random.Random(seed), (store, open_store())
    for each in stores:
        each.text.at_once = 2
    for _ in range(60):
        change(random_.choice(stores), random_)
        unit, looking, most = word(random_.choice(WORDS)), random_.choice(stores), random_.randrange(6)
        with looking.transaction():  # what is read in one is not what is kept
            there, rare = places(looking, unit), few_places(looking, unit, most)
        assert rare == (there[0] if len(there[0]) <= most else None)
        for is_rare in random_.sample([True, False], 2):
            known = few_places(looking, unit, most) if is_rare else places(looking, unit)
            assert known == (rare if is_rare else there)


def test_postings_follow_what_another_connection_adds_changes_and_deletes(
    store: Store, open_store: OpenStore
) -> None:
    other = open_store()
    store.memories.put([make_memory("a", "word"), make_memory("b", "word")])
    assert holding(store, word("word")) == {"a", "b"}
    assert holding(store, word("new")) == set()
    other.memories.put([make_memory("c", "word new")])
    assert holding(store, word("word")) == {"a", "b", "c"}
    assert holding(store, word("new")) == {"c"}
    other.memories.put([make_memory("a", "new")])
    assert holding(store, word("word")) == {"b", "c"}
    assert holding(store, word("new")) == {"a", "c"}
    other.memories.delete(Filter(ids=("c",)))
    other.memories.put([make_memory("d", "word")])
    assert holding(store, word("word")) == {"b", "d"}
    assert store.text.postings([word("word")], PLENTY)[0].frequency == 2


def test_postings_forget_what_was_never_committed(store: Store) -> None:
    store.memories.put([make_memory("a", "word")])

    def change_in_vain() -> None:
        with store.transaction():
            store.memories.put([make_memory("a", "other"), make_memory("b", "word")])
            assert holding(store, word("word")) == {"b"}
            raise LookupError

    for _ in range(2):
        with pytest.raises(LookupError):
            change_in_vain()
        assert holding(store, word("word")) == {"a"}
        assert holding(store, word("other")) == set()


def test_a_posting_may_be_asked_for_in_any_length(crowd: Store, open_store: OpenStore) -> None:
    def newest(budget: int) -> list[str]:
        (posting,) = crowd.text.postings([word("common")], budget)
        entries = crowd.entries.load(posting.entries.tolist())
        return [entries[n].id for n in posting.entries.tolist()]

    expected = [str(n) for n in reversed(range(1200))]
    for budget in (1000, 1100, 1000, PLENTY, 1050):
        assert newest(budget) == expected[:budget], budget
    open_store().memories.put([make_memory("newest", "common")])
    for budget in (1000, PLENTY):
        assert newest(budget) == ["newest", *expected][:budget], budget


def test_every_unit_gets_its_posting_in_order(store: Store) -> None:
    store.memories.put([make_memory("a", "one two"), make_memory("b", "two")])
    postings = store.text.postings([word("two"), word("three"), word("one")], PLENTY)
    assert [(p.unit.words, p.frequency, p.is_whole) for p in postings] == [
        (("two",), 2, True),
        (("three",), 0, True),
        (("one",), 1, True),
    ]
    assert store.text.postings([], PLENTY) == []


def test_a_common_word_is_read_up_to_the_budget_newest_first_and_counted_whole(crowd: Store) -> None:
    (posting,) = crowd.text.postings([word("common")], 1100)
    assert not posting.is_whole
    assert posting.frequency == 1200
    assert len(posting.entries) == 1100
    ids = {int(entry.id) for entry in crowd.entries.load(posting.entries.tolist()).values()}
    assert ids == set(range(1200 - len(ids), 1200))


def test_with_a_filter_only_what_it_lets_through_is_read(crowd: Store) -> None:
    (posting,) = crowd.text.postings([word("common")], 1100, Filter(projects=("/rare",)))
    assert {entry.id for entry in crowd.entries.load(posting.entries.tolist()).values()} == {"0", "1", "2"}
    assert posting.is_whole
    assert posting.frequency == 1200


def test_a_filter_follows_what_another_connection_adds_and_moves(store: Store, open_store: OpenStore) -> None:
    there = Filter(projects=("/q",))
    store.memories.put([make_memory("a", "word", project="/p")])
    assert holding(store, word("word"), there) == set()
    open_store().memories.put([make_memory(id, "word", project="/q") for id in ("a", "b")])
    assert holding(store, word("word"), there) == {"a", "b"}
    store.memories.put([make_memory("b", "word", project="/p")])
    assert holding(store, word("word"), there) == {"a"}


def test_a_filter_forgets_what_was_never_committed(store: Store) -> None:
    there = Filter(projects=("/q",))

    def save_in_vain() -> None:
        with store.transaction():
            store.memories.put([make_memory("a", "word", project="/q")])
            assert holding(store, word("word"), there) == {"a"}
            raise KeyError

    with pytest.raises(KeyError):
        save_in_vain()
    store.memories.put([make_memory("b", "word", project="/p")])
    assert holding(store, word("word"), there) == set()


def test_private_texts_of_others_are_not_among_filtered_postings(store: Store) -> None:
    store.memories.put([make_memory("a", "word", session="s", private=True), make_memory("b", "word")])
    assert holding(store, word("word"), Filter(public_or_in="")) == {"b"}
    assert holding(store, word("word"), Filter(public_or_in="s")) == {"a", "b"}
    memories = Filter(kinds=(Kind.MEMORY,))
    assert holding(store, word("word"), memories._replace(public_or_in="")) == {"b"}
    assert holding(store, word("word"), memories._replace(public_or_in="s")) == {"a", "b"}
    store.memories.put([make_memory("b", "word", session="t", private=True)])
    assert holding(store, word("word"), memories._replace(public_or_in="s")) == {"a"}


def test_what_came_with_a_repository_is_among_filtered_postings_of_its_project_only(store: Store) -> None:
    store.memories.put(
        [make_memory("a", "word", project="/p", trust=Trust.PROJECT), make_memory("b", "word")]
    )
    memories = Filter(kinds=(Kind.MEMORY,))
    assert holding(store, word("word"), memories._replace(repository_of="/p")) == {"a", "b"}
    assert holding(store, word("word"), memories._replace(repository_of="/q")) == {"b"}


def test_outlines_describe_the_entries_that_match(store: Store) -> None:
    store.memories.put([make_memory("a", "four", session="s"), make_memory("b", "x", project="/q")])
    store.conversations.put(make_conversation("c"), make_messages("c", "hello", speaker="Ann"))
    outlines = {o.size: o for o in store.entries.outlines(range(10), Filter())}
    assert {(o.thread, o.role, o.speaker, o.project) for o in outlines.values()} == {
        ("s", "", "", "/p"),
        (None, "", "", "/q"),
        ("c", "user", "Ann", "/p"),
    }
    assert set(outlines) == {1, 4, 5}
    assert [o.project for o in store.entries.outlines(range(10), Filter(projects=("/q",)))] == ["/q"]
    assert store.entries.outlines([], Filter()) == []


def test_readings_know_the_length_of_a_text_whose_beginning_they_have(store: Store) -> None:
    texts = ("short", "x" * (COUNTED - 1), "y" * COUNTED, "é" * (2 * COUNTED))
    store.conversations.put(make_conversation("c"), make_messages("c", *texts))
    readings = sorted(store.entries.readings(range(10), Filter()))
    assert [(reading.outline.size, reading.text) for reading in readings] == [
        (len(text), text[:COUNTED]) for text in texts
    ]
    assert [each.outline for each in readings] == sorted(store.entries.outlines(range(10), Filter()))


def test_shapes_tell_length_and_thread_and_whether_nobody_said_it(store: Store) -> None:
    store.memories.put([make_memory("a", "four", session="s")])
    spoken, printed = make_messages("c", "hello", "a tool's output")
    store.conversations.put(make_conversation("c"), [spoken, printed._replace(role="tool")])
    shapes = store.entries.shapes()
    known = zip(shapes.size.tolist(), shapes.is_quiet.tolist(), shapes.thread.tolist(), strict=True)
    entries = {(size, quiet, shapes.thread_names[thread]) for size, quiet, thread in known if size}
    assert entries == {(4, False, "s"), (5, False, "c"), (15, True, "c")}
    said = zip(shapes.thread_names, shapes.said_count.tolist(), shapes.said_size.tolist(), strict=True)
    assert {("s", 1, 4), ("c", 1, 5)} <= set(said)


def test_shapes_follow_what_is_added(store: Store) -> None:
    assert not store.entries.shapes().size.any()
    store.conversations.put(make_conversation("c"), make_messages("c", "one"))
    assert store.entries.shapes().size.sum() == 3
    store.conversations.put(make_conversation("d"), make_messages("d", "three"))
    store.memories.put([make_memory("m", "four", session="c")])
    shapes = store.entries.shapes()
    assert sorted(size for size in shapes.size.tolist() if size) == [3, 4, 5]
    assert dict(zip(shapes.thread_names, shapes.said_size.tolist(), strict=True)) == {None: 0, "c": 7, "d": 5}


def test_a_deleted_entry_has_no_shape_in_a_store_that_is_opened_anew(open_store: OpenStore) -> None:
    store = open_store()
    store.memories.put([make_memory("a", "four"), make_memory("b", "three")])
    store.memories.delete(Filter(ids=("a",)))
    store.memories.put([make_memory("b", "seven more")])
    assert sorted(open_store().entries.shapes().size.tolist())[-2:] == [0, 10]


def test_neighbours_are_the_messages_before_and_after_that_match(store: Store) -> None:
    store.conversations.put(make_conversation("c"), make_messages("c", "zero", "one", "two", "three"))
    store.conversations.put(make_conversation("d"), make_messages("d", "zero", "one", "two", project="/q"))
    store.memories.put([make_memory("m", session="c")])
    outlines = store.entries.outlines(range(20), Filter())
    first_two = [o for o in outlines if o.thread == "c" and o.seq == 1 and o.role]
    beside = store.entries.neighbours(first_two, Filter())
    assert sorted((o.thread, o.seq, text) for o, text in beside) == [("c", 0, "zero"), ("c", 2, "two")]
    others = [o for o in outlines if o.thread == "d"]
    assert store.entries.neighbours(others, Filter(projects=("/p",))) == []
    memories = [o for o in outlines if not o.role]
    assert store.entries.neighbours(memories, Filter()) == []
    assert store.entries.neighbours([], Filter()) == []


@given(st.text(min_size=1, max_size=40))
@example('"unbalanced')
@example("a* -b ^c NEAR(d) {e} : f")
@example("before\0after")
def test_any_text_is_a_query(store: Store, query: str) -> None:
    for posting in store.text.postings(query_units(query), PLENTY):
        assert posting.is_whole


@given(st.text(st.sampled_from("abzAZéß09_-./ 東京タ한글\n"), min_size=1, max_size=20))
def test_a_text_is_found_by_itself(store: Store, text: str) -> None:
    store.memories.delete(Filter())
    store.memories.put([make_memory("it", text), make_memory("decoy", "unrelated")])
    if any(not unit.is_bonus for unit in query_units(text)):
        assert finds(store, text) == {"it"}
