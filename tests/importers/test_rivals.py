"""Stores of other memory programs: kinds, tags, times, projects, relations and former values come along."""

from __future__ import annotations

import gzip
import json
import pickle
import sqlite3
from pathlib import Path

import pytest

from backstory.core import Core
from backstory.domain.filters import ConversationFilter, Filter
from backstory.domain.when import iso
from backstory.importers.counts import Fate

from ..doubles import make_conversation, make_messages
from .invented import (
    STORES,
    basic_memory,
    change,
    claude_mem,
    database,
    engram,
    mcp_memory_service,
    mem0,
    openmemory,
)
from .running import Counts, counts, memories, memory, run

pytestmark = pytest.mark.parametrize("open_store", ["sqlite"], indirect=True)


def formers(core: Core, text: str) -> list[str]:
    return [each.text for each in core.engine.store.memories.former(memory(core, text).id)]


def archived(core: Core) -> list[str]:
    return sorted(each.memory.text for each in core.engine.store.archive.find_memories(Filter()))


def test_claude_mem(core: Core, tmp_path: Path) -> None:
    outcome = run(core, "claude-mem", claude_mem(tmp_path))
    assert counts(outcome) == {
        "sessions": Counts(new=1),
        "observations": Counts(new=2),
        "summaries": Counts(new=1),
        "prompt logs": Counts(new=1),
        "tool uses": Counts(skipped=1),
    }
    assert outcome.unmapped == ("shop", "market")
    found = memory(core, "Cookie\n")
    assert found.text.endswith("- 24 h")
    assert (found.category, found.tags, found.project) == ("error", ("auth",), "shop")
    assert dict(found.metadata) == {"type": "bugfix", "files_read": ["a.py"]}
    assert iso(found.created_at) == "2026-01-02T03:04:05.000Z"
    assert memory(core, "Old row").project == "market"
    assert memory(core, "Request: Fix login").text.endswith("Next steps: Test")
    (log,) = core.engine.store.conversations.find(ConversationFilter())
    assert (log.kind, log.project) == ("prompt-log", "shop")
    assert [each.text for each in core.engine.store.messages.of(log.id)] == ["Hello", "Again"]


def test_prompts_that_the_assistant_keeps_itself_are_not_kept_twice(core: Core, tmp_path: Path) -> None:
    store = core.engine.store
    store.conversations.add(make_conversation("claude-code:s-1"), make_messages("claude-code:s-1", "Hi"), [])
    outcome = run(core, "claude-mem", claude_mem(tmp_path))
    assert outcome.kinds["prompt logs"].skipped == {"already read from the assistant's own history": 1}


def test_a_name_means_the_project_here_that_is_called_so(core: Core, tmp_path: Path) -> None:
    core.engine.store.conversations.add(make_conversation("x", project="/home/ada/shop"), [], [])
    outcome = run(core, "claude-mem", claude_mem(tmp_path))
    assert outcome.unmapped == ("market",)
    assert memory(core, "Cookie\n").project == "/home/ada/shop"


def test_mcp_memory_service(core: Core, tmp_path: Path) -> None:
    path = mcp_memory_service(tmp_path)
    assert counts(run(core, "mcp-memory-service", path)) == {
        "memories": Counts(new=2, skipped=1),
        "relations": Counts(new=1),
        "similarities": Counts(skipped=1),
        "beliefs": Counts(new=1),
    }
    assert next(each for each in memories(core) if each.text.startswith("the walrus")).tags == ("auth", "jwt")
    found = next(each for each in memories(core) if each.text == "PostgreSQL")
    assert iso(found.created_at) == "2026-01-02T03:04:05.500Z"
    assert [each.text for each in core.engine.store.memories.former(found.id)] == ["MySQL"]
    assert memory(core, "causes").text.endswith("causes “PostgreSQL”")
    run(core, "mcp-memory-service", path, with_deleted=True)
    assert archived(core) == ["Gone"]


def test_what_is_superseded_there_keeps_its_id_here(core: Core, tmp_path: Path) -> None:
    path = mcp_memory_service(tmp_path)
    run(core, "mcp-memory-service", path)
    before = next(each for each in memories(core) if each.text == "PostgreSQL")
    STORES["mcp-memory-service"].edit(path)
    run(core, "mcp-memory-service", path)
    assert memory(core, "a heron").id == before.id
    assert formers(core, "a heron") == ["MySQL", "PostgreSQL"]


