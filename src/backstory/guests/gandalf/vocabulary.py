"""The surface, error codes and clock that all of Gandalf's tools share."""

from __future__ import annotations

import time

from ...domain.errors import BackstoryError, InvalidInput, NotAllowed, NotFound, TimedOut
from ...tools import ErrorTable, Surface

_ERRORS = ErrorTable(
    {
        InvalidInput: "INVALID_PARAMS",
        NotAllowed: "ACCESS_DENIED",
        NotFound: "NOT_FOUND",
        TimedOut: "TIMEOUT",
        BackstoryError: "INTERNAL_ERROR",
    }
)


def _word_error(error: BackstoryError) -> str:
    return f"{error} [{_ERRORS.code(error)}]"


surface = Surface(
    "gandalf",
    about="Recall conversations with every assistant on this machine, and look over the project at hand.",
    word_error=_word_error,
)


class Stopwatch:
    """Measures `processing_time`: seconds since its creation."""

    def __init__(self) -> None:
        self._started = time.perf_counter()

    def seconds(self) -> float:
        return round(time.perf_counter() - self._started, 6)
