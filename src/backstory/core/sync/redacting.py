"""Take secrets out of what readers give, before any of it is kept: pieces, and the cursors that go on after them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...readers import Cursor, Piece, ToolCall, Turn
from ..secrets import Redactor, redactor
from .cut_results import parts_of, rewritten


class Redaction:
    """What is read is redacted by the user's rules."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self._redactor = redactor(mode)
        self._by_form = redactor("standard") if mode == "wide" else self._redactor
        """Without those rules that take whatever looks random."""

    def text(self, text: str) -> str:
        return self._redactor.redact(text).text

    def piece(self, piece: Piece) -> tuple[Piece, int]:
        """With every text of it redacted and fit for UTF-8, its cursor too; and how many secrets that were."""
        header = piece.header
        given = [header.title, header.branch, header.model, *_texts(piece.turns), *_late_texts(piece)]
        remembered = [] if piece.cursor is None else list(_strings(piece.cursor.state))
        # few have a secret, and to see that there is none takes one look through all of it
        sound = _sound([*given, *remembered])
        clean, _ = self._redactor.redact_all(sound)
        if clean == [*given, *remembered]:
            return piece, 0
        if piece.cursor is not None:
            piece = piece._replace(cursor=self.cursor(piece.cursor))
        clean = clean[: len(given)]
        if clean == given:
            return piece, 0
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
        """Readers remember titles in it, which are what the user typed first. Ids and fingerprints must come out as they
        were, or reading would go wrong: a word by itself stays if it merely looks random, and keys stay."""
        given = set(_strings(cursor.state))
        words = {text for text in given if text.split() == [text]}
        clean = _clean(given - words, self._redactor) | _clean(words, self._by_form)
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
    """With the texts in the order of `_texts`."""
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
    """JSON can escape half a character; no database takes that."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return [text.encode("utf-8", "replace").decode() for text in texts]
    return texts


def _strings(value: Any) -> Iterator[str]:
    """In a mapping or a list that is fit for JSON."""
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
