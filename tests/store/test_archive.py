"""The Store contract for archived conversations: whole, out of sight, and back as they were."""

from __future__ import annotations

from datetime import timedelta

from backstory.domain.entries import TextFields
from backstory.domain.filters import ConversationFilter, Filter
from backstory.domain.records import Conversation, Message, Trace
from backstory.domain.words import Unit
from backstory.store import Store

from ..doubles import DAWN, make_conversation, make_messages

TALK = make_conversation(
    "c1", source="/h/c1.jsonl", native_id="n1", directory="/p/sub", branch="main", completeness="partial"
)
SAID = make_messages("c1", "a walrus", "a puffin\r\n\t🐧")
QUIET = [
    SAID[1]._replace(id="c1:1#thinking", role="thinking", text="hm"),
    SAID[1]._replace(id="c1:1#tool", role="tool", text="Edit src/auth.py"),
]
TRACES = [Trace("c1:1#tool", "written", "src/auth.py"), Trace("c1:1#tool", "command", "pytest -q")]


def keep(store: Store) -> None:
    store.conversations.add(TALK, [*SAID, *QUIET], TRACES)


def all_of(store: Store, id: str = "c1") -> tuple[list[Conversation], list[Message], list[tuple[str, str]]]:
    traces = [(did.kind, did.value) for did in store.traces.find(Filter(threads=(id,)))]
    return store.conversations.get([id]), sorted(store.messages.of(id)), traces


def test_an_archived_conversation_comes_back_as_it_was(store: Store) -> None:
    keep(store)
    before = all_of(store)
    store.archive.put_conversation("c1")
    assert all_of(store) == ([], [], [])
    assert sorted(store.archive.messages("c1")) == before[1]
    store.archive.restore_conversations(["c1", "nobody's"])
    assert all_of(store) == before
    assert store.archive.messages("c1") == []
    assert store.archive.find_conversations(ConversationFilter()) == []
    assert store.problems() == []


def test_what_is_archived_is_neither_found_nor_counted(store: Store) -> None:
    space = store.vectors.open_space("model")
    keep(store)
    store.archive.put_conversation("c1")
    assert not len(store.text.match(Unit(("walrus",)), TextFields.VALUE))
    assert (
        store.entries.count(Filter()),
        store.conversations.count(ConversationFilter()),
        store.vectors.count_waiting(space),
    ) == (
        0,
        0,
        0,
    )
    census = store.census()
    assert (census.messages, census.conversations, census.projects) == (0, 0, 0)
    assert store.traces.touching("auth.py", Filter()) == []
    assert store.problems() == []
    store.archive.restore_conversations(["c1"])
    assert len(store.text.match(Unit(("walrus",)), TextFields.VALUE)) == 1
    assert store.vectors.count_waiting(space) == 2


def test_the_archive_is_searched_by_the_same_conditions(store: Store) -> None:
    keep(store)
    store.conversations.add(make_conversation("c2", surface="other", parent="c1"), [], [])
    for id in ("c1", "c2", "nobody's"):
        store.archive.put_conversation(id)
    for which, ids in (
        (ConversationFilter(ids=("c1",)), ["c1"]),
        (ConversationFilter(parents=("c1",)), ["c2"]),
        (ConversationFilter(surfaces=("other",)), ["c2"]),
        (ConversationFilter(sources=("/h/c1.jsonl",)), ["c1"]),
        (ConversationFilter(updated_before=DAWN), []),
        (ConversationFilter(updated_before=DAWN + timedelta(days=1)), ["c1", "c2"]),
    ):
        assert [talk.conversation.id for talk in store.archive.find_conversations(which)] == ids
    assert [talk.said for talk in store.archive.find_conversations(ConversationFilter(ids=("c1",)))] == [2]


def test_the_archive_tells_what_it_holds(store: Store) -> None:
    assert store.archive.census() == (0, 0, 0, 0)
    keep(store)
    store.archive.put_conversation("c1")
    held = store.archive.census()
    assert (held.memories, held.conversations, held.messages) == (0, 1, 2)
    assert held.bytes > 0


def test_a_conversation_that_is_archived_again_takes_the_place_of_the_older(store: Store) -> None:
    keep(store)
    store.archive.put_conversation("c1")
    store.conversations.add(TALK, make_messages("c1", "newer"), [])
    store.archive.put_conversation("c1")
    assert [message.text for message in store.archive.messages("c1")] == ["newer"]


def test_forgetting_reaches_into_the_archive(store: Store) -> None:
    keep(store)
    store.archive.put_conversation("c1")
    assert store.sync.forget(["c1"], DAWN) == 1
    assert store.archive.census() == (0, 0, 0, 0)
    assert store.sync.forgotten(["c1"]) == {"c1"}


def test_an_archived_conversation_knows_that_its_source_vanished(store: Store) -> None:
    keep(store)
    store.archive.put_conversation("c1")
    store.sync.set_gone(["c1"], True)
    store.archive.restore_conversations(["c1"])
    assert store.conversations.get(["c1"]) == [TALK._replace(is_gone=True)]


def test_what_a_person_brought_back_is_remembered(store: Store) -> None:
    store.archive.exempt(["a", "b"], DAWN)
    store.archive.exempt(["b"], DAWN + timedelta(days=1))
    assert store.archive.exemptions() == {"a", "b"}
