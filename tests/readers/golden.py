"""Reading a whole home as a synchronisation would, to compare it with what is expected."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from backstory.domain.usage import ModelCall
from backstory.readers import (
    ConversationHeader,
    Cursor,
    Piece,
    Places,
    Reader,
    Source,
    ToolCall,
    Turn,
    load_readers,
)


class ReadConversation(NamedTuple):
    """One conversation after all pieces: the last header, and the turns by id."""

    header: ConversationHeader
    turns: dict[str, Turn]
    usage: dict[str, ModelCall]


def places(home: Path, environment: dict[str, str] | None = None, **others: Any) -> Places:
    return Places(home=home, environment=environment or {}, **{"platform": "linux", **others})


def sources(reader: Reader, home: Path, **others: Any) -> list[Source]:
    return sorted(reader.find(places(home, **others)))


def merged(
    pieces: Iterable[Piece], before: dict[str, ReadConversation] | None = None
) -> dict[str, ReadConversation]:
    """By native id, as the store would have it: a turn that comes again replaces the former."""
    told = dict(before or {})
    for piece in pieces:
        id = piece.header.native_id
        turns = {} if piece.is_whole or id not in told else dict(told[id].turns)
        usage = dict(told[id].usage) if id in told else {}
        usage |= {call.key: call for call in piece.usage if call.output >= usage.get(call.key, call).output}
        turns |= {turn.id: turn for turn in piece.turns}
        turns = {turn_id: _with_late(turn, piece) for turn_id, turn in turns.items()}
        told[id] = ReadConversation(piece.header, turns, usage)
    return told


def _with_late(turn: Turn, piece: Piece) -> Turn:
    calls = (call._replace(result=piece.late_results.get(call.id, call.result)) for call in turn.calls)
    return turn._replace(calls=tuple(calls)) if piece.late_results else turn


def read(reader: Reader, source: Source, cursor: Cursor | None = None) -> dict[str, ReadConversation]:
    return merged(reader.read(source, cursor or Cursor()))


def read_home(reader: Reader, home: Path, **others: Any) -> list[dict[str, Any]]:
    """Everything found below home, source by source, without the fields that say nothing."""
    found = []
    for source in sources(reader, home, **others):
        pieces = list(reader.read(source, Cursor()))
        skipped: Counter[str] = Counter()
        for piece in pieces:
            skipped.update(piece.skipped)
        found.append(
            {
                "path": source.path.relative_to(home).as_posix(),
                "form": source.form.value,
                "skipped": dict(sorted(skipped.items())),
                "conversations": [
                    _plain_conversation(conversation, home) for conversation in merged(pieces).values()
                ],
            }
        )
    return found


def check_golden(name: str, request: pytest.FixtureRequest, home: Path | None = None, **others: Any) -> None:
    """tests/readers/<name>/home, or another home, reads as expected.json beside it says. After a change that is meant:
    `pytest tests/readers --rewrite-golden`, then read the diff."""
    here = Path(__file__).with_name(name)
    reader = load_readers([name])[name]
    found = json.loads(json.dumps(read_home(reader, home or here / "home", **others)))
    golden = here / "expected.json"
    if request.config.getoption("--rewrite-golden"):
        golden.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", "utf-8")
    assert found == json.loads(golden.read_text("utf-8"))


def _plain_conversation(conversation: ReadConversation, home: Path) -> dict[str, Any]:
    header = _plain(conversation.header)
    header |= {name: text.replace(str(home), "~") for name, text in header.items() if isinstance(text, str)}
    told = {**header, "turns": [_plain_turn(turn) for turn in conversation.turns.values()]}
    if conversation.usage:
        told["usage"] = [_plain(call) for call in conversation.usage.values()]
    return told


def _plain_turn(turn: Turn) -> dict[str, Any]:
    plain = _plain(turn)
    if turn.calls:
        plain["calls"] = [_plain_call(call) for call in turn.calls]
    return plain


def _plain_call(call: ToolCall) -> dict[str, Any]:
    plain = _plain(call)
    return plain if call.result is None else plain | {"result": _plain(call.result)}


def _plain(record: Any) -> dict[str, Any]:
    """Its fields by name, without those that have their default."""
    defaults = record._field_defaults
    fields = [item for item in record._asdict().items() if item[0] != "given"]  # no one keeps that
    return {name: value for name, value in fields if name not in defaults or value != defaults[name]}
