"""Redaction of secrets in pieces and cursors, before any of it is stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...readers import Cursor, Piece, ToolCall, Turn
from ..secrets import Redactor, redactor
from .cut_results import parts_of, rewritten


class Redaction:
    """Redaction by the user's rules."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self._redactor = redactor(mode)
        self._by_form = redactor("standard") if mode == "wide" else self._redactor
        """The rules without those that redact random-looking strings."""

    def text(self, text: str) -> str:
        return self._redactor.redact(text).text

    def piece(self, piece: Piece) -> tuple[Piece, int]:
        """The piece with every text and its cursor redacted and valid UTF-8, and the number of secrets."""
        header = piece.header
        texts_before = [header.title, header.branch, header.model, *_texts(piece.turns), *_late_texts(piece)]
        remembered = [] if piece.cursor is None else list(_strings(piece.cursor.state))
        # Few pieces have a secret, and one pass over all texts is enough to see that there is none.
        sound = _sound([*texts_before, *remembered])
        clean, _ = self._redactor.redact_all(sound)
        if clean == [*texts_before, *remembered]:
            return piece, 0
        if piece.cursor is not None:
            piece = piece._replace(cursor=self.cursor(piece.cursor))
        clean = clean[: len(texts_before)]
        if clean == texts_before:
            return piece, 0
        # Count only in texts of the piece: the cursor repeats some of them.
        _, count = self._redactor.redact_all(
            [text for text, now in zip(sound, clean, strict=False) if text != now]
        )
        texts = iter(clean)
        header = header._replace(title=next(texts), branch=next(texts), model=next(texts))
        turns = [_rewritten(turn, texts) for turn in piece.turns]
        late = {id: rewritten(result, texts) for id, result in piece.late_results.items()}
        usage = [call._replace(model=next(texts)) for call in piece.usage]
        return piece._replace(header=header, turns=turns, late_results=late, usage=usage), count

    def cursor(self, cursor: Cursor) -> Cursor:
        """The redacted cursor. Readers store titles in it, which are the user's first words.

        Ids and fingerprints must not change, or reading would fail: a single word is not redacted for merely looking
        random, and keys are never redacted."""
        strings = set(_strings(cursor.state))
        # Single words may be ids, which random-looking rules would destroy.
        words = {text for text in strings if text.split() == [text]}
        clean = _clean(strings - words, self._redactor) | _clean(words, self._by_form)
        if all(text == now for text, now in clean.items()):
            return cursor
        return cursor._replace(state=_replaced(cursor.state, clean))


def _clean(texts: set[str], rules: Redactor) -> dict[str, str]:
    listed = list(texts)
    return dict(zip(listed, rules.redact_all(_sound(listed))[0], strict=True))


def _texts(turns: Iterable[Turn]) -> Iterator[str]:
    for turn in turns:
        yield from (turn.text, turn.thinking, turn.model)
        for saying in turn.sayings:
            yield from (saying.text, saying.subject)
        for run in turn.runs:
            yield from (*run.families, *(line.text for line in run.lines))
        for call in turn.calls:
            yield from (call.name, call.arguments, call.command, call.error, *call.reads, *call.writes)
            if call.result is not None:
                yield from parts_of(call.result)


def _late_texts(piece: Piece) -> Iterator[str]:
    for result in piece.late_results.values():
        yield from parts_of(result)
    yield from (call.model for call in piece.usage)


def _rewritten(turn: Turn, texts: Iterator[str]) -> Turn:
    """The turn with its texts replaced, in the order of `_texts`."""
    text, thinking, model = next(texts), next(texts), next(texts)
    sayings = tuple(saying._replace(text=next(texts), subject=next(texts)) for saying in turn.sayings)
    runs = tuple(
        run._replace(
            families=tuple(next(texts) for _ in run.families),
            lines=tuple(line._replace(text=next(texts)) for line in run.lines),
        )
        for run in turn.runs
    )
    calls = tuple(
        ToolCall(
            next(texts),
            arguments=next(texts),
            command=next(texts),
            error=next(texts),
            reads=tuple(next(texts) for _ in call.reads),
            writes=tuple(next(texts) for _ in call.writes),
            result=None if call.result is None else rewritten(call.result, texts),
            id=call.id,
        )
        for call in turn.calls
    )
    return turn._replace(text=text, thinking=thinking, model=model, calls=calls, sayings=sayings, runs=runs)


def _sound(texts: list[str]) -> list[str]:
    """Replace lone surrogates, which JSON can escape and no database accepts."""
    try:
        # One attempt for all texts, because nearly all are valid.
        "".join(texts).encode()
    except UnicodeEncodeError:
        return [text.encode("utf-8", "replace").decode() for text in texts]
    return texts


def _strings(value: Any) -> Iterator[str]:
    """All strings in a JSON-compatible mapping or list."""
    for part in value.values() if isinstance(value, Mapping) else value:
        if isinstance(part, str):
            yield part
        elif not (part is None or isinstance(part, int | float)):
            yield from _strings(part)


def _replaced(value: Any, clean: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return clean[value]
    if isinstance(value, Mapping):
        return {key: _replaced(part, clean) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_replaced(part, clean) for part in value]
    return value
