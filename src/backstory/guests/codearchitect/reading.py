"""Read a session's file: only its head, or the entire conversation.

Some files were written by others: CodeArchitect's own files, its old single files, and files that people added by
hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import NamedTuple

from ...domain.errors import Unreadable
from ...domain.fences import outside_fences
from ...domain.lazy import lazy_pattern
from ...domain.when import from_ms, iso
from .fullfile import SessionReading, opening_of, read_full
from .places import SessionFile
from .turns import (
    ASSISTANT,
    SPEAKER_HEADING,
    SPEAKERS,
    SYSTEM,
    USER,
    SessionTurn,
    from_json,
    plain_turn,
    split_plain,
    to_json,
    turns_of,
)

LARGEST_MB = 100
"""Maximum size in MB. A larger file was not written by a session."""
_HEAD_BYTES = 8_192
_TITLE = lazy_pattern(r"^# +([^\n]*?)(?: *- Full Context)? *\r?$", re.MULTILINE)
_DATE = lazy_pattern(r"^\*\*Date:\*\* *(\S+) *\r?$", re.MULTILINE)
_OLD_NAME = lazy_pattern(r"session-(\d{8}-\d{6})(?:-(.+?))?(?:\.md)?")
_JSON_PART = lazy_pattern(
    r"^## Full Conversation \(JSON\)\s*\n+```json\r?\n(.*?)\r?\n```\r?$", re.DOTALL | re.MULTILINE
)
_JSON_BLOCK = lazy_pattern(r"```json\s*\n(.*?)\n```\s*$", re.DOTALL | re.MULTILINE)
_READABLE = lazy_pattern(r"^## Human-Readable Format\s*\n", re.MULTILINE)
_CREDIT = lazy_pattern(r"^---\s*\n+(?:\*[^*\n]*\*\s*)+\Z", re.MULTILINE)
_CREDIT_LENGTH = 500
_LABELS = (
    "author|created|date|format|id|messages|model|project|saved|session|tags|time|title|tool|topic|updated"
)
_VOICES = "|".join(name for name in SPEAKERS if name not in _LABELS.split("|"))
_HEADER = lazy_pattern(
    rf"\A\s*# [^\n]*\n+(?:(?!\*\*(?:{_VOICES}):)\*\*[^*\n]+:\*\*[^\n]*\n+)+(?:\s*---\s*\n)?", re.IGNORECASE
)
_HEADING = lazy_pattern(
    rf"(?:#{{1,6}} .*|-{{3,}}|(?:[-*>] +)?(?:\*\*[^*]+(?::\*\*|\*\*:)|[*_]{{0,2}}(?:{_LABELS})[*_]{{0,2}}:).*)?",
    re.IGNORECASE,
)
_RULE = lazy_pattern(r"-{3,}\s*")
_REQUEST = lazy_pattern(r"^### Request \d+:[^\n]*\n", re.MULTILINE)
_PROMPT = lazy_pattern(
    r"\s*\*\*User Prompt:\*\*\s*\n(.*?)(?:^\*\*AI Response Summary:\*\*\s*\n(.*))?\Z",
    re.DOTALL | re.MULTILINE,
)


class SessionHead(NamedTuple):
    id: str
    """An id that does not change when the file is moved or edited; "" if the whole file is needed to determine it."""
    topic: str
    date: datetime
    size: int
    modified: datetime


def read_head(session_file: SessionFile) -> SessionHead:
    try:
        with session_file.file.open("rb") as file:
            start = file.read(_HEAD_BYTES).decode("utf-8-sig", "replace")
        stat = session_file.file.stat()
    except OSError as error:
        raise Unreadable(f"{session_file.file} cannot be read: {error.strerror}.") from error
    modified = from_ms(stat.st_mtime_ns // 1_000_000)
    ours = opening_of(start)
    written = str(ours.get("date", "")) or _first(_DATE, start)
    title = _first(_TITLE, start)
    old = _OLD_NAME.fullmatch(session_file.name)
    topic = str(ours.get("topic", "")) or title or (old[2] if old and old[2] else session_file.name)
    date = _moment(written) or (old and _moment(old[1])) or _moment(session_file.day) or modified
    id = str(ours.get("session", "")) or (
        derived_id(session_file.name, title, written) if _moment(written) else ""
    )
    return SessionHead(id, topic, date, stat.st_size, modified)


def read_session(file: SessionFile) -> SessionReading:
    try:
        if file.file.stat().st_size > LARGEST_MB * 1_000_000:
            raise Unreadable(f"{file.file} is larger than {LARGEST_MB} MB.")
        text = file.file.read_bytes().decode("utf-8-sig", "replace")
    except OSError as error:
        raise Unreadable(f"{file.file} cannot be read: {error.strerror}.") from error
    ours = read_full(text)
    return SessionReading(read_foreign(text)) if ours is None else _with_additions(ours)


def _with_additions(ours: SessionReading) -> SessionReading:
    """Add the text that people wrote above and below our turns."""
    lines = ours.before.splitlines()
    above = "\n".join(line for line in lines if not _HEADING.fullmatch(line.strip()))
    added = ours.after.strip()
    return ours._replace(
        turns=[
            *([plain_turn(SYSTEM, above)] if above else []),
            *ours.turns,
            *(read_foreign(added) if added else []),
        ]
    )


def session_id(file: SessionFile, head: SessionHead, reading: SessionReading) -> str:
    """Return the id of a session. A file without a head is identified by its name and first turn."""
    first = to_json(reading.turns[0].as_json()) if reading.turns else ""
    return head.id or derived_id(file.name, first)


def derived_id(*parts: str) -> str:
    return sha256("\n".join(parts).encode(errors="replace")).hexdigest()[:24]


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1].strip() if match else ""


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.replace("-", "T") if len(text) == 15 else text)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        iso(moment)
    except (ValueError, OverflowError):
        return None
    return moment


def read_foreign(text: str) -> list[SessionTurn]:
    """Parse the turns in any known format. Text in an unknown format is one turn; nothing is left out."""
    match = _JSON_PART.search(text)
    if match is not None:
        try:
            turns = turns_of(from_json(match[1]))
        except ValueError:
            turns = None
        if turns is not None:
            return turns
    text = text[:-_CREDIT_LENGTH] + _CREDIT.sub("", text[-_CREDIT_LENGTH:])
    body = _HEADER.sub("", text.rstrip(), count=1)
    readable = _READABLE.search(body)
    if readable is not None:
        body = body[readable.end() :]
    turns = _summarized(body) or _messages_alone(body)
    return turns or _between_rules(_without_heading(_spoken(body.strip("\r\n"))))


def _messages_alone(body: str) -> list[SessionTurn]:
    """Parse messages as JSON, with or without a code fence, if there is nothing else except a heading."""
    heading, fence, _ = body.partition("```json")
    block = _JSON_BLOCK.match(body, len(heading)) if fence and _is_heading(heading) else None
    if block is not None and not _is_heading(body[block.end() :]):
        return []
    try:
        value = from_json(block[1] if block else body)
    except ValueError:
        return []
    return turns_of(value.get("messages") if isinstance(value, dict) else value) or []


def _spoken(body: str) -> list[SessionTurn]:
    """Split at speakers, else at headings that name speakers, if one of them is the user."""
    turns = split_plain(body)
    if turns != [plain_turn(USER, body)]:
        return turns
    headed = split_plain(body, SPEAKER_HEADING)
    return headed if any(turn.role == USER for turn in headed) else turns


def _without_heading(turns: list[SessionTurn]) -> list[SessionTurn]:
    """Drop the text before the first speaker if it contains only titles, labels and rules."""
    if len(turns) < 2 or turns[0].role != SYSTEM:
        return turns
    return turns[1:] if _is_heading(turns[0].text) else turns


def _is_heading(text: str) -> bool:
    """True if the text contains only titles, labels, rules and empty lines."""
    return all(_HEADING.fullmatch(line.strip()) for line in text.splitlines())


def _between_rules(turns: Sequence[SessionTurn]) -> list[SessionTurn]:
    """Remove the rule that separates a turn from the next. A rule inside a turn is part of it."""
    return [_without_rule(turn) for turn in turns[:-1]] + list(turns[-1:])


def _without_rule(turn: SessionTurn) -> SessionTurn:
    lines = turn.text.rstrip().split("\n")
    is_rule = len(lines) - 1 in set(outside_fences(lines)) and _RULE.fullmatch(lines[-1])
    return plain_turn(turn.role, "\n".join(lines[:-1]).rstrip("\r\n")) if is_rule else turn


def _summarized(text: str) -> list[SessionTurn]:
    """Return requests and responses of a summary.md whose full.md is missing."""
    turns: list[SessionTurn] = []
    for part in _REQUEST.split(text)[1:]:
        match = _PROMPT.match(part)
        if match is None:
            return []
        turns.append(plain_turn(USER, match[1].strip()))
        if match[2] is not None:
            turns.append(plain_turn(ASSISTANT, match[2].strip()))
    return turns
