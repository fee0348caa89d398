"""A session's file as it lies in the tree: its head at a glance, or all that was said in it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from hashlib import sha256
from typing import NamedTuple

from ...domain.errors import Unreadable
from ...domain.when import from_ms, iso
from .foreign import read_foreign
from .fullfile import SessionReading, opening_of, read_full
from .places import SessionFile
from .turns import to_json

LARGEST_MB = 100
"""A larger file was not written by a session."""
_HEAD_BYTES = 8_192
_TITLE = re.compile(r"^# +([^\n]*?)(?: *- Full Context)? *\r?$", re.MULTILINE)
_DATE = re.compile(r"^\*\*Date:\*\* *(\S+) *\r?$", re.MULTILINE)
_OLD_NAME = re.compile(r"session-(\d{8}-\d{6})(?:-(.+?))?(?:\.md)?")


class SessionHead(NamedTuple):
    id: str
    """Stays the same when the file is moved or edited; "" when only the whole file tells."""
    topic: str
    date: datetime
    size: int
    modified: datetime


def read_head(found: SessionFile) -> SessionHead:
    try:
        with found.file.open("rb") as file:
            start = file.read(_HEAD_BYTES).decode("utf-8-sig", "replace")
        stat = found.file.stat()
    except OSError as error:
        raise Unreadable(f"{found.file} cannot be read: {error.strerror}.") from error
    modified = from_ms(stat.st_mtime_ns // 1_000_000)
    ours = opening_of(start)
    written = str(ours.get("date", "")) or _first(_DATE, start)
    title = _first(_TITLE, start)
    old = _OLD_NAME.fullmatch(found.name)
    topic = str(ours.get("topic", "")) or title or (old[2] if old and old[2] else found.name)
    date = _moment(written) or (old and _moment(old[1])) or _moment(found.day) or modified
    id = str(ours.get("session", "")) or (derived_id(found.name, title, written) if _moment(written) else "")
    return SessionHead(id, topic, date, stat.st_size, modified)


def read_session(found: SessionFile) -> SessionReading:
    try:
        if found.file.stat().st_size > LARGEST_MB * 1_000_000:
            raise Unreadable(f"{found.file} is larger than {LARGEST_MB} MB.")
        text = found.file.read_bytes().decode("utf-8-sig", "replace")
    except OSError as error:
        raise Unreadable(f"{found.file} cannot be read: {error.strerror}.") from error
    return read_full(text) or SessionReading(read_foreign(text))


def session_id(found: SessionFile, head: SessionHead, reading: SessionReading) -> str:
    """A file without a head is known by its name and by what was said first."""
    first = to_json(reading.turns[0].as_json()) if reading.turns else ""
    return head.id or derived_id(found.name, first)


def derived_id(*parts: str) -> str:
    return sha256("\n".join(parts).encode(errors="replace")).hexdigest()[:24]


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1].strip() if found else ""


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.replace("-", "T") if len(text) == 15 else text)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        iso(moment)
    except (ValueError, OverflowError):
        return None
    return moment
