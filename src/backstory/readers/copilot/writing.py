"""Write a conversation as a session of Copilot's command line."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from .. import NativeSession, Places, Role, SessionDraft
from ..formats.files import open_regular
from ..formats.lines import OBJECTS, read_records
from ..formats.times import iso_ms
from ..formats.values import fields_of, text_of

VERSION = "1.0.102"
"""The version of the program with which these events were tested."""


def write_session(draft: SessionDraft, places: Places) -> NativeSession:
    named = places.environment.get("COPILOT_HOME", "")
    home = Path(named) if named else places.home / ".copilot"
    id, times = draft.uuid(), draft.times()
    start = {
        "sessionId": id,
        "version": 1,
        "producer": "copilot-agent",
        "copilotVersion": _newest_version(home) or VERSION,
        "startTime": iso_ms(times[0]),
        "context": {"cwd": draft.directory},
    }
    events: list[tuple[str, dict[str, Any], int]] = [("session.start", start, times[0])]
    for turn, at_ms in zip(draft.turns, times, strict=True):
        if turn.role is Role.USER:
            events.append(("user.message", {"content": turn.text}, at_ms))
        else:
            content = {"messageId": draft.uuid(), "content": turn.text, "toolRequests": []}
            events.append(("assistant.message", content, at_ms))
    parent: str | None = None
    lines = []
    for kind, data, at_ms in events:
        id_of_event = draft.uuid()
        event = {
            "type": kind,
            "data": data,
            "id": id_of_event,
            "timestamp": iso_ms(at_ms),
            "parentId": parent,
        }
        lines.append(json.dumps(event, ensure_ascii=False))
        parent = id_of_event
    path = home / "session-state" / id / "events.jsonl"
    words = ("copilot", "--resume", id, *(["-i", draft.prompt] if draft.prompt else []))
    return NativeSession(id, {path: "\n".join([*lines, ""])}, words)


def _newest_version(home: Path) -> str:
    """Return the version of the program that wrote the newest session here."""
    try:
        newest = max(home.glob("session-state/*/events.jsonl"), key=lambda path: path.stat().st_mtime)
        with open_regular(newest) as stream:
            _, first = next(iter(read_records(stream, OBJECTS, Counter())), (0, {}))
    except (OSError, ValueError):
        return ""
    return text_of(fields_of(first.get("data")).get("copilotVersion"))
