"""Small stores of other programs, written as these write them. Each holds PLANTED, and can be edited."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

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
            "checkpoints": [{"id": "c-1", "session_id": "s-1", "name": "before", "created_at": at}],
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


def _edit_text(path: Path, before: str, after: str) -> None:
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after), "utf-8")


STORES = {
    "memory-keeper": Invented(
        memory_keeper,
        lambda path: change(path, "UPDATE context_items SET value = 'a heron' WHERE key = 'db'"),
    ),
    "server-memory": Invented(
        server_memory, lambda path: _edit_text(path, "on Tuesdays only", "on Tuesdays only, like a heron")
    ),
}
"""By importer."""
