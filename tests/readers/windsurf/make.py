"""A home with all that can be read of Windsurf, and with what cannot."""

from __future__ import annotations

import json
from pathlib import Path

from ..databases_of import cached, editor_state, field, lines, step, workspace, write

BEGUN_S = 1_760_000_000
SHOWN = "11111111-aaaa-4bbb-8ccc-000000000001"
TITLED = "11111111-aaaa-4bbb-8ccc-000000000002"
HOOKED = "11111111-aaaa-4bbb-8ccc-000000000003"
CLOSED = "11111111-aaaa-4bbb-8ccc-000000000004"


def user_directory(home: Path) -> Path:
    return home / ".config" / "Windsurf" / "User"


def trajectory(id: str = SHOWN, *more: bytes) -> str:
    arguments = json.dumps({"TargetFile": "/w/app/src/retry.py", "CodeEdit": "…"})
    call = field(7, field(1, "call-1") + field(2, "replace_file_content") + field(3, arguments))
    reply = field(3, "Count first.") + call + field(8, "It retries thrice now.") + field(12, "anthropic")
    return cached(
        field(1, id),
        step(14, BEGUN_S, field(19, field(2, "Retry three times, please."))),
        step(15, BEGUN_S + 2, field(20, reply)),
        step(21, BEGUN_S + 3, field(28, field(1, "ok"))),
        *more,
    )


def summaries(**titles: str) -> str:
    times = field(3, field(1, BEGUN_S)) + field(7, field(1, BEGUN_S + 60))
    place = field(9, field(1, "file:///w/my%20app"))
    entries = ((id, field(1, title) + times + place) for id, title in titles.items())
    return cached(*(field(1, field(1, id) + field(2, about)) for id, about in entries))


def state(**values: str) -> dict[str, object]:
    return {"codeium.windsurf": {f"windsurf.state.{key}": value for key, value in values.items()}}


def make_home(home: Path) -> None:
    user = user_directory(home)
    workspace(user, "w1", "file:///w/app")
    known = {
        "cachedActiveTrajectory:w1": trajectory(),
        "cachedActiveTrajectory:w2": trajectory(HOOKED),
        "cachedActiveTrajectory:w3": cached(field(1, "no uuid"), field(2, b"\xff")),
        "cachedTrajectorySummaries:w1": summaries(**{SHOWN: "Retries", TITLED: "A plan for caching"}),
        "lastUsed": "never-read",
    }
    editor_state(user / "globalStorage" / "state.vscdb", {**state(**known), "secret://x": "never-read"})
    old = workspace(user, "old", "file:///w/old")
    bubbles = [{"type": "user", "id": "q", "text": "Hello?"}, {"type": "ai", "id": "a", "text": "Hello."}]
    chat = {
        "tabs": [
            {"tabId": "tab-1", "chatTitle": "Greeting", "lastSendTime": 1000 * BEGUN_S, "bubbles": bubbles}
        ]
    }
    editor_state(
        old / "state.vscdb", {"cascade.chatdata": chat, "chat.ChatSessionStore.index": {"entries": {}}}
    )
    write(home / ".codeium" / "windsurf" / "brain" / TITLED / "plan.md", "# Plan\n\n1. Measure.\n")
    write(home / ".codeium" / "windsurf" / "cascade" / f"{CLOSED}.pb", "only bytes")
    write(
        home / ".windsurf" / "transcripts" / f"{HOOKED}.jsonl",
        lines(
            {"type": "user_input", "status": "done", "user_input": {"user_response": "Add a README."}},
            {"type": "planner_response", "status": "done", "planner_response": {"response": "Adding it."}},
            {
                "type": "code_action",
                "status": "done",
                "code_action": {"path": "/w/app/README.md", "new_content": "# App"},
            },
            {
                "type": "run_command",
                "status": "error",
                "run_command": {"command": "make docs", "error": "no rule"},
            },
            {"type": "new_kind", "status": "done"},
        ),
    )
