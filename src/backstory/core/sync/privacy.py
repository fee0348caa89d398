"""Removal of private passages from pieces, before any other processing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...domain.lazy import lazy_pattern
from ...domain.private import without_private
from ...readers import Piece, ToolCall, Turn
from ...readers.formats.titles import title_of

_WORD = lazy_pattern(r"\w+")


class PrivatePassages:
    """The private passages of one piece. All blocks of a message are one text here, so a passage may span blocks."""

    def __init__(self) -> None:
        self.count = 0
        self._removed: list[str] = []

    def taken_from(self, piece: Piece) -> Piece:
        """The piece without private passages, and without titles that quote one, also in its cursor."""
        turns = [self._turn(turn) for turn in piece.turns]
        title = self._cut(piece.header.title)
        if not self.count:
            return piece
        # A turn that was entirely private leaves no trace.
        turns = [turn for turn in turns if not turn.is_empty]
        title = self._without_quotation(title) or title_of(turns)
        cursor = piece.cursor and piece.cursor._replace(state=self._state(piece.cursor.state))
        return piece._replace(header=piece.header._replace(title=title), turns=turns, cursor=cursor)

    def _cut(self, text: str) -> str:
        public = without_private(text)
        if not public.removed:
            return text
        self.count += len(public.removed)
        self._removed += public.removed
        return public.text.strip()

    def _turn(self, turn: Turn) -> Turn:
        text, thinking = self._cut(turn.text), self._cut(turn.thinking)
        calls = tuple(self._call(call) for call in turn.calls)
        if (text, thinking, calls) == (turn.text, turn.thinking, turn.calls):
            return turn
        return turn._replace(text=text, thinking=thinking, calls=calls)

    def _call(self, call: ToolCall) -> ToolCall:
        result = call.result and call.result._replace(text=self._cut(call.result.text))
        arguments, command, error = map(self._cut, (call.arguments, call.command, call.error))
        if (arguments, command, error, result) == (call.arguments, call.command, call.error, call.result):
            return call
        # `given` repeats the arguments in parts.
        return call._replace(arguments=arguments, command=command, error=error, result=result, given=None)

    def _without_quotation(self, text: str) -> str:
        """The text, or "" if it quotes a private passage: a reader's title is one of its lines, shortened."""
        words = _words(text)
        lines = {_words(line) for passage in self._removed for line in passage.splitlines()}
        is_quotation = bool(words) and (
            # A single word is too common to count as a quotation unless it is a whole line.
            words in lines or (" " in words and any(words in _words(passage) for passage in self._removed))
        )
        return "" if is_quotation else text

    def _state(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._without_quotation(without_private(value).text)
        if isinstance(value, Mapping):
            return {key: self._state(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [self._state(part) for part in value]
        return value


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))
