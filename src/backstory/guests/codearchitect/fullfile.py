"""The format of full.md: the conversation for people, then an exact copy as JSON.

Comments mark where a turn begins. Their tag occurs in no text of the conversation, so no text can be mistaken for a
mark. While the part for people is unchanged, the JSON is read; once it was edited, the edited part is read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import count
from typing import Any, NamedTuple

from ...domain.fences import has_open_fence
from ...domain.lazy import lazy_pattern
from ...domain.when import iso
from .turns import SessionTurn, from_json, plain_turn, to_json, turns_of

FORMAT = 1
_FIRST_MARK = lazy_pattern(r"^<!-- ([0-9a-f]{8}) (\{.*\}) -->\r?$", re.MULTILINE)
_HEAD = 4_000  # number of characters in which the first mark is searched
_HEADING = lazy_pattern(r"\r?\n*## \d+\. [^\n]*\n(?:\r?\n)?")
_RUNS = lazy_pattern("`{3,}")
_CONTROLS = lazy_pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]|\r(?!\n)")
_FENCED = lazy_pattern(r"\s*(`{3,})[^\n]*\n(.*)\n\1\s*", re.DOTALL)
_CREDIT = "*Stored by Backstory*"
_LAST_LINE = lazy_pattern(rf"^{re.escape(_CREDIT)}\s*$", re.MULTILINE)


class SessionHeader(NamedTuple):
    """The properties of a session besides its turns."""

    id: str
    title: str
    topic: str
    date: datetime
    whole_size: int = 0
    """Size in bytes of the entire conversation, if the files contain only its beginning."""


class SessionReading(NamedTuple):
    """The parsed contents of a file."""

    turns: list[SessionTurn]
    is_as_written: bool = False
    is_cut: bool = False
    before: str = ""
    """The title and other text above the first turn, if the part for people was edited."""
    after: str = ""
    """Text that a person added below our last line."""


def write_full(header: SessionHeader, turns: Sequence[SessionTurn]) -> str:
    tag = _tag(header.id, turns)
    opening = {"backstory": FORMAT, "session": header.id, "topic": header.topic, "date": iso(header.date)}
    parts = [*_headlines(header, len(turns)), _mark(tag, opening), "\n"]
    for number, turn in enumerate(turns, 1):
        form, body = _body(turn)
        role = " ".join(turn.role.split()) or "(no role)"
        parts += [_mark(tag, {"role": turn.role, **form}), f"\n## {number}. {role}\n\n{body}\n\n"]
    readable = "".join(parts)
    exact = _exact(turns)
    closing: dict[str, Any] = {"end": FORMAT, "readable": _hash(readable), "json": _hash(exact)}
    if header.whole_size:
        closing["cut"] = True
    return readable + _mark(tag, closing) + exact


def read_full(text: str) -> SessionReading | None:
    """Parse a file, or return None if Backstory did not write it."""
    first = _FIRST_MARK.search(text[:_HEAD])
    if first is None or "session" not in _fields(first[2]):
        return None
    end = re.search(rf"^<!-- {first[1]} (\{{\"end\": .*\}}) -->\r?\n", text, re.MULTILINE)
    readable, exact, closing = text, "", dict[str, Any]()
    if end is not None:
        readable, exact, closing = text[: end.start()], text[end.end() :], _fields(end[1])
    is_same = closing.get("readable") == _hash(readable)
    turns = _read_exact(exact) if is_same else None
    is_as_written = is_same and closing.get("json") == _hash(exact)
    last = _LAST_LINE.search(exact)
    return SessionReading(
        _read_readable(readable, first[1]) if turns is None else turns,
        is_as_written,
        is_cut=bool(closing.get("cut")),
        before="" if is_same else _above_turns(readable, first[1]),
        after=exact[last.end() :] if last else "",
    )


def opening_of(start: str) -> Mapping[str, Any]:
    """Return the fields of the first mark: session, topic and date. Empty if Backstory did not write the text."""
    first = _FIRST_MARK.search(start[:_HEAD])
    fields = _fields(first[2]) if first else {}
    return fields if "session" in fields else {}


def _headlines(header: SessionHeader, messages: int) -> list[str]:
    lines = [
        f"# {header.title}\n\n",
        f"**Date:** {iso(header.date)}  \n",
        f"**Topic:** {header.topic}  \n",
        f"**Messages:** {messages}  \n",
        "**Summary:** [summary.md](summary.md)\n\n",
    ]
    if header.whole_size:
        lines.append(f"**Cut:** the beginning of {header.whole_size:,} bytes; Backstory has the whole.\n\n")
    return lines


def _body(turn: SessionTurn) -> tuple[dict[str, str], str]:
    """Return the format of a turn, and its text in that format."""
    if not turn.is_plain or _CONTROLS.search(turn.rest["content"]):
        return {"as": "json"}, _fenced(json.dumps(turn.rest, ensure_ascii=False, indent=2), "json")
    text: str = turn.rest["content"]
    if has_open_fence(text):  # an open fence would swallow the following text
        return {"as": "fenced"}, _fenced(text, "markdown")
    return {}, text


def _fenced(text: str, language: str) -> str:
    fence = "`" * max(3, 1 + max(map(len, _RUNS.findall(text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def _exact(turns: Sequence[SessionTurn]) -> str:
    """Write one turn per line. No line of JSON begins with a backtick, so none can end the fence."""
    lines = ",\n".join(to_json(turn.as_json()) for turn in turns)
    body = _fenced(f"[\n{lines}\n]" if turns else "[]", "json")
    return (
        f"\n---\n\n<details>\n<summary>The same conversation as JSON</summary>\n\n{body}\n\n</details>\n\n"
        f"{_CREDIT}\n"
    )


def _read_exact(part: str) -> list[SessionTurn] | None:
    match = re.search(r"^(`{3,})json\r?\n(.*?)\r?\n\1\r?$", part, re.DOTALL | re.MULTILINE)
    try:
        return turns_of(from_json(match[2])) if match else None
    except ValueError:
        return None


def _read_readable(text: str, tag: str) -> list[SessionTurn]:
    marks = [
        (mark, fields)
        for mark in re.finditer(rf"^<!-- {tag} (\{{.*\}}) -->\r?\n", text, re.MULTILINE)
        if isinstance((fields := _fields(mark[1])).get("role"), str)
    ]
    ends = [mark.start() for mark, _ in marks[1:]] + [len(text)]
    return [
        _read_turn(fields, text[mark.end() : end]) for (mark, fields), end in zip(marks, ends, strict=False)
    ]


def _above_turns(text: str, tag: str) -> str:
    marks = list(re.finditer(rf"^<!-- {tag} .*\n?", text, re.MULTILINE))
    below_first = text[marks[0].end() : marks[1].start() if len(marks) > 1 else len(text)]
    return text[: marks[0].start()] + below_first


def _read_turn(fields: Mapping[str, Any], part: str) -> SessionTurn:
    role, form = fields["role"], fields.get("as")
    heading = _HEADING.match(part)
    body = part[heading.end() :] if heading else part.lstrip("\r\n")
    body = re.sub(r"(?:\r?\n){1,2}\Z", "", body)
    fenced = _FENCED.fullmatch(body) if form else None
    if fenced is None:
        return plain_turn(role, body)
    if form == "json":
        try:
            rest = from_json(fenced[2])
        except ValueError:
            rest = None
        return SessionTurn(role, rest) if isinstance(rest, dict) else plain_turn(role, fenced[2])
    return plain_turn(role, fenced[2])


def _tag(id: str, turns: Sequence[SessionTurn]) -> str:
    texts = "".join(to_json(turn.rest) for turn in turns)
    tags = (sha256(f"{id} {number}".encode()).hexdigest()[:8] for number in count())
    return next(tag for tag in tags if tag not in texts)


def _mark(tag: str, fields: Mapping[str, Any]) -> str:
    """Write a mark as JSON without the characters that end a comment."""
    safe = json.dumps(fields).replace("-", "\\u002d").replace(">", "\\u003e")
    return f"<!-- {tag} {safe} -->\n"


def _fields(text: str) -> dict[str, Any]:
    try:
        fields = from_json(text)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def _hash(text: str) -> str:
    r"""Return a hash that ignores whether lines end in \n or \r\n, which git may change."""
    return sha256(text.replace("\r\n", "\n").encode(errors="replace")).hexdigest()
