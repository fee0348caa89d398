"""A reader of our own invention: JSON lines `{"talk", "id", "text", ...}`, a few of them for each piece. A line that is
`closed` tells of its conversation, but not what was said; one that is `deleted` that its owner deleted it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from backstory.domain.errors import Unreadable
from backstory.readers import (
    ConversationHeader,
    ConversationKind,
    Cursor,
    Form,
    Piece,
    Places,
    Reader,
    Role,
    Source,
    ToolCall,
    Turn,
    WitnessRank,
)
from backstory.readers.formats.files import read_regular

Line = dict[str, Any]


def find(places: Places) -> Iterator[Source]:
    for path in places.home.glob("*.toy"):
        yield Source(path, Form.LOG)
    for path in places.home.glob("*.whole"):
        yield Source(path, Form.DOCUMENT)
    for path in places.home.glob("*.base"):
        yield Source(path, Form.DATABASE)


def read_by(
    lines: int, before_each: Callable[[], None] = lambda: None
) -> Callable[[Source, Cursor], Iterator[Piece]]:
    """Pieces of so many lines of a log, and all of another file. A line without its end is read again."""

    def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
        raw = read_regular(source.path)
        if b"encrypted" in raw[:20]:
            raise Unreadable("It is encrypted.")
        offset = 0 if source.form is Form.DATABASE else cursor.offset
        told: dict[str, list[Line]] = {}
        ended = raw[offset : raw.rfind(b"\n") + 1].splitlines(keepends=True)
        for number, line in enumerate(ended, 1):
            offset += len(line)
            record = json.loads(line)
            told.setdefault(record["talk"], []).append(record)
            if (source.form is Form.LOG and number % lines == 0) or number == len(ended):
                before_each()
                yield from _pieces(source, told, Cursor(offset, {"lines": number}))
                told = {}

    return read


def _pieces(source: Source, told: dict[str, list[Line]], cursor: Cursor) -> Iterator[Piece]:
    """One for each conversation; only the last has the cursor."""
    for place, (talk, lines) in enumerate(told.items(), 1):
        turns = [_turn(line) for line in lines if not line.get("closed")]
        is_whole = source.form is not Form.LOG
        yield Piece(
            _header(source, talk, lines),
            turns,
            cursor if place == len(told) else None,
            is_whole,
            {"odd": 1},
            is_name=source.form is Form.DOCUMENT and source.path.stem == "names",
            is_gone=any(line.get("deleted") for line in lines),
        )


def _header(source: Source, talk: str, lines: list[Line]) -> ConversationHeader:
    known = {key: value for line in lines for key, value in line.items()}
    return ConversationHeader(
        native_id=talk,
        source=str(source.path),
        title=known.get("title", ""),
        directory=known.get("directory", ""),
        branch=known.get("branch", ""),
        kind=ConversationKind(known.get("kind", "main")),
        parent=known.get("parent"),
        completeness=known.get("completeness", "full"),
        standing=WitnessRank(known.get("standing", WitnessRank.OWN)),
    )


def _turn(line: Line) -> Turn:
    calls = tuple(ToolCall(**call) for call in line.get("calls", ()))
    return Turn(
        line["id"],
        Role(line.get("role", "user")),
        line.get("text", ""),
        line.get("at"),
        line.get("thinking", ""),
        calls,
    )


def toy_reader(lines: int = 2, before_each: Callable[[], None] = lambda: None) -> Reader:
    return Reader("toy", "Toy", find, read_by(lines, before_each))


def write(path: Path, *lines: Line) -> None:
    path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))


def append(path: Path, *lines: Line) -> None:
    with path.open("ab") as file:
        file.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
