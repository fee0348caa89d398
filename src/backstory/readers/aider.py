"""Aider: one Markdown file per project, to which every chat is appended.

Aider writes local times without a zone; they are read in the zone of this machine. Only the start of a chat is
recorded. `.aider.input.history` in the same directory records the time of each prompt."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import Enum
from itertools import dropwhile, groupby, takewhile
from pathlib import Path
from typing import NamedTuple

from ..domain.lazy import lazy_pattern
from . import (
    LONGEST_ARGUMENTS,
    ConversationHeader,
    Cursor,
    Form,
    Piece,
    Places,
    Reader,
    Role,
    Source,
    ToolCall,
    Turn,
)
from .formats.files import open_regular, read_text, refuse_wide_text
from .formats.noise import head_and_tail
from .formats.pieces import whole
from .formats.times import TurnTimes

HISTORY = ".aider.chat.history.md"
INPUTS = ".aider.input.history"
PASSED_BY = (".", "node_modules")
"""Prefixes of directory names that contain no projects."""

STARTED = lazy_pattern(rb"^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[ \t\r]*$", re.MULTILINE)
INPUT = lazy_pattern(r"^# (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)$", re.MULTILINE)
FENCE = lazy_pattern(r" {0,3}(`{3,}|~{3,})[ \t]*(.*?)\s*")
NOTHING = "<blank>"
"""Aider's placeholder for an empty prompt."""
QUESTION = lazy_pattern(r"#### .*\? \(Y\)es/\(N\)o\b.*\[(?:Yes|No)\]: .*")
"""A question from aider itself with its answer. It looks like a prompt if the answer was a word."""
MARKED = "(marked with █)"
"""Marker in the text that aider writes for a comment that a person left in a file."""
THINKING = lazy_pattern(
    r"<(thinking-content-\w+)>(.*?)</\1>|-+\n► \*\*THINKING\*\*(.*?)\n-+\n► \*\*ANSWER\*\*", re.DOTALL
)
MODEL = lazy_pattern(r"(?:Main model|Model): (\S+)")
PLACE = lazy_pattern(r"Git working dir: (.+)")
EDITED = lazy_pattern(r"Applied edit to (.+)")
ADDED = lazy_pattern(r"Added (?!\d+ lines? of output)(.+?) to (?:the chat|read-only files)\b")
COMMITTED = lazy_pattern(r"Commit ([0-9a-f]{7,40} .*)")
RAN = lazy_pattern(r"Running (.+)")
FAILED = lazy_pattern(r"litellm\.\w+(?:Error|Exception)\b|# \d+ SEARCH/REPLACE blocks? failed")


def find(places: Places) -> Iterator[Source]:
    named = Path(places.environment.get("AIDER_CHAT_HISTORY_FILE") or HISTORY)
    sources: dict[Path, Source] = {}
    for project in (*places.projects, *places.roots.get("aider", ())):
        for directory in _holding(project, depth=2):
            sources.setdefault(directory / HISTORY, Source(directory / HISTORY, Form.LOG, str(directory)))
        if not named.is_absolute() and (path := project / named).is_file():
            sources.setdefault(path, Source(path, Form.LOG, str(project)))
    if named.is_absolute() and named.is_file():
        sources.setdefault(named, Source(named, Form.LOG))  # one file may contain chats of all projects
    yield from sources.values()


def _holding(top: Path, depth: int) -> Iterator[Path]:
    """Yield the directories with a history, down to a depth."""
    try:
        entries = sorted(os.scandir(top), key=lambda entry: entry.name)
    except OSError:
        return  # deleted, or not readable
    for entry in entries:
        if entry.name == HISTORY:
            yield top
        elif depth and not entry.name.startswith(PASSED_BY) and entry.is_dir(follow_symlinks=False):
            yield from _holding(top / entry.name, depth - 1)