def test_basic_memory_notes(core: Core, tmp_path: Path) -> None:
    path = basic_memory(tmp_path)
    assert counts(run(core, "basic-memory", path)) == {
        "notes": Counts(new=2),
        "observations": Counts(new=1),
        "relations": Counts(new=2),
    }
    note = memory(core, "The prose of it.")
    assert (note.tags, note.category, note.project) == (("ops", "rota"), "note", str(tmp_path / "notes"))
    found = memory(core, "Deploy rota: Tuesdays only #billing")
    assert (found.category, found.tags) == ("decision", ("billing",))
    assert found.metadata["context"] == "ADR 7"
    assert "unresolved" not in memory(core, "relates to Plain").metadata
    assert memory(core, "blocks Missing note").metadata["unresolved"]
    assert run(core, "basic-memory", tmp_path / "notes").kinds["notes"].fates[Fate.UNCHANGED] == 2


def test_a_changed_line_of_a_note_supersedes_the_former(core: Core, tmp_path: Path) -> None:
    path = basic_memory(tmp_path)
    run(core, "basic-memory", path)
    note = tmp_path / "notes" / "ops" / "Deploy rota.md"
    note.write_text(note.read_text("utf-8").replace("Tuesdays only", "Thursdays only"), "utf-8")
    outcome = run(core, "basic-memory", path)
    assert (counts(outcome)["notes"], outcome.superseded) == (Counts(updated=1, unchanged=1), 1)
    assert formers(core, "rota: Thursdays") == ["Deploy rota: Tuesdays only #billing"]


def test_notes_whose_files_are_gone_are_told_by_the_index(core: Core, tmp_path: Path) -> None:
    at = "2026-01-02 03:04:05"
    database(
        tmp_path / "memory.db",
        {
            "project": [{"id": 1, "name": "main", "path": "/gone/notes"}],
            "entity": [
                {"id": 1, "title": "Billing", "permalink": "main/billing", "file_path": "billing.md",
                 "project_id": 1, "created_at": at, "entity_metadata": {"tags": ["adr"]}},
                {"id": 2, "title": "Rota", "permalink": "main/rota", "file_path": "rota.md", "project_id": 1,
                 "created_at": at},
            ],
            "note_content": [{"entity_id": 2, "markdown_content": "---\ntitle: Rota\n---\nTuesdays."}],
            "observation": [{"id": 1, "entity_id": 1, "content": "PostgreSQL #db", "category": "decision"}],
            "relation": [{"id": 1, "from_id": 1, "to_id": None, "to_name": "Rota", "relation_type": "uses"}],
        },
    )  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps({"projects": {"main": "/gone/notes"}}))
    assert counts(run(core, "basic-memory", tmp_path)) == {
        "notes": Counts(new=1, skipped=1),
        "observations": Counts(new=1),
        "relations": Counts(new=1),
    }
    assert memory(core, "Tuesdays.").project == "/gone/notes"
    assert memory(core, "Billing uses Rota").metadata.get("unresolved") is None


def test_mem0(core: Core, tmp_path: Path) -> None:
    path = mem0(tmp_path)
    assert counts(run(core, "mem0", path)) == {
        "memories": Counts(new=2, skipped=1),
        "conversations": Counts(new=1),
    }
    found = memory(core, "PostgreSQL")
    assert (iso(found.updated_at)[:10], dict(found.metadata)) == ("2026-01-03", {"role": "user"})
    assert formers(core, "PostgreSQL") == ["MySQL"]
    run(core, "mem0", path, with_deleted=True)
    assert archived(core) == ["Gone"]


