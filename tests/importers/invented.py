"""Small stores of other programs, written as these write them. Each holds PLANTED, and can be edited."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

SECRET = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hLaB3d"
PLANTED = f"the walrus token is {SECRET}"


class Invented(NamedTuple):
    write: Callable[[Path], Path]
    """A store in a folder; which file or folder it is."""
    edit: Callable[[Path], None]
    """Gives one of its texts the word `heron`, as its program would."""


def database(path: Path, tables: dict[str, list[dict[str, Any]]]) -> Path:
    """A SQLite file of these rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        for table, rows in tables.items():
            names = list(dict.fromkeys(name for row in rows for name in row))
            connection.execute(f"CREATE TABLE {table} ({', '.join(names)})")
            marks = ", ".join("?" * len(names))
            values = [[_plain(row.get(name)) for name in names] for row in rows]
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
    return path


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value


def change(path: Path, sql: str, *values: Any) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(sql, values)


def memory_keeper(folder: Path) -> Path:
    at = "2026-01-02 03:04:05"
    item = {"session_id": "s-1", "priority": "high", "channel": "ops", "is_private": 0, "created_at": at}
    change = {"session_id": "s-1", "key": "db", "priority": "normal", "channel": "ops"}
    gone = {"session_id": "s-1", "key": "cache", "item_id": "i-9", "created_at": "2026-01-04 00:00:00"}
    return database(
        folder / "context.db",
        {
            "sessions": [
                {"id": "s-1", "name": "Billing", "working_directory": "/home/ada/shop", "created_at": at},
                {"id": "s-2", "name": "Branch", "parent_id": "s-1", "default_channel": "x", "created_at": at},
            ],
            "context_items": [
                item | {"id": "i-1", "key": "token", "value": PLANTED, "metadata": {"files": ["a.py"]}},
                item | {"id": "i-3", "key": "db", "value": "PostgreSQL", "category": "decision"},
                item | {"id": "i-4", "key": "mine", "value": "only here", "is_private": 1},
            ],
            "context_changes": [
                change | {"sequence_id": 1, "item_id": "i-2", "operation": "CREATE", "new_value": "MySQL",
                          "created_at": "2025-12-01 00:00:00"},
                change | {"sequence_id": 2, "item_id": "i-3", "operation": "CREATE", "new_value": "SQLite",
                          "created_at": "2025-12-02T00:00:00.000Z"},
                change | {"sequence_id": 3, "item_id": "i-3", "operation": "UPDATE", "old_value": "SQLite",
                          "new_value": "PostgreSQL", "created_at": at},
                gone | {"sequence_id": 4, "operation": "CREATE", "new_value": "Redis"},
                gone | {"sequence_id": 5, "operation": "DELETE", "old_value": "Redis"},
            ],
            "journal_entries": [
                {"id": "j-1", "session_id": "s-1", "entry": "A good day", "mood": "calm", "tags": ["win"],
                 "created_at": at},
            ],
            "context_relationships": [
                {"id": "r-1", "session_id": "s-1", "from_key": "db", "to_key": "token",
                 "relationship_type": "depends_on", "created_at": at},
            ],
            "file_cache": [
                {"id": "f-1", "session_id": "s-1", "file_path": "a.py", "content": "x = 1\n", "updated_at": at},
            ],
            "checkpoints": [
                {"id": "c-1", "session_id": "s-1", "name": "before", "git_branch": f"fix/{SECRET}", "created_at": at}
            ],
            "checkpoint_items": [{"id": 1, "checkpoint_id": "c-1", "context_item_id": "i-3"}],
            "checkpoint_files": [{"id": 1, "checkpoint_id": "c-1", "file_cache_id": "f-1"}],
            "feature_flags": [{"id": "x"}],
        },
    )  # fmt: skip


def server_memory(folder: Path) -> Path:
    lines: list[dict[str, Any]] = [
        {"type": "entity", "name": "billing", "entityType": "component",
         "observations": [PLANTED, "deployed on Tuesdays only"]},
        {"type": "entity", "name": "Ada", "entityType": "person", "observations": []},
        {"type": "relation", "from": "Ada", "to": "billing", "relationType": "maintains"},
    ]  # fmt: skip
    path = folder / "memory.jsonl"
    path.write_text("\n".join([*map(json.dumps, lines), '{"type": "entity", "na']), "utf-8")
    return path


def projectmemory(folder: Path) -> Path:
    rows = [
        {"id": "17e2", "summary_text": PLANTED, "embedding": b"\0\3", "timestamp": 1_767_323_045},
        {"id": "dc5f", "summary_text": "We deploy on Tuesdays.", "timestamp": 1_767_323_046},
        {"id": "0000", "summary_text": "", "timestamp": 1_767_323_047},
    ]
    return database(folder / ".projectmemory.db", {"context_memory": rows})


