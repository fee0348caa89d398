"""Tool calls of messages, with their results, as they are stored."""

from __future__ import annotations

from typing import NamedTuple


class StoredResult(NamedTuple):
    """The result of a tool call. It is in no index of words and has no vector."""

    text: str
    """Redacted. Of a long result: its head, a line that says how much is left out, and its tail."""
    bytes: int
    """Size of the whole result."""
    is_cut: bool
    is_error: bool
    exit_code: int | None = None
    duration_ms: int | None = None


class TextRange(NamedTuple):
    """A part of a message's text."""

    start: int = 0
    length: int = 0

    def within(self, text: str) -> str:
        return text[self.start : self.start + self.length]


class StoredCall(NamedTuple):
    """A tool call of a message, whose text holds the arguments."""

    message: str
    """The id of the `tool` message."""
    native_id: str
    """The assistant's own id of the call; empty where it has none."""
    name: str
    arguments: TextRange = TextRange()
    command: TextRange = TextRange()
    result: StoredResult | None = None
    """None where the log had none, or was gone before results were stored."""


class ToolTally(NamedTuple):
    """How often a tool was called."""

    name: str
    calls: int
    failed: int
