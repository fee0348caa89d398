"""Links between memories, and the changes that watchers are told of, as rows."""

from __future__ import annotations

from datetime import timedelta

from backstory.domain.filters import Filter
from backstory.domain.links import ChangeKind, MemoryChange, MemoryLink, Watcher
from backstory.store import Store

from ..doubles import DAWN, make_memory

HOUR = timedelta(hours=1)


def make_watcher(id: str, sequence: int = 0) -> Watcher:
    return Watcher(id, "s", "test", {"keys": ["a*"]}, ("one",), sequence, 60, DAWN, DAWN + HOUR)


def kinds(store: Store) -> list[tuple[str, str]]:
    return [(change.kind.value, change.memory) for change in store.changes.after(0, 100)]


def prune(store: Store, hours: int) -> bool:
    """As it would be done so many hours later."""
    now = DAWN + hours * HOUR
    return store.changes.prune(now, ended_before=now - 2 * HOUR, deleted_before=now - 24 * HOUR)


def test_a_link_is_found_from_both_ends_and_replaced_by_id(store: Store) -> None:
    link = MemoryLink("l", "a", "b", "blocks", DAWN, DAWN, {"n": 1})
    store.links.put(link)
    assert store.links.at(["a"]) == store.links.at(["b", "c"]) == [link]
    assert store.links.get("a", "b", "blocks") == link
    assert store.links.get("b", "a", "blocks") is None
    store.links.put(link._replace(metadata={}))
    assert store.links.at(["a"]) == [link._replace(metadata={})]
    assert store.links.delete_at(["b"]) == 1
    assert store.links.at(["a"]) == []


def test_links_are_statements_of_the_graph_only_where_both_ends_match(store: Store) -> None:
    store.memories.put([make_memory("a"), make_memory("b", private=True, session="s")])
    store.links.put(MemoryLink("l", "a", "b", "blocks", DAWN, DAWN))
    assert store.links.relations(Filter()) == []  # the graph has not read them
    for n, id in enumerate(("a", "b"), start=1):
        sql = "INSERT INTO graphed (entry, revision, extractor, entity) SELECT n, 0, 1, ? FROM entry WHERE id = ?"
        with store.transaction():
            store.database.change(sql, [n, id])
    assert [each[:3] for each in store.links.relations(Filter())] == [(1, "blocks", 2)]
    assert store.links.relations(Filter(), [3]) == []
    assert store.links.relations(Filter(public_or_in="")) == []


def test_changes_are_noted_while_a_watcher_waits(store: Store) -> None:
    store.memories.put([make_memory("before")])
    assert kinds(store) == []
    store.changes.put_watcher(make_watcher("w"))
    store.memories.put([make_memory("one")])
    store.memories.put([make_memory("one", summary="better")])
    store.memories.put([make_memory("one", channel="c"), make_memory("two")])
    assert kinds(store) == [("CREATE", "one"), ("UPDATE", "one"), ("CREATE", "two")]
    store.memories.put([make_memory("late", updated_at=DAWN + 2 * HOUR)])  # it has expired by then
    assert len(kinds(store)) == 3
    assert store.changes.watchers("s") == [make_watcher("w")]
    assert store.changes.watcher("nobody") is None


def test_notes_go_when_every_watcher_was_told_and_numbers_are_not_used_again(store: Store) -> None:
    store.changes.put_watcher(make_watcher("w"))
    store.changes.put_watcher(make_watcher("slow"))
    store.memories.put([make_memory("one"), make_memory("two")])
    store.changes.put_watcher(make_watcher("w", sequence=2))
    assert prune(store, 0) is False
    assert len(kinds(store)) == 2
    store.changes.put_watcher(make_watcher("slow", sequence=2))
    prune(store, 0)
    assert kinds(store) == []
    store.memories.put([make_memory("three")])
    assert [change.sequence for change in store.changes.after(0, 10)] == [3]
    prune(store, 4)
    assert (kinds(store), store.changes.watchers("s")) == ([], [])


def test_deletions_stay_for_their_time_and_those_of_erased_memories_until_they_are_told(store: Store) -> None:
    deleted = MemoryChange(
        0, ChangeKind.DELETE, "m", DAWN, "test", "s", "key", None, "normal", "c", False, is_erased=False
    )
    store.changes.put_watcher(make_watcher("w"))
    store.changes.note_deletions([deleted, deleted._replace(memory="e", key="erased", is_erased=True)])
    assert [each.key for each in store.changes.deletions("test", "s", DAWN)] == ["key"]
    assert store.changes.deletions("test", "s", DAWN + HOUR) == []
    assert store.changes.deleted_channels("test", "another") == ["c"]
    assert prune(store, 0) is False
    store.changes.put_watcher(make_watcher("w", sequence=2))
    assert prune(store, 0) is True
    assert kinds(store) == [("DELETE", "m")]
    prune(store, 25)
    assert kinds(store) == []


def test_forgetting_a_memory_forgets_its_notes(store: Store) -> None:
    store.changes.put_watcher(make_watcher("w"))
    store.memories.put([make_memory("one"), make_memory("two")])
    assert store.changes.forget(["one"]) == 1
    assert kinds(store) == [("CREATE", "two")]
