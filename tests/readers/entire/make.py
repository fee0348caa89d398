"""A repository with checkpoints of Entire on their branch: one session in two checkpoints, and one of another agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ...repositories import commit, git, write

BRANCH = "entire/checkpoints/v1"
SESSION = "44444444-0000-4000-8000-000000000001"


def line(number: int, role: str, text: str) -> str:
    record: dict[str, Any] = {
        "type": role,
        "uuid": f"u{number}",
        "sessionId": SESSION,
        "timestamp": f"2026-02-03T00:25:{number:02}.000Z",
        "cwd": "/Users/ann/elsewhere",
        "message": {
            "id": f"m{number}",
            "role": role,
            "content": [{"type": "text", "text": text}],
            "model": "m",
        },
    }
    return json.dumps(record) + "\n"


def metadata(session: str, minute: int, agent: str = "Claude Code") -> str:
    return json.dumps({"session_id": session, "created_at": f"2026-02-03T00:{minute}:00.5Z", "agent": agent})


def make_home(home: Path) -> Path:
    """The project, in which the branch is not checked out."""
    project = commit(home / "shop", {"README.md": "# Shop\n"})
    git(project, "checkout", "-q", "--orphan", "checkpoints")
    git(project, "rm", "-rqf", ".")
    first = line(1, "user", "Why does the walrus cache miss?")
    files = {
        "00/c9e2351016/metadata.json": "{}",
        "00/c9e2351016/0/metadata.json": metadata(SESSION, 31),
        "00/c9e2351016/0/full.jsonl": first,
        "00/c9e2351016/0/prompt.txt": "Why does the walrus cache miss?",
        "a1/b2c3d4e5f6/2/metadata.json": metadata(SESSION, 41, "Agent"),
        "a1/b2c3d4e5f6/2/full.jsonl": first + line(2, "assistant", "Its key holds a date."),
        "a1/b2c3d4e5f6/3/metadata.json": metadata("other", 42, "Gemini CLI"),
        "a1/b2c3d4e5f6/3/full.jsonl": '{"messages": []}\n',
        "a1/b2c3d4e5f6/4/metadata.json": "half of it",
        "a1/b2c3d4e5f6/4/full.jsonl": first,
    }
    write(project, files)
    git(project, "add", "--", *files)
    git(project, "commit", "-qm", "Checkpoint")
    git(project, "branch", "-q", BRANCH)
    git(project, "checkout", "-q", "-f", "main")
    return project