class Trap:
    """Whoever unpickles it writes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (open, (str(self.path), "w"))


def test_a_pickle_is_never_opened(core: Core, tmp_path: Path) -> None:
    path = mem0(tmp_path)
    point = {
        "id": "m-2",
        "payload": {"user_id": "ada", "agent_id": "codex", "trap": Trap(tmp_path / "sprung")},
    }
    rows = [{"id": "m-2", "point": pickle.dumps(point)}, {"id": "x", "point": b"torn"}]
    database(tmp_path / "qdrant" / "collection" / "mem0" / "storage.sqlite", {"points": rows})
    run(core, "mem0", path)
    assert memory(core, "walrus").metadata == {"user_id": "ada", "agent_id": "codex", "role": "user"}
    assert not (tmp_path / "sprung").exists()


def test_openmemory(core: Core, tmp_path: Path) -> None:
    path = openmemory(tmp_path)
    assert counts(run(core, "openmemory", path)) == {"memories": Counts(new=1, skipped=2)}
    found = memory(core, "walrus")
    assert (found.tags, dict(found.metadata)) == (("work",), {"a": 1, "app": "cursor", "user": "ada"})
    run(core, "openmemory", path, with_deleted=True)
    assert archived(core) == ["Gone", "Resting"]


def test_engram(core: Core, tmp_path: Path) -> None:
    path = engram(tmp_path)
    assert counts(run(core, "engram", path)) == {
        "sessions": Counts(new=1),
        "observations": Counts(new=2, skipped=1),
        "relations": Counts(new=1),
        "similarities": Counts(skipped=1),
        "prompt logs": Counts(new=1),
    }
    found = memory(core, "walrus")
    assert (found.key, found.category, found.project) == ("bug/cookie", "error", "/home/ada/shop")
    assert memory(core, "PostgreSQL").project == "market"
    assert formers(core, "PostgreSQL") == ["Database\nMySQL"]
    assert memory(core, "Database conflicts with Cookie")
    run(core, "engram", path, with_deleted=True)
    assert archived(core) == ["Old\nGone"]


def test_engrams_export_and_chunks_hold_the_same(core: Core, tmp_path: Path) -> None:
    run(core, "engram", engram(tmp_path))
    row = {"id": 7, "sync_id": "o-2", "session_id": "s-1", "type": "decision", "title": "Database",
           "content": "PostgreSQL", "project": "market", "created_at": "2026-01-02 03:04:05"}  # fmt: skip
    body = {"version": "1", "sessions": [], "observations": [row], "prompts": []}
    export = tmp_path / "export.json"
    export.write_text(json.dumps(body))
    assert counts(run(core, "engram", export))["observations"] == Counts(unchanged=1)
    chunks = tmp_path / "shop" / ".engram" / "chunks"
    chunks.mkdir(parents=True)
    newer = [row | {"content": "CockroachDB"}, row | {"sync_id": "o-9", "project": "", "session_id": ""}]
    (chunks / "a.jsonl.gz").write_bytes(gzip.compress(json.dumps(body).encode()))
    (chunks / "b.jsonl.gz").write_bytes(gzip.compress(json.dumps(body | {"observations": newer}).encode()))
    assert counts(run(core, "engram", tmp_path / "shop"))["observations"] == Counts(new=1, updated=1)
    assert formers(core, "CockroachDB") == ["Database\nMySQL", "Database\nPostgreSQL"]
    assert memory(core, "Database\nPostgreSQL").project == str(tmp_path / "shop")


def test_a_store_that_its_owner_has_open_is_read_with_its_log(core: Core, tmp_path: Path) -> None:
    path = engram(tmp_path)
    owner = sqlite3.connect(path)
    try:
        owner.execute("PRAGMA journal_mode = WAL")
        owner.execute("UPDATE observations SET content = 'a heron' WHERE id = 2")
        owner.commit()
        assert path.with_name("engram.db-wal").stat().st_size
        run(core, "engram", path)
    finally:
        owner.close()
    assert memory(core, "heron")


def test_what_a_store_would_compute_is_not_computed(core: Core, tmp_path: Path) -> None:
    path = engram(tmp_path)
    change(path, "ALTER TABLE observations ADD COLUMN first AS (json_extract(content, '$.no'))")
    assert counts(run(core, "engram", path))["observations"].new == 2


def test_another_program_of_the_same_name_is_refused(core: Core, tmp_path: Path) -> None:
    path = database(
        tmp_path / "engram.db", {"observations": [{"id": 1, "content": "x"}], "sessions": [{"id": 1}]}
    )
    change(path, "DELETE FROM observations")
    with pytest.raises(Exception, match=r"no observations\.topic_key"):
        run(core, "engram", path)