def codearchitect(folder: Path) -> Path:
    sessions = folder / "shop" / ".codearchitect" / "sessions"
    turns = [{"role": "user", "content": PLANTED}, {"role": "assistant", "content": {"plan": ["swim"]}}]
    full = (
        "# Walrus - Full Context\n\n**Date:** 2026-01-02T03:04:05.000Z\n\n---\n\n## Full Conversation (JSON)\n\n"
        f"```json\n{json.dumps(turns, indent=2)}\n```\n"
    )
    old = "# Old\n\n**Date:** 2025-11-20T12:00:00.000Z\n\nUser: Which day?\n\nAI: Tuesday.\n"
    empty = "# Empty - Full Context\n\n**Date:** 2025-11-21T12:00:00.000Z\n\n## Full Conversation (JSON)\n\n```json\n[]\n```\n"
    for place, text in (
        ("2026-01-02/walrus/full.md", full),
        ("2025-11-20/full.md", old),
        ("2025-11-21/-1/full.md", empty),
    ):
        file = sessions / place
        file.parent.mkdir(parents=True)
        file.write_text(text, "utf-8")
    return sessions


def session_mgmt(folder: Path) -> Path:
    duckdb = pytest.importorskip("duckdb")
    path = folder / "reflection.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE reflections (id VARCHAR, content VARCHAR, embedding FLOAT[2], tags VARCHAR[],"
            " timestamp TIMESTAMP, metadata JSON)"
        )
        connection.execute(
            "INSERT INTO reflections VALUES ('r-1', ?, [1, 2], ['auth', 'jwt'], '2026-01-02 03:04:05', NULL),"
            " ('r-2', 'in both tables', NULL, NULL, '2026-01-02 03:04:05', NULL)",
            [PLANTED],
        )
        connection.execute(
            "CREATE TABLE reflections_v2 (id VARCHAR, content VARCHAR, category VARCHAR, tags VARCHAR[],"
            " project VARCHAR, timestamp TIMESTAMP, fingerprint BLOB)"
        )
        connection.execute(
            "INSERT INTO reflections_v2 VALUES ('v-1', 'in both tables', 'skills', ['x'], 'shop', '2026-01-03', 'a')"
        )
        connection.execute(
            "CREATE TABLE conversations (id VARCHAR, content VARCHAR, project VARCHAR, timestamp TIMESTAMP,"
            " metadata JSON)"
        )
        connection.execute(
            "INSERT INTO conversations VALUES ('c-1', '# Checkpoint\nQuality 27', 'unknown', '2026-01-02', '{}')"
        )
        connection.execute(
            "CREATE TABLE session_windows (id VARCHAR, working_directory VARCHAR, project VARCHAR,"
            " started_at TIMESTAMP WITH TIME ZONE, ended_at TIMESTAMP WITH TIME ZONE)"
        )
        connection.execute(
            "INSERT INTO session_windows VALUES ('w-1', '/home/ada/shop', 'shop', '2026-01-02 03:00:00+00', NULL)"
        )
    return path


