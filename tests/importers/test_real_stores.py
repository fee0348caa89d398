"""Stores that the real programs wrote: what comes is what independent SQL counts."""

from __future__ import annotations

import gzip
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from backstory.core import Core
from backstory.domain.filters import Filter

from .running import Counts, counts, memories, run

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
ORIGINALS, RIVALS = DATA / "originals", DATA / "rivals"

pytestmark = [
    pytest.mark.skipif(not DATA.is_dir(), reason="the real stores are not here"),
    pytest.mark.parametrize("open_store", ["sqlite"], indirect=True),
]


class Sql:
    """Questions to a store that no importer takes part in."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, question: str) -> int:
        with closing(sqlite3.connect(f"{self._path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            return int(connection.execute(question).fetchone()[0])

    def texts(self, question: str) -> list[str]:
        with closing(sqlite3.connect(f"{self._path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            return sorted(text for (text,) in connection.execute(question))


@pytest.mark.parametrize("file", ["context.db", "context-seed-v0.10.0-5ec9091.db"])
def test_memory_keeper(core: Core, file: str) -> None:
    path = ORIGINALS / "memory-keeper" / file
    sql = Sql(path)
    has_log = sql("SELECT count(*) FROM sqlite_master WHERE name = 'context_changes'")
    deleted = (
        "SELECT count(DISTINCT item_id) FROM context_changes c WHERE operation = 'DELETE'"
        " AND NOT EXISTS (SELECT 1 FROM context_items i WHERE i.id = c.item_id)"
    )
    gone = sql(deleted) if has_log else 0
    found = counts(run(core, "memory-keeper", path, with_deleted=True))
    assert found["items"] == Counts(new=sql("SELECT count(*) FROM context_items") + gone)
    assert found["sessions"] == Counts(new=sql("SELECT count(*) FROM sessions"))
    assert found["journal entries"] == Counts(new=sql("SELECT count(*) FROM journal_entries"))
    assert found["cached files"] == Counts(new=sql("SELECT count(*) FROM file_cache"))
    assert found["checkpoints"] == Counts(new=sql("SELECT count(*) FROM checkpoints"))
    live = [memory.text for memory in memories(core) if memory.key]
    assert live == sql.texts("SELECT value FROM context_items")
    assert len(core.engine.store.archive.find_memories(Filter())) == gone
    overwritten = (
        "SELECT c.new_value FROM context_changes c JOIN context_items i ON i.session_id = c.session_id"
        " AND i.key = c.key WHERE c.operation = 'CREATE' AND c.item_id <> i.id"
    )
    formers = [
        former.text for memory in memories(core) for former in core.engine.store.memories.former(memory.id)
    ]
    assert sorted(formers) == (sql.texts(overwritten) if has_log else [])


@pytest.mark.parametrize(
    "file", ["memory-keeper-export-8c92887e.json", "seed-memory-keeper-export-0304b8e8.json"]
)
def test_memory_keeper_exports(core: Core, file: str) -> None:

    path = ORIGINALS / "memory-keeper" / file
    rows = json.loads(path.read_text("utf-8"))["contextItems"]
    assert counts(run(core, "memory-keeper", path))["items"] == Counts(new=len(rows))
    assert [memory.text for memory in memories(core)] == sorted(row["value"] for row in rows)


def test_server_memory(core: Core, tmp_path: Path) -> None:
    shutil.copy(RIVALS / "server-memory" / "memory.jsonl", tmp_path)
    assert counts(run(core, "server-memory", tmp_path)) == {
        "observations": Counts(new=4),
        "relations": Counts(new=1),
    }
    texts = [memory.text for memory in memories(core)]
    assert "Ada: prefers tabs — and «quotes»" in texts
    assert "Ada maintains billing service" in texts


def test_projectmemory(core: Core) -> None:
    path = ORIGINALS / "projectmemory" / "projectmemory-0.1.6-real.db"
    sql = Sql(path)
    assert counts(run(core, "projectmemory", path)) == {
        "contexts": Counts(
            new=sql("SELECT count(*) FROM context_memory WHERE trim(summary_text) <> ''"),
            skipped=sql("SELECT count(*) FROM context_memory WHERE trim(summary_text) = ''"),
        )
    }
    assert [each.text for each in memories(core)] == sql.texts(
        "SELECT summary_text FROM context_memory WHERE trim(summary_text) <> ''"
    )


@pytest.mark.parametrize("version", ["0.1.5", "0.1.8"])
def test_codearchitect(core: Core, version: str) -> None:
    project = ORIGINALS / "codearchitect" / version
    files = sorted(project.rglob("full.md"))
    written = [
        json.loads(file.read_text("utf-8").partition("```json\n")[2].partition("\n```\n")[0])
        for file in files
    ]
    spoken = [turns for turns in written if turns]
    found = counts(run(core, "codearchitect", project))
    assert found == {"stored sessions": Counts(new=len(spoken), skipped=len(files) - len(spoken))}
    kept = core.engine.store.database.value("SELECT count(*) FROM entry WHERE kind = 'message'")
    assert kept == sum(map(len, spoken))


@pytest.mark.parametrize(
    "file",
    [
        "session-mgmt-0.1.2-reflection.duckdb",
        "session-mgmt-0.2.1-reflection.duckdb",
        "session-buddy-0.23.0-checkpointed.duckdb",
    ],
)
def test_session_mgmt(core: Core, file: str, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = ORIGINALS / "session-mgmt" / file
    shutil.copy(path, tmp_path)
    with duckdb.connect(str(tmp_path / file), read_only=True) as connection:
        tables = {name for (name,) in connection.execute("SHOW TABLES").fetchall()}

        def texts(kind: str) -> set[str]:
            named = [table for table in (kind, f"{kind}_v2") if table in tables]
            return {
                text
                for table in named
                for (text,) in connection.execute(f"SELECT content FROM {table}").fetchall()
            }

        expected = {kind: texts(kind) for kind in ("reflections", "conversations")}
    found = counts(run(core, "session-mgmt", path))
    assert {kind: found[kind].new if kind in found else 0 for kind in expected} == {
        kind: len(some) for kind, some in expected.items()
    }
    assert {each.text for each in memories(core) if each.category == "reflection"} == expected["reflections"]


def test_claude_mem(core: Core) -> None:
    path = RIVALS / "claude-mem" / "claude-mem.db"
    sql = Sql(path)
    found = counts(run(core, "claude-mem", path))
    assert found["sessions"] == Counts(new=sql("SELECT count(*) FROM sdk_sessions"))
    assert found["observations"] == Counts(new=sql("SELECT count(*) FROM observations"))
    assert found["summaries"] == Counts(new=sql("SELECT count(*) FROM session_summaries"))
    logs = sql("SELECT count(DISTINCT content_session_id) FROM user_prompts")
    assert found["prompt logs"] == Counts(new=logs)
    prompts = core.engine.store.database.values("SELECT text FROM entry WHERE kind = 'message'")
    assert sorted(prompts) == sql.texts("SELECT prompt_text FROM user_prompts")


def test_mcp_memory_service(core: Core, tmp_path: Path) -> None:
    path = tmp_path / "sqlite_vec.db"
    path.write_bytes(gzip.decompress((RIVALS / "mcp-memory-service" / "sqlite_vec.db.gz").read_bytes()))
    sql = Sql(path)
    live = "FROM memories WHERE deleted_at IS NULL AND superseded_by IS NULL"
    assert counts(run(core, "mcp-memory-service", tmp_path)) == {
        "memories": Counts(new=sql(f"SELECT count(*) {live}"))
    }
    assert [each.text for each in memories(core)] == sql.texts(f"SELECT content {live}")
    assert {each.tags for each in memories(core)} == {("decision", "billing"), ("bug", "auth")}


def test_basic_memory(core: Core, tmp_path: Path) -> None:
    sql = Sql(RIVALS / "basic-memory" / "config" / "memory.db")
    expected = {
        "notes": Counts(new=sql("SELECT count(*) FROM entity")),
        "observations": Counts(new=sql("SELECT count(*) FROM observation")),
        "relations": Counts(new=sql("SELECT count(*) FROM relation")),
    }
    notes = tmp_path / "notes"
    shutil.copytree(RIVALS / "basic-memory" / "notes", notes)
    assert counts(run(core, "basic-memory", notes)) == expected
    config = json.loads((RIVALS / "basic-memory" / "config" / "config.json").read_text("utf-8"))
    config["projects"]["main"]["path"] = str(notes)
    (tmp_path / "config.json").write_text(json.dumps(config), "utf-8")
    again = counts(run(core, "basic-memory", tmp_path / "config.json"))
    assert again == {kind: Counts(unchanged=count.new) for kind, count in expected.items()}


def test_the_index_of_basic_memory_alone(core: Core) -> None:
    path = RIVALS / "basic-memory" / "config" / "memory.db"
    sql = Sql(path)
    assert counts(run(core, "basic-memory", path)) == {
        "notes": Counts(skipped=sql("SELECT count(*) FROM entity")),
        "observations": Counts(new=sql("SELECT count(*) FROM observation")),
        "relations": Counts(new=sql("SELECT count(*) FROM relation")),
    }


def test_mem0(core: Core, tmp_path: Path) -> None:
    shutil.copytree(RIVALS / "mem0", tmp_path / "mem0")
    path = tmp_path / "mem0" / "history.db"
    sql = Sql(path)
    found = counts(run(core, "mem0", path))
    assert found["memories"] == Counts(new=sql("SELECT count(DISTINCT memory_id) FROM history"))
    newest = "SELECT new_memory FROM history h WHERE rowid = (SELECT max(rowid) FROM history WHERE memory_id = h.memory_id)"
    assert [each.text for each in memories(core)] == sql.texts(newest)
    formers = [
        each.text for memory in memories(core) for each in core.engine.store.memories.former(memory.id)
    ]
    assert formers == sql.texts("SELECT old_memory FROM history WHERE event = 'UPDATE'")
    assert {memory.metadata.get("user_id") for memory in memories(core)} == {"ada"}
