"""Write a conversation as a rollout that Codex can resume."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from .. import NativeSession, Places, Role, SessionDraft
from .files import open_regular
from .lines import OBJECTS, read_records
from .times import iso_ms
from .values import fields_of, text_of

ORIGINATOR = "backstory"
CLI_VERSION = "0.169.0"
"""The version of the program with which these lines were tested. Codex refuses a first line without a version."""


def write_session(draft: SessionDraft, places: Places) -> NativeSession:
    """Return the files of the session.

    Each turn is written twice: Codex sends the item to the model, and displays only the event."""
    named = places.environment.get("CODEX_HOME", "")
    home = Path(named) if named else places.home / ".codex"
    id, times = draft.uuid(), draft.times()
    started = iso_ms(times[0])
    meta = {
        "id": id,
        "timestamp": started,
        "cwd": draft.directory,
        "originator": ORIGINATOR,
        "cli_version": _newest_version(home) or CLI_VERSION,
    }
    lines = [_line(started, "session_meta", meta)]
    for turn, at_ms in zip(draft.turns, times, strict=True):
        is_user = turn.role is Role.USER
        content = [{"type": "input_text" if is_user else "output_text", "text": turn.text}]
        item = {"type": "message", "role": turn.role.value, "content": content}
        event = {"type": "user_message" if is_user else "agent_message", "message": turn.text}
        lines += [_line(iso_ms(at_ms), "response_item", item), _line(iso_ms(at_ms), "event_msg", event)]
    day = started[:10].split("-")
    name = f"rollout-{started[:19].replace(':', '-')}-{id}.jsonl"
    words = ("codex", "resume", id, *([draft.prompt] if draft.prompt else []))
    return NativeSession(id, {home.joinpath("sessions", *day, name): "\n".join([*lines, ""])}, words)


def _line(timestamp: str, kind: str, payload: dict[str, Any]) -> str:
    return json.dumps({"timestamp": timestamp, "type": kind, "payload": payload}, ensure_ascii=False)


def _newest_version(home: Path) -> str:
    """Return the version of the program that wrote the newest rollout here. File names begin with their time."""
    newest = max(home.glob("sessions/*/*/*/rollout-*.jsonl"), key=lambda path: path.name, default=None)
    if newest is None:
        return ""
    try:
        with open_regular(newest) as stream:
            _, first = next(iter(read_records(stream, OBJECTS, Counter())), (0, {}))
    except OSError:
        return ""
    return text_of(fields_of(first.get("payload")).get("cli_version"))