def _edit_duckdb(path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE reflections SET content = 'a heron' WHERE id = 'r-1'")


def gandalf(folder: Path) -> Path:
    exports = folder / "exports"
    exports.mkdir()
    messages = [
        {"role": "user", "text": PLANTED, "created_at": "2026-01-02T03:04:05.000Z"},
        {"role": "assistant", "text": "Noted.", "created_at": "2026-01-02T03:04:06.000Z"},
    ]
    about = {"id": "cursor:c-1", "title": "Walrus", "tool": "cursor", "project": "/home/ada/shop"}
    (exports / "a.json").write_text(json.dumps(about | {"messages": messages}), "utf-8")
    original = {"conversation_id": "x", "name": "Walrus", "workspace_prompts_count": 7}
    (exports / "b.json").write_text(json.dumps(original), "utf-8")
    (exports / "c.md").write_text(MARKDOWN, "utf-8")
    (exports / "notes.pdf").write_bytes(b"%PDF")
    return exports


MARKDOWN = """\
# Tuesdays

- id: claude-code:c-2
- project: /home/ada/shop
- created at: 2026-01-03T00:00:00.000Z

## User (2026-01-03T00:00:00.000Z)

Which day?

## Assistant (2026-01-03T00:00:01.000Z)

# Not a head

Tuesday.

## Tool (2026-01-03T00:00:02.000Z)

> Read a.py
> Read b.py
"""


def claude_mem(folder: Path) -> Path:
    at, session = 1_767_323_045_000, {"memory_session_id": "m-1", "project": "shop"}
    return database(
        folder / "claude-mem.db",
        {
            "sdk_sessions": [session | {"id": 1, "content_session_id": "s-1", "user_prompt": "Hello\nthere",
                                        "started_at_epoch": at}],
            "observations": [
                session | {"id": 1, "type": "bugfix", "title": "Cookie", "narrative": PLANTED,
                           "facts": ["24 h"], "concepts": ["auth"], "files_read": ["a.py"], "created_at_epoch": at},
                session | {"id": 2, "type": "decision", "text": "Old row", "created_at_epoch": at,
                           "merged_into_project": "market"},
            ],
            "session_summaries": [
                session | {"id": 1, "request": "Fix login", "learned": "Cookies age", "next_steps": "Test",
                           "created_at_epoch": at},
            ],
            "user_prompts": [
                {"id": 1, "content_session_id": "s-1", "prompt_number": 1, "prompt_text": "Hello",
                 "created_at_epoch": at},
                {"id": 2, "content_session_id": "s-1", "prompt_number": 2, "prompt_text": "Again",
                 "created_at_epoch": at + 1},
            ],
            "tool_uses": [{"id": 1}],
        },
    )  # fmt: skip


def mcp_memory_service(folder: Path) -> Path:
    at = 1_767_323_045.5
    row = {"created_at": at, "updated_at": at, "metadata": {}}
    return database(
        folder / "sqlite_vec.db",
        {
            "memories": [
                row | {"id": 1, "content_hash": "h1", "content": PLANTED, "tags": "auth, jwt",
                       "memory_type": "decision", "deleted_at": None, "superseded_by": None},
                row | {"id": 2, "content_hash": "h2", "content": "MySQL", "superseded_by": "h3"},
                row | {"id": 3, "content_hash": "h3", "content": "PostgreSQL", "created_at": at + 1},
                row | {"id": 4, "content_hash": "h4", "content": "Gone", "deleted_at": at},
            ],
            "memory_graph": [
                {"source_hash": "h1", "target_hash": "h3", "relationship_type": "causes", "created_at": at},
                {"source_hash": "h3", "target_hash": "h1", "relationship_type": "related", "created_at": at},
            ],
            "beliefs": [{"id": 1, "content": "Tests pay off", "status": "active", "created_at": at}],
        },
    )  # fmt: skip


def _supersede(path: Path) -> None:
    change(path, "UPDATE memories SET superseded_by = 'h5' WHERE content_hash = 'h3'")
    change(
        path,
        "INSERT INTO memories (id, content_hash, content, created_at, metadata) VALUES (5, 'h5', 'a heron', ?, '{}')",
        1_767_323_047.5,
    )


def basic_memory(folder: Path) -> Path:
    notes = folder / "notes"
    (notes / "ops").mkdir(parents=True)
    (notes / "ops" / "Deploy rota.md").write_text(NOTE, "utf-8")
    (notes / "plain.md").write_text(f"# Plain\n\n{PLANTED}\n", "utf-8")
    config = folder / ".basic-memory" / "config.json"
    config.parent.mkdir()
    config.write_text(json.dumps({"projects": {"main": {"path": str(notes)}}}), "utf-8")
    return config


NOTE = """\
---
title: Deploy rota
type: note
permalink: main/ops/deploy-rota
tags:
- ops
- rota
---

# Deploy rota

The prose of it.

- [decision] Tuesdays only #billing (ADR 7)
- [ ] not an observation
- relates_to [[Plain]]
- blocks [[Missing note]]

```
- [fact] in a fence
```
"""


def mem0(folder: Path) -> Path:
    event = {"event": "ADD", "created_at": "2026-01-02T03:04:05+00:00", "role": "user", "is_deleted": 0}
    return database(
        folder / "history.db",
        {
            "history": [
                event | {"id": "1", "memory_id": "m-1", "old_memory": None, "new_memory": "MySQL",
                         "updated_at": None},
                event | {"id": "2", "memory_id": "m-2", "new_memory": PLANTED},
                event | {"id": "3", "memory_id": "m-1", "old_memory": "MySQL", "new_memory": "PostgreSQL",
                         "event": "UPDATE", "updated_at": "2026-01-03T00:00:00+00:00"},
                event | {"id": "4", "memory_id": "m-3", "new_memory": "Gone"},
                event | {"id": "5", "memory_id": "m-3", "old_memory": "Gone", "event": "DELETE", "is_deleted": 1},
            ],
            "messages": [
                {"id": "7", "session_scope": "user_id=ada", "role": "user", "content": "Hi",
                 "created_at": "2026-01-02T03:04:05+00:00"},
            ],
        },
    )  # fmt: skip


def openmemory(folder: Path) -> Path:
    row = {"user_id": "u-1", "app_id": "a-1", "created_at": "2026-01-02 03:04:05.000000", "state": "active"}
    return database(
        folder / "openmemory.db",
        {
            "users": [{"id": "u-1", "user_id": "ada"}],
            "apps": [{"id": "a-1", "name": "cursor"}],
            "categories": [{"id": "c-1", "name": "work"}],
            "memory_categories": [{"memory_id": "m-1", "category_id": "c-1"}],
            "memories": [
                row | {"id": "m-1", "content": PLANTED, "metadata": {"a": 1}},
                row | {"id": "m-2", "content": "Gone", "state": "deleted"},
                row | {"id": "m-3", "content": "Resting", "state": "paused"},
            ],
        },
    )


def engram(folder: Path) -> Path:
    at = "2026-01-02 03:04:05"
    row = {"session_id": "s-1", "project": "shop", "created_at": at, "updated_at": at, "deleted_at": None}
    return database(
        folder / "engram.db",
        {
            "sessions": [{"id": "s-1", "project": "shop", "directory": "/home/ada/shop", "started_at": at,
                          "summary": "Login done"}],
            "observations": [
                row | {"id": 1, "sync_id": "o-1", "type": "bugfix", "title": "Cookie", "content": PLANTED,
                       "topic_key": "bug/cookie", "scope": "project"},
                row | {"id": 2, "sync_id": "o-2", "type": "decision", "title": "Database",
                       "content": "PostgreSQL", "project": "market"},
                row | {"id": 3, "sync_id": "o-3", "type": "manual", "title": "Old", "content": "Gone",
                       "deleted_at": at},
            ],
            "observation_versions": [
                {"version_id": "v", "observation_sync_id": "o-2", "title": "Database", "content": "MySQL",
                 "type": "decision", "revision_count": 1, "captured_at": "2026-01-01 00:00:00"},
            ],
            "memory_relations": [
                {"id": 1, "sync_id": "rel-1", "source_id": "o-2", "target_id": "o-1", "relation": "conflicts_with",
                 "created_at": at},
                {"id": 2, "sync_id": "rel-2", "source_id": "o-2", "target_id": "o-1", "relation": "pending",
                 "created_at": at},
            ],
            "user_prompts": [{"id": 1, "session_id": "s-1", "content": "Fix login", "project": "shop",
                              "created_at": at}],
        },
    )  # fmt: skip


def _edit_text(path: Path, before: str, after: str) -> None:
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after), "utf-8")


