"""One call of one tool: how it reports progress, and whether the client still wants it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

Progress = Callable[[float, float | None, str], None]
"""Arguments: the amount done, the total if known, a description."""


class Cancelled(Exception):
    """The client withdrew the request. Raised between steps, so no step is left half done."""


class Unanswered(Exception):
    """The user has to answer a question first; the client then makes the same call again, with the answer."""

    def __init__(self, question: str) -> None:
        super().__init__(question)
        self.question = question


def _silent(amount: float, total: float | None, message: str) -> None:
    pass


def _wanted() -> bool:
    return False


def _unasked(question: str) -> None:
    return None


class Call(NamedTuple):
    progress: Progress = _silent
    is_cancelled: Callable[[], bool] = _wanted
    protocol: str = ""
    """The version of MCP that it came by; empty for a call that came another way."""
    confirm: Callable[[str], bool | None] = _unasked
    """Ask the user whether to continue; None if the client cannot ask.

    It may raise Unanswered, so a tool asks before it changes anything."""

    tool_names: Callable[[], list[str]] = list
    """The names of the tools that the client can list; none for a call that came another way."""

    def raise_if_cancelled(self) -> None:
        """Long work calls this between steps."""
        if self.is_cancelled():
            raise Cancelled
