"""The Database contract: the same event is the same error, and rows become records by the names of their columns."""

from __future__ import annotations

import ast
import inspect
from datetime import timedelta
from pathlib import Path

import pytest

from backstory import store as package
from backstory.domain.errors import Incompatible, Unavailable
from backstory.domain.filters import ConversationFilter, Filter
from backstory.domain.records import Session
from backstory.store import Store, migrate
from backstory.store.columns import Columns
from backstory.store.database import AT_ONCE

from ..conftest import OpenStore
from ..doubles import DAWN, make_conversation, make_memory

SESSION = Session("s", "name", "/p", "keeper", DAWN, DAWN + timedelta(hours=1), parent="older")


def test_a_store_that_was_closed_is_unavailable(store: Store) -> None:
    store.close()
    with pytest.raises(Unavailable):
        store.entries.count(Filter())
    with pytest.raises(Unavailable):
        store.memories.put([make_memory("a")])


def test_a_statement_that_the_database_refuses_is_unavailable(store: Store) -> None:
    with pytest.raises(Unavailable, match="could not answer"):
        store.database.rows("SELECT nonsense FROM entry")
    with pytest.raises(Unavailable, match="could not answer"), store.transaction():
        store.database.change("INSERT INTO session (id) VALUES (NULL)")
    store.memories.put([make_memory("a")])


def test_a_database_that_a_newer_version_changed_for_good_is_refused_when_it_is_opened_and_by_those_who_have_it_open(
    store: Store, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = migrate.LATEST + 1
    with store.transaction():
        sql = "INSERT INTO migration (version, name, compat, applied_at) VALUES (?, 'next', ?, 0)"
        store.database.change(sql, [newer, newer])
    try:
        with pytest.raises(Incompatible, match="newer Backstory"):
            open_store()
        with pytest.raises(Incompatible, match="newer Backstory"):
            store.memories.put([make_memory("late")])
        assert store.entries.count(Filter(ids=("late",))) == 0
    finally:
        monkeypatch.setattr(migrate, "LATEST", newer)
        with store.transaction():
            store.database.change("DELETE FROM migration WHERE version = ?", [newer])


def test_a_change_outside_a_transaction_is_a_mistake_of_ours(store: Store) -> None:
    with pytest.raises(AssertionError, match="part of a transaction"):
        store.database.change("DELETE FROM session")
    with pytest.raises(AssertionError, match="part of a transaction"):
        store.database.change_many("DELETE FROM session WHERE id = ?", [("a",)])


def test_a_record_is_read_by_name_whatever_order_the_table_has(store: Store) -> None:
    store.sessions.put(SESSION)
    turned = Columns(Session, id="name", name="id")
    assert store.database.records(turned, "FROM session") == [SESSION._replace(id="name", name="s")]
    values = dict(zip(Columns(Session).names, Columns(Session).write(SESSION), strict=True))
    assert Columns(Session).pick(dict(reversed(values.items()))) == SESSION


def test_as_many_conversations_may_be_asked_for_as_there_are(store: Store) -> None:
    ids = tuple(f"c{n:05}" for n in range(2 * AT_ONCE + 1))
    with store.transaction():
        for id in ids:
            store.conversations.put(make_conversation(id), [])
    assert {outline.id for outline in store.conversations.outlines(ConversationFilter(ids=ids))} == set(ids)
    assert [conversation.id for conversation in store.conversations.get(ids[::-1])] == list(ids)
    store.archive.put_conversation(ids[0])
    (archived,) = store.archive.find_conversations(ConversationFilter(ids=ids))
    assert archived.conversation.id == ids[0]


def classes() -> list[ast.ClassDef]:
    folder = Path(inspect.getfile(package)).parent
    return [
        node
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    ]


def test_a_room_is_one_plain_class() -> None:
    """What is declared here and written there is nobody's to change; so nothing is, but what databases differ in."""
    assert {node.name: len(node.bases) for node in classes() if len(node.bases) > 1} == {}
    declared = {
        node.name
        for node in classes()
        if any(isinstance(base, ast.Name) and base.id in ("ABC", "Protocol") for base in node.bases)
    }
    assert declared == {"Database", "TextIndex", "Vectors"}
