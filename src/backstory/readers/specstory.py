"""SpecStory: one Markdown document in the project per session of another assistant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..domain.fences import outside_fences
from ..domain.lazy import lazy_pattern
from . import ConversationHeader, Cursor, Form, Piece, Places, Reader, Role, Source, ToolCall, Turn
from .formats.files import read_text
from .formats.pieces import in_order, whole
from .formats.touched import tool_call
from .formats.values import time_ms

_SESSION = lazy_pattern(r"<!-- (?P<assistant>.+?) Session (?P<id>\S+)(?: \((?P<time>[^()]+)\))? -->")
_TURN = lazy_pattern(r"_\*\*(?P<role>User|Agent|Assistant)(?: \((?P<about>[^()]*)\))?\*\*_")
_TIME = lazy_pattern(r"(?:(?P<model>.*) )?(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?Z?)")
_THINKING = lazy_pattern(r"<think>(.*?)(?:</think>|\Z)", re.DOTALL)
_TOOL = lazy_pattern(
    r'<tool-use data-tool-type="(?P<type>[^"]*)" data-tool-name="(?P<name>[^"]*)">(?P<body>.*?)(?:</tool-use>|\Z)',
    re.DOTALL,
)
_DETAILS = lazy_pattern(r"</?details>|<summary>.*?</summary>", re.DOTALL)
_CODE = lazy_pattern(r"`([^`\n]+)`")
_UPDATED = lazy_pattern(r"The file (\S.*?) has been (?:updated|created)|File created successfully at: (\S.*)")
_RULE = lazy_pattern(r"\n---\s*\Z")


class _Part(NamedTuple):
    """The part of a document between two marks."""

    role: Role
    text: str
    at_ms: int | None
    model: str


def find(places: Places) -> Iterator[Source]:
    for project in dict.fromkeys((*places.projects, *places.roots.get("specstory", ()))):
        for path in sorted((project / ".specstory" / "history").glob("*.md")):
            yield Source(path, Form.DOCUMENT, str(project))


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    yield from in_order(_conversations(source, read_text(source.path)))


def _conversations(source: Source, text: str) -> Iterator[Piece]:
    """Split a document into conversations. A document without a session id is identified by its name."""
    marks = list(_SESSION.finditer(text))
    if not marks:
        yield _conversation(source, source.path.stem, "", None, text)
    for number, mark in enumerate(marks):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        yield _conversation(source, mark["id"], mark["id"], _time(mark["time"] or ""), text[mark.end() : end])


def _conversation(source: Source, id: str, session: str, at_ms: int | None, text: str) -> Piece:
    header = ConversationHeader(
        native_id=id, source=str(source.path), directory=source.directory, started_ms=at_ms, session=session
    )
    return whole(header, list(_turns(list(_parts(text)))))


def _parts(text: str) -> Iterator[_Part]:
    lines = text.split("\n")
    outside = set(outside_fences(lines))
    marks = [
        (number, mark)
        for number, line in enumerate(lines)
        if number in outside and (mark := _TURN.fullmatch(line.strip()))
    ]
    for place, (number, mark) in enumerate(marks):
        end = marks[place + 1][0] if place + 1 < len(marks) else len(lines)
        about = _TIME.fullmatch(mark["about"] or "")
        yield _Part(
            Role.USER if mark["role"] == "User" else Role.ASSISTANT,
            _RULE.sub("", "\n".join(lines[number + 1 : end]).rstrip()).strip(),
            _time(about["time"]) if about else None,
            (about["model"] or "") if about else mark["about"] or "",
        )


def _turns(parts: Sequence[_Part]) -> Iterator[Turn]:
    """Join the assistant's text, thoughts and calls into one turn until the person speaks again."""
    start = 0
    while start < len(parts):
        end = start + 1
        while end < len(parts) and parts[end].role is parts[start].role is Role.ASSISTANT:
            end += 1
        yield _turn(str(start), parts[start:end])
        start = end


def _turn(id: str, parts: Sequence[_Part]) -> Turn:
    text = "\n\n".join(part.text for part in parts)
    first = parts[0]
    if first.role is Role.USER:
        return Turn(id, first.role, text, first.at_ms)
    spoken = _TOOL.sub("", _THINKING.sub("", text))
    return Turn(
        id,
        first.role,
        re.sub(r"\n{3,}", "\n\n", spoken).strip(),
        first.at_ms,
        "\n\n".join(_inner(match[1]) for match in _THINKING.finditer(text)),
        tuple(map(_call, _TOOL.finditer(text))),
        parts[-1].model,
    )


def _call(match: re.Match[str]) -> ToolCall:
    """Parse a tool call.

    A file or command is between backticks; the name of a written file may be only in the answer."""
    body = _inner(match["body"])
    arguments, _, output = body.partition("```")
    written = _UPDATED.search(output)
    named = _CODE.findall(arguments)
    path = next(filter(None, written.groups()), "") if written else ""
    if match["type"] == "shell":
        return tool_call(match["name"], {"command": named[-1]} if named else arguments)
    if match["type"] in ("read", "write") and (path or named):
        return tool_call(match["name"], {"file_path": path or named[0]})
    return tool_call(match["name"], arguments.strip())


def _inner(text: str) -> str:
    return _DETAILS.sub("", text).strip()


def _time(text: str) -> int | None:
    return time_ms(text.replace(" ", "T", 1)) if text else None


reader = Reader("specstory", "SpecStory", find, read, in_projects=True, by_projects=True)
