"""What all of Gandalf's tools share: the surface, its error codes, and how much an answer holds."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ...domain.errors import BackstoryError, InvalidInput, NotAllowed, NotFound, TimedOut
from ...tools import Surface, dump
from ...tools.failures import ErrorTable

BUDGET = 80_000
"""Bytes of JSON in an answer's list, about 20,000 tokens."""

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


def fitting(items: Sequence[object]) -> int:
    """How many of the first fit into an answer, and at least one."""
    room = BUDGET
    for count, item in enumerate(items):
        room -= len(dump(item).encode(errors="replace"))
        if room < 0 and count:
            return count
    return len(items)


class Stopwatch:
    """What `processing_time` tells: seconds since it was made."""

    def __init__(self) -> None:
        self._started = time.perf_counter()

    def seconds(self) -> float:
        return round(time.perf_counter() - self._started, 6)
