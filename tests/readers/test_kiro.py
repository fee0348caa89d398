"""Kiro: the command line now and before, and the editor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backstory.readers import Cursor, Form, Role, Source, load_readers

from .databases_of import database
from .golden import check_golden, sources

reader = load_readers(["kiro"])["kiro"]


def test_a_home_reads_as_expected(request: pytest.FixtureRequest) -> None:
    check_golden("kiro", request)


def test_the_database_of_before_is_read(tmp_path: Path) -> None:
    history = [
        {
            "user": {"content": {"Prompt": {"prompt": "Build a boat."}}, "timestamp": "2026-01-02T03:04:05Z"},
            "assistant": {"ToolUse": {"message_id": "a1", "content": "I look for wood.", "tool_uses": [{"id": "t", "name": "fs_read", "args": {"path": "/w/wood"}}]}},
        },
        {
            "user": {"content": {"ToolUseResults": {"tool_use_results": []}}},
            "assistant": {"Response": {"message_id": "a2", "content": "Built."}},
        },
        {"user": None, "assistant": {"Riddle": {}}},
    ]  # fmt: skip
    value = json.dumps({"conversation_id": "c1", "history": history})
    table = "CREATE TABLE conversations_v2 (key TEXT, conversation_id TEXT, value TEXT, updated_at INTEGER);"
    rows: dict[str, list[tuple[Any, ...]]] = {
        "conversations_v2": [("/w/app", "c1", value, 1), ("/w/app", "c2", "{half", 1)]
    }
    path = database(tmp_path / ".local/share/kiro-cli/data.sqlite3", table, rows)
    (source,) = sources(reader, tmp_path)
    assert source.path == path
    (piece,) = reader.read(Source(path, Form.DATABASE), Cursor())
    assert [(turn.role, turn.text, len(turn.calls)) for turn in piece.turns] == [
        (Role.USER, "Build a boat.", 0),
        (Role.ASSISTANT, "I look for wood.", 1),
        (Role.ASSISTANT, "Built.", 0),
    ]
    assert piece.header.directory == "/w/app"
    assert piece.skipped == {"unknown kind of answer": 1, "not JSON": 1}
