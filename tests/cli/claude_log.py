"""Sessions of Claude Code, written as it writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..processes import Json


class Log:
    """A session of Claude Code being written."""

    def __init__(self, session: str, directory: Path, day: str) -> None:
        self.session, self.directory, self.day = session, directory, day
        self.lines: list[Json] = []

    def say(self, role: str, content: Any) -> None:
        number = len(self.lines) + 1
        self.lines.append(
            {
                "type": role,
                "uuid": f"{self.session[:8]}-{number}",
                "sessionId": self.session,
                "timestamp": f"{self.day}T03:{number:02}:00.000Z",
                "cwd": str(self.directory),
                "message": {
                    "id": f"{self.session[:8]}-m{number}",
                    "role": role,
                    "content": content,
                    "model": "m",
                },
            }
        )

    def answer(self, text: str) -> None:
        self.say("assistant", [{"type": "text", "text": text}])

    def call(self, tool: str, *, result: str = "ok", is_error: bool = False, **arguments: Any) -> None:
        id = f"t{len(self.lines)}"
        self.say("assistant", [{"type": "tool_use", "id": id, "name": tool, "input": arguments}])
        printed = {"type": "tool_result", "tool_use_id": id, "content": result}
        self.say("user", [{**printed, "is_error": True} if is_error else printed])

    def write(self, home: Path) -> None:
        path = home / ".claude" / "projects" / "-w-shop" / f"{self.session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines), "utf-8")
