"""Write a conversation as a session of Claude Code."""

from __future__ import annotations

import json
from pathlib import Path

from .. import NativeSession, Places, SessionDraft
from ..formats.paths import project_slug
from ..formats.times import iso_ms


def write_session(draft: SessionDraft, places: Places) -> NativeSession:
    """Return the files of the session.

    No line names a model: Claude Code would continue with it instead of the user's own."""
    named = places.environment.get("CLAUDE_CONFIG_DIR", "").partition(",")[0].strip()
    base = Path(named) if named else places.home / ".claude"
    id, parent = draft.uuid(), None
    lines = []
    for turn, at_ms in zip(draft.turns, draft.times(), strict=True):
        line = {
            "parentUuid": parent,
            "isSidechain": False,
            "type": turn.role.value,
            "uuid": (parent := draft.uuid()),
            "timestamp": iso_ms(at_ms),
            "sessionId": id,
            "cwd": draft.directory,
            "message": {"role": turn.role.value, "content": [{"type": "text", "text": turn.text}]},
        }
        lines.append(json.dumps(line, ensure_ascii=False))
    path = base / "projects" / project_slug(draft.directory) / f"{id}.jsonl"
    words = ("claude", "--resume", id, *([draft.prompt] if draft.prompt else []))
    return NativeSession(id, {path: "\n".join([*lines, ""])}, words)
