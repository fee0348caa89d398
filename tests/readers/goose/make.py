"""A home with Goose's database, and a log from before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..databases_of import database, lines, write

TABLES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, user_set_name BOOLEAN, session_type TEXT,
    working_dir TEXT, created_at TIMESTAMP, updated_at TIMESTAMP);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT, role TEXT,
    content_json TEXT, created_timestamp INTEGER, timestamp TIMESTAMP);
"""
BEGUN_S = 1_767_323_045


def data(home: Path) -> Path:
    return home / ".local" / "share" / "goose" / "sessions"


def session(id: str, description: str = "", kind: str = "user") -> tuple[Any, ...]:
    return (id, "a name", description, 0, kind, "/w/app", "2026-01-02 03:04:05", "2026-01-02 03:05:00")


def message(row: int, session: str, role: str, *content: object) -> tuple[Any, ...]:
    return (row, f"msg-{row}", session, role, json.dumps(content), BEGUN_S + row, "2026-01-02 03:04:05")


def make_home(home: Path) -> None:
    request = {"name": "developer__shell", "arguments": {"command": "cat eggs.txt"}}
    failed = {"content": [{"type": "text", "text": "cat: eggs.txt: No such file"}], "isError": True}
    rows = {
        "sessions": [session("20260102_1", "Counting eggs"), session("20260102_2", kind="sub_agent")],
        "messages": [
            message(1, "20260102_1", "user", {"type": "text", "text": "How many eggs are there?"}),
            message(
                2,
                "20260102_1",
                "assistant",
                {"type": "thinking", "thinking": "Look.", "signature": ""},
                {"type": "text", "text": "I look."},
                {"type": "toolRequest", "id": "c1", "toolCall": {"status": "success", "value": request}},
            ),
            message(
                3,
                "20260102_1",
                "user",
                {"type": "toolResponse", "id": "c1", "toolResult": {"status": "success", "value": failed}},
            ),
            message(4, "20260102_1", "assistant", {"type": "text", "text": "There are none."}),
            (5, "msg-5", "20260102_1", "user", "{half", BEGUN_S, None),
            message(6, "20260102_2", "user", {"type": "text", "text": "Look into the nest."}),
            message(7, "20260102_2", "assistant", {"type": "text", "text": "It is empty."}),
        ],
    }
    database(data(home) / "sessions.db", TABLES, rows)
    header = {"description": "Older eggs", "working_dir": "/w/old", "created_at": "2025-01-02T03:04:05Z"}
    asked = {
        "id": "m1",
        "role": "user",
        "created": BEGUN_S,
        "content": [{"type": "text", "text": "Any eggs?"}],
    }
    answered = {"role": "assistant", "created": BEGUN_S + 1, "content": [{"type": "text", "text": "One."}]}
    write(data(home) / "20250102_1.jsonl", lines(header, asked, answered))
