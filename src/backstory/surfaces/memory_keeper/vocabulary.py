"""What all of Memory Keeper's tools share: the surface, its error codes, and the wire shape of an item."""

from __future__ import annotations

from typing import Literal

from ...domain.errors import (
    BackstoryError,
    InvalidInput,
    NotAllowed,
    NotFound,
    StorageFull,
    Unreadable,
)
from ...tools import Surface, camel, dump
from ...tools.params import Json

PriorityName = Literal["critical", "high", "normal", "low"]
CategoryName = Literal["task", "decision", "progress", "note", "warning", "error"]

_CODES: tuple[tuple[type[BackstoryError], str], ...] = (
    (InvalidInput, "INVALID_PARAMS"),
    (NotAllowed, "PERMISSION_ERROR"),
    (StorageFull, "STORAGE_FULL"),
    (Unreadable, "PARSE_ERROR"),
    (BackstoryError, "DATABASE_ERROR"),
)
_NOT_FOUND = {"session": "SESSION_NOT_FOUND", "file": "FILE_NOT_FOUND"}


def _code(error: BackstoryError) -> str:
    if isinstance(error, NotFound):
        return _NOT_FOUND.get(error.kind, "ITEM_NOT_FOUND")
    return next(code for kind, code in _CODES if isinstance(error, kind))


def _word_error(error: BackstoryError) -> str:
    body: Json = {"code": _code(error), "message": error.message}
    details = {name: value for name, value in (("hint", error.hint), ("field", error.field)) if value}
    return dump({"error": body | ({"details": details} if details else {})})


surface = Surface(
    "memory-keeper",
    about="Keyed context items in sessions, with categories, priorities, channels, checkpoints and a knowledge graph.",
    word_error=_word_error,
    wire=camel,
)