def _sql(sql: str) -> Callable[[Path], None]:
    return lambda path: change(path, sql)


STORES = {
    "memory-keeper": Invented(
        memory_keeper, _sql("UPDATE context_items SET value = 'a heron' WHERE key = 'db'")
    ),
    "server-memory": Invented(
        server_memory, lambda path: _edit_text(path, "on Tuesdays only", "on Tuesdays only, like a heron")
    ),
    "projectmemory": Invented(
        projectmemory, _sql("UPDATE context_memory SET summary_text = 'a heron' WHERE id = 'dc5f'")
    ),
    "codearchitect": Invented(
        codearchitect, lambda path: _edit_text(path / "2025-11-20" / "full.md", "AI: Tuesday", "AI: a heron")
    ),
    "session-mgmt": Invented(session_mgmt, _edit_duckdb),
    "gandalf": Invented(gandalf, lambda path: _edit_text(path / "a.json", "Noted.", "A heron.")),
    "claude-mem": Invented(claude_mem, _sql("UPDATE observations SET text = 'a heron' WHERE id = 2")),
    "mcp-memory-service": Invented(mcp_memory_service, _supersede),
    "basic-memory": Invented(
        basic_memory,
        lambda path: _edit_text(
            path.parent.parent / "notes" / "ops" / "Deploy rota.md", "The prose of it.", "A heron."
        ),
    ),
    "mem0": Invented(
        mem0,
        _sql(
            "INSERT INTO history (id, memory_id, event, old_memory, new_memory, created_at, updated_at)"
            " VALUES ('9', 'm-2', 'UPDATE', 'x', 'a heron', '2026-01-02', '2026-01-04')"
        ),
    ),
    "openmemory": Invented(openmemory, _sql("UPDATE memories SET content = 'a heron' WHERE id = 'm-1'")),
    "engram": Invented(engram, _sql("UPDATE observations SET content = 'a heron' WHERE id = 2")),
}
"""By importer."""
