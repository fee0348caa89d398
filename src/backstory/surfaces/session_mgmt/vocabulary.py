"""What all of session-mgmt's tools share: the surface, its error codes, and how a large answer is sent."""

from __future__ import annotations

from ...domain.errors import (
    BackstoryError,
    Incompatible,
    InvalidInput,
    NotAllowed,
    NotFound,
    NotWritten,
    StorageFull,
    Unavailable,
    Unreadable,
)
from ...tools import Surface, dump
from ...tools.chunks import chunked_schema, in_chunks
from ...tools.params import Json

_CODES: dict[type[BackstoryError], str] = {
    InvalidInput: "INVALID_INPUT",
    NotFound: "NOT_FOUND",
    NotAllowed: "PERMISSION_DENIED",
    Unreadable: "UNREADABLE",
    StorageFull: "STORAGE_FULL",
    NotWritten: "NOT_WRITTEN",
    Incompatible: "MEMORY_UNAVAILABLE",
    Unavailable: "SEARCH_FAILED",
    BackstoryError: "INTERNAL_ERROR",
}
_NOT_FOUND = {"project": "PROJECT_NOT_FOUND"}


def _code(error: BackstoryError) -> str:
    if isinstance(error, NotFound) and error.kind in _NOT_FOUND:
        return _NOT_FOUND[error.kind]
    return next(code for kind in type(error).__mro__ if (code := _CODES.get(kind)))


def _word_error(error: BackstoryError) -> str:
    body: Json = {"success": False, "error": error.message, "error_code": _code(error)}
    return dump(body | ({"suggestions": [error.hint]} if error.hint else {}))


surface = Surface(
    "session-mgmt",
    about="Begin, check and end sessions of work on a project, with its health, a handoff to the next session, and what past ones know.",
    success={"success": True},
    word_error=_word_error,
    fit=in_chunks,
    fitted_schema=chunked_schema,
)
