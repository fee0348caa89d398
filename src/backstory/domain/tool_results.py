"""Stored tool calls of messages, with their results."""

from __future__ import annotations

from typing import NamedTuple


class StoredResult(NamedTuple):
    """The result of a tool call. It is not in the text index and has no vector."""

    text: str
    """The redacted text. A long result is reduced to its head, a line with the omitted size, and its tail."""
    bytes: int
    """Size of the entire result."""
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
    """A tool call of a message. The message's text contains the arguments."""

    message: str
    """The id of the `tool` message."""
    native_id: str
    """The assistant's own id of the call; "" if it has none."""
    name: str
    arguments: TextRange = TextRange()
    command: TextRange = TextRange()
    result: StoredResult | None = None
    """None if the log contained no result, or was deleted before results were stored."""


class ToolTally(NamedTuple):
    """The number of calls of a tool."""

    name: str
    calls: int
    failed: int
