"""A home with OpenCode's database, its older files, and an export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..databases_of import database, write

BEGUN = 1_760_000_000_000
TABLES = """
CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT, directory TEXT, title TEXT,
    version TEXT, time_created INTEGER, time_updated INTEGER, time_archived INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER,
    data TEXT);
CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER,
    time_updated INTEGER, data TEXT);
"""


def session(id: str, parent: str | None = None, title: str = "", updated: int = BEGUN) -> tuple[Any, ...]:
    return (id, "p", parent, "slug", "/w/app", title, "1.2", BEGUN, updated, None)


def message(id: str, session: str, at: int, **data: Any) -> tuple[Any, ...]:
    return (id, session, at, at, json.dumps({"time": {"created": at}, **data}))


def part(id: str, message: str, session: str, **data: Any) -> tuple[Any, ...]:
    return (id, message, session, BEGUN, BEGUN, json.dumps(data))


def second(id: str, session: str, seq: int, type: str, **data: Any) -> tuple[Any, ...]:
    """A message of the second version."""
    at = BEGUN + seq
    return (id, session, type, seq, at, at, json.dumps({"time": {"created": at}, **data}))


def data(home: Path) -> Path:
    return home / ".local" / "share" / "opencode"


def make_home(home: Path) -> None:
    tool = {"type": "tool", "tool": "edit", "callID": "c1"}
    done = {"status": "completed", "input": {"filePath": "/w/app/a.py", "newString": "x"}, "output": "ok"}
    shell = {
        "status": "completed",
        "input": {"command": "make"},
        "output": "make: *** Error 2",
        "metadata": {"exit": 2},
    }
    failed = {"status": "error", "input": {"filePath": "/w/app/b.py"}, "error": "File not found"}
    content = [
        {"type": "reasoning", "id": "r", "text": "Look up."},
        {"type": "text", "id": "t", "text": "It is cloudy."},
        {"type": "tool", "id": "c1", "name": "read", "state": {"status": "completed", "input": {"filePath": "/w/app/sky.py"}}},
        {"type": "tool", "id": "c2", "name": "bash", "state": {"status": "error", "input": {"command": "look"}, "error": {"type": "unknown", "message": "no such command"}}},
    ]  # fmt: skip
    rows: dict[str, list[tuple[Any, ...]]] = {
        "session": [
            session("ses_1", title="Build fix"),
            session("ses_2", "ses_1", "Child session - 2026"),
            session("ses_3", title="New session - 2026"),
        ],
        "session_message": [
            second(
                "m_1",
                "ses_3",
                1,
                "user",
                text="Why is the sky grey?",
                files=[{"uri": "file:///w/app/sky.py"}],
            ),
            second("m_2", "ses_3", 2, "synthetic", text="Reminder of the harness."),
            second("m_3", "ses_3", 3, "assistant", model={"id": "gpt-5"}, content=content),
            second("m_4", "ses_3", 4, "shell", callID="c", command="make sky", output="done"),
            second("m_5", "ses_3", 5, "model-switched", model={"id": "other"}),
            second(
                "m_6", "ses_3", 6, "compaction", reason="auto", summary="The sky was looked at.", recent=""
            ),
            second("m_7", "ses_1", 1, "user", text="Told in the older table, too."),
        ],
        "message": [
            message(
                "msg_2",
                "ses_1",
                BEGUN + 1,
                role="assistant",
                modelID="gpt-5",
                path={"cwd": "/w/app", "root": "/w"},
            ),
            message("msg_1", "ses_1", BEGUN, role="user"),
            message("msg_3", "ses_1", BEGUN + 1, role="user"),
            message("msg_4", "ses_1", BEGUN + 2, role="assistant", modelID="gpt-5", summary=True),
            message("msg_5", "ses_2", BEGUN, role="user"),
            message("msg_6", "ses_2", BEGUN + 1, role="assistant", modelID="gpt-5"),
        ],
        "part": [
            part("prt_1", "msg_1", "ses_1", type="text", text="Fix the build."),
            part("prt_2", "msg_1", "ses_1", type="text", text="Called the read tool", synthetic=True),
            part("prt_3", "msg_1", "ses_1", type="file", mime="text/plain", url="file:///w/app/a%20b.py"),
            part("prt_9", "msg_2", "ses_1", type="text", text="Fixed."),
            part("prt_4", "msg_2", "ses_1", type="step-start"),
            part("prt_5", "msg_2", "ses_1", type="reasoning", text="Look at make."),
            part("prt_6", "msg_2", "ses_1", **tool, state=done),
            part("prt_7", "msg_2", "ses_1", **{**tool, "tool": "bash"}, state=shell),
            part("prt_8", "msg_2", "ses_1", **{**tool, "tool": "read"}, state=failed),
            part("prt_91", "msg_2", "ses_1", type="patch", hash="1", files=["/w/app/a.py"]),
            part("prt_a", "msg_3", "ses_1", type="text", text="Reminder of the harness.", synthetic=True),
            part("prt_b", "msg_4", "ses_1", type="text", text="What happened so far."),
            part("prt_c", "msg_5", "ses_2", type="text", text="Look into make."),
            part("prt_d", "msg_6", "ses_2", type="text", text="It lacks a target."),
        ],
    }
    database(data(home) / "opencode.db", TABLES, rows)
    database(data(home) / "opencode-beta.db", TABLES, {})
    storage = data(home) / "storage"
    times = {"created": BEGUN, "updated": BEGUN + 9}
    told = {
        "id": "ses_0",
        "projectID": "p",
        "directory": "/w/old",
        "title": "New session - 2025",
        "time": times,
    }
    write(storage / "session" / "p" / "ses_0.json", json.dumps(told))
    for id, role, at in (("msg_b", "user", BEGUN), ("msg_a", "assistant", BEGUN + 1)):
        write(
            storage / "message" / "ses_0" / f"{id}.json",
            json.dumps({"id": id, "sessionID": "ses_0", "role": role, "time": {"created": at}}),
        )
        write(
            storage / "part" / id / "prt_1.json",
            json.dumps({"id": "prt_1", "type": "text", "text": f"From the {role}."}),
        )
    write(storage / "message" / "ses_0" / "msg_c.json", "{half")
    oldest = data(home) / "project" / "w-old" / "storage" / "session"
    write(oldest / "info" / "ses_00.json", json.dumps({"id": "ses_00", "title": "Oldest", "time": times}))
    inside = [{"type": "text", "text": "Parts inside the message."}]
    asked = {"id": "msg_0", "role": "user", "parts": inside, "time": {"created": BEGUN}}
    write(oldest / "message" / "ses_00" / "msg_0.json", json.dumps(asked))
    answered = {"id": "msg_1", "role": "assistant", "time": {"created": BEGUN + 1}, "path": {"cwd": "/w/old"}}
    write(oldest / "message" / "ses_00" / "msg_1.json", json.dumps(answered))
    said = {"id": "p", "type": "text", "text": "Parts as files below the session."}
    write(oldest / "part" / "ses_00" / "msg_1" / "p.json", json.dumps(said))
