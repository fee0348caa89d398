"""Stores that the real programs wrote: what comes is what independent SQL counts."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from backstory.core import Core
from backstory.domain.filters import Filter

from .running import Counts, counts, memories, run

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
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
