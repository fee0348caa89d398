"""The surface, error codes and wire format of items that all of Memory Keeper's tools share."""

from __future__ import annotations

from typing import Literal

from ...core import Core
from ...core.sessions import channel_name
from ...domain.errors import (
    BackstoryError,
    Disabled,
    GitFailed,
    InvalidInput,
    NotAllowed,
    NotFound,
    NothingToCommit,
    StorageFull,
    Unreadable,
)
from ...domain.records import Session
from ...tools import ErrorTable, Surface, camel, dump
from ...tools.params import Json
from .profiles import MINIMAL, STANDARD

PriorityName = Literal["critical", "high", "normal", "low"]
CategoryName = Literal["task", "decision", "progress", "note", "warning", "error"]
CURRENT_SESSION = "current"
LONGEST_GLOB = 10_000  # SQLite refuses patterns of more than 50,000 bytes

_ERRORS = ErrorTable(
    {
        InvalidInput: "INVALID_PARAMS",
        NotFound: "ITEM_NOT_FOUND",
        NotAllowed: "PERMISSION_ERROR",
        Disabled: "TOOL_DISABLED",
        GitFailed: "GIT_ERROR",
        NothingToCommit: "NOTHING_TO_COMMIT",
        StorageFull: "STORAGE_FULL",
        Unreadable: "PARSE_ERROR",
        BackstoryError: "DATABASE_ERROR",
    },
    not_found={
        "session": "SESSION_NOT_FOUND",
        "file": "FILE_NOT_FOUND",
        "directory": "FILE_NOT_FOUND",
        "git repository": "FILE_NOT_FOUND",
        "channel": "CHANNEL_NOT_FOUND",
        "watcher": "WATCHER_NOT_FOUND",
    },
    hints={
        "session": "context_session_list shows them.",
        "checkpoint": "context_checkpoint takes one; names are exact.",
        "item": "context_get lists the keys.",
        "channel": "context_list_channels shows them.",
        "watcher": 'context_watch with action "create" makes one.',
        "item or entity": "context_analyze lists what is known.",
    },
)


def _word_error(error: BackstoryError) -> str:
    body: Json = {"code": _ERRORS.code(error), "message": error.message}
    details: Json = {
        name: value for name, value in (("hint", _ERRORS.hint(error)), ("field", error.field)) if value
    }
    details |= error.details
    return dump({"error": body | ({"details": details} if details else {})})


surface = Surface(
    "memory-keeper",
    about="Keyed context items in sessions, with categories, priorities, channels, checkpoints and a knowledge graph.",
    word_error=_word_error,
    wire=camel,
    profiles={"minimal": MINIMAL, "standard": STANDARD},
)


def session_of(core: Core, session_id: str | None) -> Session | None:
    """Return the session that a call refers to; None if that is the current one and there is none yet."""
    if session_id not in (None, CURRENT_SESSION):
        return core.sessions.get(session_id)
    return None if core.caller.session is None else core.sessions.get(core.caller.session)


def checked_channel(text: str | None, field: str = "channel") -> str | None:
    """Return a channel's stored name; None if there is no channel."""
    if text is None:
        return None
    name = channel_name(text)
    if not name:
        raise InvalidInput(f"{field} has no letter or digit from a-z, 0-9.", field=field)
    return name
