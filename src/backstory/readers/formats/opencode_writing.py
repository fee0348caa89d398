"""Write a conversation as a document for `opencode import`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from ...domain.errors import Unreadable
from ...domain.lazy import lazy_pattern
from .. import NativeSession, Places, Role, SessionDraft
from .databases import open_database
from .files import read_text
from .paths import config_home, data_home
from .values import fields_of, text_of

VERSION = "1.18.33"
"""The version of the program with which these records were tested."""
_COMMENT = lazy_pattern(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = lazy_pattern(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')
_NEWEST_MESSAGES = "SELECT data FROM message ORDER BY time_created DESC LIMIT 20"
CONFIGURATIONS = ("opencode.jsonc", "opencode.json", "config.json")


class ModelName(NamedTuple):
    provider: str
    model: str


def write_session(draft: SessionDraft, places: Places) -> NativeSession | None:
    """Return None if no model is known: OpenCode continues with that of the last user message, and fails without
    one."""
    model = configured_model(draft.directory, places) or _newest_model(places)
    if model is None:
        return None
    ids = _Ids(draft)
    session, times = ids.make("ses"), draft.times()
    info = {
        "id": session,
        "slug": "handed-over",
        "projectID": "global",
        "directory": draft.directory,
        "title": draft.title,
        "version": VERSION,
        "time": {"created": times[0], "updated": times[-1]},
    }
    messages: list[dict[str, Any]] = []
    parent = ""
    for turn, at_ms in zip(draft.turns, times, strict=True):
        id = ids.make("msg")
        common = {"id": id, "sessionID": session, "role": turn.role.value, "agent": "build"}
        if turn.role is Role.USER:
            parent = id
            rest: dict[str, Any] = {
                "time": {"created": at_ms},
                "model": {"providerID": model.provider, "modelID": model.model},
            }
        else:
            rest = _answer_fields(draft.directory, parent, model, at_ms)
        part = {
            "id": ids.make("prt"),
            "sessionID": session,
            "messageID": id,
            "type": "text",
            "text": turn.text,
        }
        messages.append({"info": common | rest, "parts": [part]})
    path = draft.folder / f"opencode-{session}.json"
    text = json.dumps({"info": info, "messages": messages}, ensure_ascii=False, indent=1)
    words = ("opencode", "--session", session, *(["--prompt", draft.prompt] if draft.prompt else []))
    return NativeSession(session, {path: text}, words, (("opencode", "import", str(path)),))


def _answer_fields(directory: str, parent: str, model: ModelName, at_ms: int) -> dict[str, Any]:
    return {
        "parentID": parent,
        "mode": "build",
        "path": {"cwd": directory, "root": directory},
        "cost": 0,
        "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}},
        "modelID": model.model,
        "providerID": model.provider,
        "time": {"created": at_ms, "completed": at_ms},
        "finish": "stop",
    }


class _Ids:
    """Ascending ids, because OpenCode sorts by them: 12 digits of time and a counter, then 14 random characters."""

    def __init__(self, draft: SessionDraft) -> None:
        self._draft = draft
        self._counter = 0

    def make(self, kind: str) -> str:
        self._counter += 1
        clock = self._draft.times()[0] * 0x1000 + self._counter
        return f"{kind}_{clock & 0xFFFFFFFFFFFF:012x}{self._draft.random()[:14]}"


def configured_model(directory: str, places: Places) -> ModelName | None:
    """Return the `model` of the configuration. The project's configuration takes precedence."""
    named = places.environment.get("OPENCODE_CONFIG", "")
    folders = [Path(directory), config_home(places) / "opencode"]
    files = [
        *([Path(named)] if named else []),
        *(folder / name for folder in folders for name in CONFIGURATIONS),
    ]
    for path in files:
        try:
            raw = read_text(path)
            bare = _LAST_COMMA.sub(r"\1", _COMMENT.sub(r"\1", raw))
            provider, mark, model = text_of(fields_of(json.loads(bare)).get("model")).partition("/")
        except (OSError, ValueError):
            continue  # missing, or in an unknown format
        if mark:
            return ModelName(provider, model)
    return None


def _newest_model(places: Places) -> ModelName | None:
    """Return the model of the newest answer in OpenCode's own store."""
    for path in sorted((data_home(places) / "opencode").glob("opencode*.db")):
        try:
            with open_database(path) as connection:
                rows = connection.execute(_NEWEST_MESSAGES).fetchall()
        except (OSError, Unreadable):
            continue
        for (data,) in rows:
            try:
                message = fields_of(json.loads(data))
            except (TypeError, ValueError):
                continue
            provider, model = text_of(message.get("providerID")), text_of(message.get("modelID"))
            if provider and model:
                return ModelName(provider, model)
    return None
