"""A home with threads of both versions of Zed's format."""

from __future__ import annotations

import json
from pathlib import Path

from ..databases_of import compressed, database

COLUMNS = "id TEXT PRIMARY KEY, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB"
NEWER = "parent_id TEXT, folder_paths TEXT, folder_paths_order TEXT, created_at TEXT"
TABLE = f"CREATE TABLE threads ({COLUMNS}, {NEWER});"
ENDED = "2026-07-19T09:00:02+00:00"


def threads(home: Path) -> Path:
    return home / ".local" / "share" / "zed" / "threads" / "threads.db"


def make_home(home: Path) -> None:
    use = {"id": "t1", "name": "edit_file", "input": {"path": "src/a.rs"}, "raw_input": "{}"}
    broken = {"id": "t2", "name": "terminal", "input": {"command": "cargo test"}}
    results = {
        "t1": {"tool_use_id": "t1", "is_error": False, "content": {"Text": "done"}},
        "t2": {"tool_use_id": "t2", "is_error": True, "content": {"Text": "2 failed"}},
    }
    mention = {"Mention": {"uri": {"File": {"abs_path": "/w/app/src/a.rs"}}, "content": "fn a() {}"}}
    modern = {
        "version": "0.3.0",
        "title": "Borrowed twice",
        "model": {"provider": "zed.dev", "model": "claude-sonnet"},
        "messages": [
            {
                "User": {
                    "id": "u-1",
                    "content": [{"Text": "Why is this borrowed?"}, mention, {"Image": {"source": "x"}}],
                }
            },
            {
                "Agent": {
                    "content": [
                        {"Thinking": {"text": "Two uses.", "signature": None}},
                        {"Text": "It is used twice."},
                        {"ToolUse": use},
                        {"ToolUse": broken},
                    ],
                    "tool_results": results,
                }
            },
            "Resume",
            {"Robot": {}},
        ],
    }
    former = {
        "version": "0.2.0",
        "summary": "Older",
        "messages": [
            {"id": 1, "role": "user", "segments": [{"type": "text", "text": "An older question."}]},
            {
                "id": 2,
                "role": "assistant",
                "segments": [{"type": "thinking", "text": "Hm."}, {"type": "text", "text": "An answer."}],
                "tool_uses": [{"id": "t", "name": "read_file", "input": {"path": "b.rs"}}],
                "tool_results": [{"tool_use_id": "t", "is_error": True, "content": "no such file"}],
            },
        ],
    }
    database(
        threads(home),
        TABLE,
        {
            "threads": [
                ("t-new", "Summary", ENDED, "zstd", compressed(modern), None, "/w/lib\n/w/app", "1,0", ENDED),
                ("t-old", "Older", ENDED, "json", json.dumps(former), "t-new", "/w/app", "0", None),
                ("t-bad", "Broken", ENDED, "zstd", b"no frame", None, None, None, None),
            ]
        },
    )
