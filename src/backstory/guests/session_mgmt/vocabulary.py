"""The surface, error codes and handling of large answers that all of session-mgmt's tools share."""

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
from ...tools import ErrorTable, Surface, dump
from ...tools.chunks import chunked_schema, in_chunks

_ERRORS = ErrorTable(
    {
        InvalidInput: "INVALID_INPUT",
        NotFound: "NOT_FOUND",
        NotAllowed: "PERMISSION_DENIED",
        Unreadable: "UNREADABLE",
        StorageFull: "STORAGE_FULL",
        NotWritten: "NOT_WRITTEN",
        Incompatible: "MEMORY_UNAVAILABLE",
        Unavailable: "SEARCH_FAILED",
        BackstoryError: "INTERNAL_ERROR",
    },
    not_found={"project": "PROJECT_NOT_FOUND"},
    hints={
        "cached answer": "The cache_key expired, or was never given to this caller: ask again.",
        "project": "Call init with a working_directory that exists.",
        "INVALID_INPUT": "Correct the named argument and call again.",
        "NOT_FOUND": "Look for what is there with quick_search or reflect_on_past.",
        "PERMISSION_DENIED": "Ask whoever gave you access for more.",
        "UNREADABLE": "Check the file's owner, mode and encoding.",
        "STORAGE_FULL": "Delete or archive what is no longer needed, or raise the limit.",
        "NOT_WRITTEN": "Check that the directory exists and can be written.",
        "MEMORY_UNAVAILABLE": "Restart the server after updating Backstory.",
        "SEARCH_FAILED": "Try again; `backstory doctor` says what is wrong.",
        "INTERNAL_ERROR": "Try again; the server's log has the details.",
    },
)


def _word_error(error: BackstoryError) -> str:
    code, suggestions = _ERRORS.code(error), [_ERRORS.hint(error)]
    return dump({"success": False, "error": error.message, "error_code": code, "suggestions": suggestions})


surface = Surface(
    "session-mgmt",
    about="Begin, check and end sessions of work on a project, with its health, a handoff to the next session, and what past ones know.",
    success={"success": True},
    word_error=_word_error,
    fit=in_chunks,
    fitted_schema=chunked_schema,
)
