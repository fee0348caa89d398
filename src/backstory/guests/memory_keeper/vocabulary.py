"""What all of Memory Keeper's tools share: the surface, its error codes, and the wire shape of an item."""

from __future__ import annotations

from typing import Literal

from ...domain.errors import BackstoryError, InvalidInput, NotAllowed, NotFound, StorageFull, Unreadable
from ...tools import ErrorTable, Surface, camel, dump
from ...tools.params import Json

PriorityName = Literal["critical", "high", "normal", "low"]
CategoryName = Literal["task", "decision", "progress", "note", "warning", "error"]

_ERRORS = ErrorTable(
    {
        InvalidInput: "INVALID_PARAMS",
        NotFound: "ITEM_NOT_FOUND",
        NotAllowed: "PERMISSION_ERROR",
        StorageFull: "STORAGE_FULL",
        Unreadable: "PARSE_ERROR",
        BackstoryError: "DATABASE_ERROR",
    },
    not_found={"session": "SESSION_NOT_FOUND", "file": "FILE_NOT_FOUND"},
    hints={
        "session": "context_session_list shows them.",
        "checkpoint": "context_checkpoint takes one; names are exact.",
        "item": "context_get lists the keys.",
        "item or entity": "context_analyze lists what is known.",
    },
)


def _word_error(error: BackstoryError) -> str:
    body: Json = {"code": _ERRORS.code(error), "message": error.message}
    details = {
        name: value for name, value in (("hint", _ERRORS.hint(error)), ("field", error.field)) if value
    }
    return dump({"error": body | ({"details": details} if details else {})})


surface = Surface(
    "memory-keeper",
    about="Keyed context items in sessions, with categories, priorities, channels, checkpoints and a knowledge graph.",
    word_error=_word_error,
    wire=camel,
)