class Chat(NamedTuple):
    """The part of the file between two headers."""

    ordinal: int
    started: str
    lines: Sequence[str]
    start: int
    """Byte offset of the header."""


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    """Yield one piece per chat. The last chat may continue, and the cursor stays at its start."""
    with open_regular(source.path) as file:
        refuse_wide_text(file.read(4))
        file.seek(cursor.offset)
        raw = file.read()
    prompts = _prompts(source.path.with_name(INPUTS))
    chats = list(_split(raw, cursor))
    for n, chat in enumerate(chats):
        following = chats[min(n + 1, len(chats) - 1)]
        begun = _local_ms(chat.started) or 0
        until = _local_ms(following.started) if following is not chat else None
        times = TurnTimes((text, at_ms) for text, at_ms in prompts if begun <= at_ms < (until or sys.maxsize))
        goes_on = Cursor(following.start, {"ordinal": following.ordinal})
        turns = _turns(chat.lines, times)
        piece = whole(_header(source, chat), turns, cursor=goes_on)
        if piece.turns:
            yield piece


def _split(raw: bytes, cursor: Cursor) -> Iterator[Chat]:
    # a header inside a fence counts too: an interrupted answer leaves its fence open
    headers = list(STARTED.finditer(raw))
    starts = [header.start() for header in headers] + [len(raw)]
    first = int(cursor.state.get("ordinal", 0))
    for ordinal, (header, end) in enumerate(zip(headers, starts[1:], strict=True), first):
        text = raw[header.end() : end].decode("utf-8", "replace")
        lines = text.replace("\r\n", "\n").split("\n")
        yield Chat(ordinal, header[1].decode(), lines, cursor.offset + header.start())


def _header(source: Source, chat: Chat) -> ConversationHeader:
    """Identify a chat by its directory's name for the file, its position and its start time, because a home directory
    may be moved."""
    notices = [line.removeprefix("> ").strip() for line in chat.lines if line.startswith("> ")]
    places = [match[1] for line in notices if (match := PLACE.fullmatch(line))]
    return ConversationHeader(
        native_id=f"{source.path.parent.name}/{source.path.name}#{chat.ordinal}@{chat.started.replace(' ', 'T')}",
        source=f"{source.path}#{chat.ordinal}",
        directory=source.directory or (places[0] if places else ""),
        model=_model(notices),
        started_ms=_local_ms(chat.started),
    )


def _model(notices: Iterable[str]) -> str:
    return next((match[1] for line in notices if (match := MODEL.match(line))), "")


def _turns(lines: Sequence[str], times: TurnTimes) -> list[Turn]:
    """Split the lines into turns. Everything between two prompts is one answer.

    Turns are named after their position, which does not change as the chat grows."""
    turns = []
    sides = groupby(
        zip(_kinds(lines), lines, strict=True), key=lambda group_lines: group_lines[0] is _Line.PROMPT
    )
    for place, (is_prompt, group) in enumerate(sides):
        group_lines = list(group)
        if is_prompt:
            text = _prompt([line[5:].rstrip() for _, line in group_lines])
            turn = Turn(str(place), Role.USER, text, times.take(text))
        else:
            turn = _answer(str(place), group_lines)
        if not turn.is_empty and turn.text != NOTHING:
            turns.append(turn)
    return turns


def _prompt(lines: Sequence[str]) -> str:
    """Return the typed text. For a comment in a file, return the comment, which aider marks."""
    if any(MARKED in line for line in lines[:3]):
        lines = [line[1:].strip() for line in lines if line.startswith(MARKED[-2])]
    return "\n".join(lines).strip()


def _answer(id: str, lines: Sequence[tuple[_Line, str]]) -> Turn:
    written = "\n".join(line for kind, line in lines if kind is _Line.ANSWER)
    thoughts = ((match[2] or match[3] or "").strip() for match in THINKING.finditer(written))
    thinking, text = "\n\n".join(filter(None, thoughts)), THINKING.sub("", written).strip()
    calls = tuple(call for kind, line in lines if kind is _Line.NOTICE and (call := _call(line[2:].strip())))
    return Turn(id, Role.ASSISTANT if text or thinking else Role.SYSTEM, text, None, thinking, calls)


