"""Recall below its surface: what a process remembers of the index, whose conversation a hit is, and which files a question names."""

from __future__ import annotations

from datetime import timedelta

import pytest

from backstory.core import Core
from backstory.core.freshness import DAY_MS, freshness
from backstory.core.projects import is_workspace, workspace_hash
from backstory.guests.gandalf.recall import Recall, RecallQuery, named_files
from backstory.store import Store

from ..conftest import OpenStore
from ..doubles import DAWN, make_conversation, make_memory, make_messages


def keep(store: Store, id: str, *texts: str) -> None:
    store.conversations.add(make_conversation(id), make_messages(id, *texts), [])


def found(core: Core, query: str) -> list[str]:
    return [each.conversation.id for each in Recall(core).find(RecallQuery(query=query), limit=100).found]


def test_what_another_process_adds_later_is_recalled(core: Core, open_store: OpenStore) -> None:
    keep(core.engine.store, "first", "An egret.")
    assert found(core, "egret") == ["first"]
    other = open_store()
    keep(other, "second", "Another egret.", "Or a heron.")
    other.memories.put([make_memory("m", "An egret that was saved.")])
    keep(other, "third", "A stork.", "An egret again.")
    assert sorted(found(core, "egret")) == ["first", "second", "third"]
    assert found(core, "heron") == ["second"]


def test_what_was_replaced_or_deleted_is_recalled_no_more(core: Core) -> None:
    store = core.engine.store
    keep(store, "a", "An egret.")
    keep(store, "b", "An egret.")
    assert found(core, "egret") == ["a", "b"]
    keep(store, "a", "A stork instead.")
    store.conversations.delete(["b"])
    assert found(core, "egret") == []
    assert found(core, "stork") == ["a"]


def test_more_hits_than_are_looked_up_one_by_one_are_counted_exactly(core: Core) -> None:
    store = core.engine.store
    with store.transaction():
        for n in range(1_100):
            keep(store, f"c{n:04}", "An egret." if n % 11 else "An egret and a stork.")
    recalled = Recall(core).find(RecallQuery(query="egret"), limit=5)
    assert (recalled.total, len(recalled.found)) == (1_100, 5)
    assert Recall(core).find(RecallQuery(query="egret stork"), limit=5).total == 100
    assert Recall(core).find(RecallQuery(query="egret -stork"), limit=5).total == 1_000


def test_a_session_of_memories_is_never_taken_for_a_conversation(core: Core) -> None:
    keep(core.engine.store, "talk", "A stork.")
    core.engine.store.memories.put([make_memory("m", "An egret.", session="talk-like")])
    assert found(core, "egret") == []


@pytest.mark.parametrize(
    ("days", "worth"),
    [(-1, 1.0), (0, 1.0), (1, 1.0), (7, 0.8), (30, 0.5), (90, 0.2), (91, 0.1), (4_000, 0.1)],
)
def test_newness_counts_in_steps(days: float, worth: float) -> None:
    now = DAWN.timestamp() * 1_000
    assert freshness(now - days * DAY_MS, now) == worth


def test_the_last_moment_of_the_window_counts(core: Core) -> None:
    for id, age in (("in", timedelta(days=3)), ("out", timedelta(days=3, seconds=1))):
        talk = make_conversation(id, updated_at=DAWN - age)
        core.engine.store.conversations.add(talk, make_messages(id, "An egret."), [])
    assert [each.conversation.id for each in Recall(core).find(RecallQuery(days=3), limit=9).found] == ["in"]


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("look at src/auth.py and 'b.ts'", ["src/auth.py", "b.ts"]),
        ("in `C:\\\\work\\\\a.cs`, please.", ["C:\\\\work\\\\a.cs"]),
        ("version 1.2.3 costs 4.50", []),
        ("The end. Really.", []),
        (".gitignore", []),
    ],
)
def test_files_are_recognised_in_prose(text: str, files: list[str]) -> None:
    assert named_files(text) == files


def test_a_workspace_is_known_by_hash_path_and_name() -> None:
    project = "C:\\\\work\\\\My App"
    assert len(workspace_hash(project)) == 16
    for given in (workspace_hash(project), project, "my app"):
        assert is_workspace(given, project)
    assert not is_workspace("app", project)
