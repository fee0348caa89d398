"""The Store contract for trust: whose words a record holds, and that what came with a repository stays in it."""

from __future__ import annotations

from backstory.domain.entries import TextFields
from backstory.domain.filters import ConversationFilter, Filter, Page
from backstory.domain.records import Trust
from backstory.domain.words import Unit
from backstory.store import Store

from ..doubles import make_conversation, make_memory, make_messages

CLONED = make_conversation("c1", project="/clone", trust=Trust.PROJECT)
OWN = make_conversation("c2", project="/p")


def keep_both(store: Store) -> None:
    cloned = [m._replace(project="/clone", trust=Trust.PROJECT) for m in make_messages("c1", "a walrus")]
    store.conversations.add(CLONED, cloned, [])
    store.conversations.add(OWN, make_messages("c2", "our walrus"), [])


def test_a_record_comes_back_with_its_trust(store: Store) -> None:
    keep_both(store)
    store.memories.put([make_memory("m1", trust=Trust.IMPORTED), make_memory("m2", trust=Trust.TOOL)])
    found = store.memories.find(Filter(), Page())
    assert {memory.id: memory.trust for memory in found} == {"m1": Trust.IMPORTED, "m2": Trust.TOOL}
    assert store.conversations.get(["c1", "c2"]) == [CLONED, OWN]
    assert [message.trust for message in store.messages.of("c1")] == [Trust.PROJECT]


def test_what_came_with_a_repository_is_found_in_its_project_only(store: Store) -> None:
    keep_both(store)
    for project, found in (("/p", {"c2"}), ("/clone", {"c1", "c2"}), ("", {"c2"}), (None, {"c1", "c2"})):
        assert {
            talk.id for talk in store.conversations.find(ConversationFilter(repository_of=project))
        } == found
        assert store.entries.count(Filter(repository_of=project)) == len(found)


def test_the_archive_keeps_the_trust_of_a_conversation_and_of_its_messages(store: Store) -> None:
    keep_both(store)
    store.archive.put_conversation("c1")
    assert [message.trust for message in store.archive.messages("c1")] == [Trust.PROJECT]
    assert store.archive.find_conversations(ConversationFilter(repository_of="/p")) == []
    store.archive.restore_conversations(["c1"])
    assert store.conversations.get(["c1"]) == [CLONED]
    assert len(store.text.match(Unit(("walrus",)), TextFields.VALUE)) == 2
    assert store.entries.count(Filter(repository_of="/p")) == 1


def test_the_archive_keeps_the_trust_of_a_memory(store: Store) -> None:
    memory = make_memory("m1", trust=Trust.IMPORTED, surface="s", session="s1")
    store.memories.put([memory])
    store.archive.put_memories([memory])
    assert [each.memory.trust for each in store.archive.find_memories(Filter(repository_of="/p"))] == [
        Trust.IMPORTED
    ]
    store.archive.restore_memories(["m1"])
    assert store.memories.find(Filter(), Page()) == [memory]