def _call(line: str) -> ToolCall | None:
    if match := EDITED.fullmatch(line):
        return ToolCall("edit", writes=(match[1],))
    if match := ADDED.match(line):
        return ToolCall("add", reads=(match[1],))
    if match := COMMITTED.fullmatch(line):
        return ToolCall("commit", arguments=match[1][:LONGEST_ARGUMENTS])
    if match := RAN.fullmatch(line):
        return ToolCall("run", command=match[1])
    if FAILED.match(line):
        return ToolCall("edit" if line.startswith("#") else "model", error=head_and_tail(line))
    return None


class _Line(Enum):
    PROMPT = 1
    NOTICE = 2
    """Printed by aider itself."""
    ANSWER = 3
    """Written by the model."""


def _kinds(lines: Sequence[str]) -> Iterator[_Line]:
    # aider ends each line of a prompt with two blanks; headings written by a model have none
    is_marked = any(map(_is_marked, lines))
    fenced = _fenced(lines)
    for n, line in enumerate(lines):
        if n not in fenced and QUESTION.fullmatch(line.rstrip()):
            yield _Line.NOTICE
        elif n not in fenced and line.startswith("#### ") and (line.endswith("  ") or not is_marked):
            yield _Line.PROMPT
        elif n not in fenced and (line.startswith("> ") or line == ">"):
            yield _Line.NOTICE
        else:
            yield _Line.ANSWER


def _is_marked(line: str) -> bool:
    return line.startswith("#### ") and line.endswith("  ")


class _Blocks:
    """Code blocks, tracked fence by fence, including nested blocks."""

    def __init__(self) -> None:
        self.opened: list[tuple[int, str]] = []

    def take(self, place: int, line: str) -> int | None:
        """Return the first line of the block that ends at this line, or None."""
        if (match := FENCE.fullmatch(line)) is None:
            return None
        fence, language = match.groups()
        if language or not self.opened:
            self.opened.append((place, fence))
        elif fence.startswith(self.opened[-1][1]):
            # a shorter fence, or one of the other character, is part of the block
            return self.opened.pop()[0]
        return None


def _fenced(lines: Sequence[str]) -> set[int]:
    """Return the lines inside code blocks.

    A block that is never closed does not count, even if later answers contain fences."""
    fenced: set[int] = set()
    blocks = _Blocks()
    for n, line in enumerate(lines):
        if blocks.opened and _is_marked(line) and _is_whole(lines[n:]):
            blocks = _Blocks()
        elif (start := blocks.take(n, line)) is not None:
            fenced.update(range(start, n + 1))
    return fenced


def _is_whole(lines: Sequence[str]) -> bool:
    """True if the answer to the first prompt closes all its blocks. Otherwise the prompt is quoted in a block."""
    blocks = _Blocks()
    answer = dropwhile(_is_marked, lines)
    for n, line in enumerate(takewhile(lambda line: not _is_marked(line), answer)):
        blocks.take(n, line)
    return not blocks.opened


def _prompts(path: Path) -> list[tuple[str, int]]:
    """Read typed prompts and their times: `# <time>`, then each line after a `+`."""
    try:
        entries = INPUT.split(read_text(path))
    except OSError:
        return []
    prompts = []
    for time, entry in zip(entries[1::2], entries[2::2], strict=True):
        text = "\n".join(line[1:] for line in entry.split("\n") if line.startswith("+"))
        if (at_ms := _local_ms(time)) is not None:
            prompts.append((text, at_ms))
    return prompts


def _local_ms(text: str) -> int | None:
    try:
        return int(datetime.fromisoformat(text).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


reader = Reader("aider", "Aider", find, read, in_projects=True, by_projects=True)
