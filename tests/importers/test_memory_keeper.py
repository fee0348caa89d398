"""MCP Memory Keeper's store: what it lost itself is rescued from its change log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backstory.core import Core
from backstory.domain.filters import Filter
from backstory.domain.records import Priority
from backstory.domain.when import iso

from ..conftest import Call
from .invented import change, memory_keeper
from .running import Counts, counts, memories, memory, run

NAME = "memory-keeper"


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    return memory_keeper(tmp_path / "keeper")


def archived(core: Core) -> list[str]:
    return sorted(each.memory.text for each in core.engine.store.archive.find_memories(Filter()))


def test_each_kind_is_counted(core: Core, foreign: Path) -> None:
    assert counts(run(core, NAME, foreign)) == {
        "sessions": Counts(new=2),
        "items": Counts(new=3, skipped=1),
        "journal entries": Counts(new=1),
        "relations": Counts(new=1),
        "cached files": Counts(new=1),
        "checkpoints": Counts(new=1),
        "feature flags": Counts(skipped=1),
    }


def test_items_come_with_all_that_is_known_of_them(core: Core, foreign: Path) -> None:
    run(core, NAME, foreign)
    found = memory(core, "walrus")
    assert (found.key, found.priority, found.channel) == ("token", Priority.HIGH, "ops")
    assert (found.project, dict(found.metadata)) == ("/home/ada/shop", {"files": ["a.py"]})
    assert iso(found.created_at) == "2026-01-02T03:04:05.000Z"
    (session, branch) = sorted(
        core.engine.store.sessions.find(NAME, after=None, before=None), key=lambda each: each.name
    )
    assert (session.name, branch.name) == ("Billing", "Branch")
    assert (branch.parent, found.session) == (session.id, session.id)
    assert memory(core, "only here").private


def test_overwritten_values_are_history(core: Core, foreign: Path) -> None:
    run(core, NAME, foreign)
    found = memory(core, "PostgreSQL")
    history = core.engine.store.memories.former(found.id)
    assert [(former.text, iso(former.saved_at)[:10]) for former in history] == [
        ("MySQL", "2025-12-01"),
        ("SQLite", "2025-12-02"),
    ]
    assert iso(found.created_at)[:10] == "2025-12-01"


def test_a_value_that_is_saved_again_keeps_its_id_and_goes_to_the_history(core: Core, foreign: Path) -> None:
    run(core, NAME, foreign)
    before = memory(core, "PostgreSQL")
    change(foreign, "UPDATE context_items SET id = 'i-99', value = 'CockroachDB' WHERE key = 'db'")
    assert counts(run(core, NAME, foreign))["items"] == Counts(updated=1, unchanged=2, skipped=1)
    after = memory(core, "CockroachDB")
    assert (after.id, after.created_at) == (before.id, before.created_at)
    history = core.engine.store.memories.former(after.id)
    assert [former.text for former in history] == ["MySQL", "SQLite", "PostgreSQL"]


def test_deleted_items_come_into_the_archive_when_they_are_asked_for(core: Core, foreign: Path) -> None:
    outcome = run(core, NAME, foreign)
    assert outcome.kinds["items"].skipped == {"deleted in MCP Memory Keeper": 1}
    assert archived(core) == []
    assert counts(run(core, NAME, foreign, with_deleted=True))["items"] == Counts(new=1, unchanged=3)
    assert archived(core) == ["Redis"]
    assert counts(run(core, NAME, foreign, with_deleted=True))["items"] == Counts(unchanged=4)
    assert core.through(NAME).archive.find_named("cache")


def test_one_that_was_deleted_there_since_goes_to_the_archive(core: Core, foreign: Path) -> None:
    run(core, NAME, foreign)
    change(foreign, "DELETE FROM context_items WHERE key = 'db'")
    change(
        foreign,
        "INSERT INTO context_changes (sequence_id, session_id, item_id, key, operation, old_value, priority,"
        " channel, created_at) VALUES (9, 's-1', 'i-3', 'db', 'DELETE', 'PostgreSQL', 'high', 'ops',"
        " '2026-02-01 00:00:00')",
    )
    assert counts(run(core, NAME, foreign))["items"] == Counts(unchanged=2, skipped=2)
    assert memory(core, "PostgreSQL")
    run(core, NAME, foreign, with_deleted=True)
    assert "PostgreSQL" in archived(core)
    restored = [each.memory.id for each in core.engine.store.archive.find_memories(Filter(keys=("db",)))]
    core.engine.store.archive.restore_memories(restored)
    run(core, NAME, foreign, with_deleted=True)
    assert memory(core, "PostgreSQL"), "the user made it live again"


def test_what_was_changed_here_stays_so(core: Core, foreign: Path, call: Call) -> None:
    run(core, NAME, foreign)
    found = memory(core, "PostgreSQL")
    core.engine.store.memories.put([found._replace(text="Oracle, sadly")])
    change(foreign, "UPDATE context_items SET value = 'CockroachDB' WHERE key = 'db'")
    outcome = run(core, NAME, foreign)
    assert outcome.kinds["items"].skipped["changed here since it was imported"] == 1
    assert memory(core, "Oracle").id == found.id


def test_the_tools_of_the_same_name_find_and_restore_it(core: Core, foreign: Path, call: Call) -> None:
    run(core, NAME, foreign)
    names = [each["name"] for each in call("context_session_list")["sessions"]]
    assert sorted(names) == ["Billing", "Branch"]
    (related,) = call("context_get_related", key="db")["related"]["outgoing"]
    assert (related["key"], related["relationshipType"]) == ("token", "depends_on")
    call("context_restore_checkpoint", name="before")
    assert [each.text for each in memories(core, "db")] == ["PostgreSQL"] * 2


def test_an_export_of_a_session_is_the_same_store(core: Core, foreign: Path, tmp_path: Path) -> None:
    run(core, NAME, foreign)
    row = {"id": "i-3", "session_id": "s-1", "key": "db", "value": "PostgreSQL", "category": "decision",
           "priority": "high", "channel": "ops", "created_at": "2026-01-02 03:04:05"}  # fmt: skip
    session = {"id": "s-1", "name": "Billing", "working_directory": "/home/ada/shop",
               "created_at": "2026-01-02 03:04:05"}  # fmt: skip
    export = tmp_path / "export.json"
    export.write_text(json.dumps({"version": "0.5.0", "session": session, "contextItems": [row]}))
    assert counts(run(core, NAME, export))["items"] == Counts(unchanged=1)
