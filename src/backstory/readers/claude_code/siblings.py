"""Relations between the logs of one directory: titles in other logs, and copies of the same session."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import msgspec

from ...domain.lazy import lazy_pattern
from ..formats.files import open_regular
from ..formats.lines import to_ms
from .lines import AGENT, LINES

HEAD_BYTES = 16 * 1024
_SESSION = lazy_pattern(rb'"sessionId":\s?"([^"]+)"')
_ID = lazy_pattern(rb'"uuid":\s?"([^"]+)"')
_META = lazy_pattern(rb'"isMeta":\s?true')
_TIME = lazy_pattern(rb'"timestamp":\s?"([^"]+)"')


class Siblings(NamedTuple):
    titles: dict[str, str]
    """Titles by line id. Older versions wrote a title at the head of the next log, whichever it was."""
    begun: dict[str, list[Path]]
    """The logs that begin with a line, by its id: copies of one session up to the point where they
    diverge."""
    firsts: dict[str, str]
    """The id of the first line of each log, by log name, if it had one at that time."""


def siblings_of(path: Path) -> Siblings:
    """Return the relations of all logs in this log's directory."""
    directory = path.parent
    modified_ns = os.stat(directory).st_mtime_ns
    siblings = _as_of(directory, modified_ns)
    if path.name in siblings.firsts or not _first_id(path, _head(path)):
        return siblings
    _as_of.cache_clear()  # the log was empty before, and appending to it does not change the directory's time
    return _as_of(directory, modified_ns)


@functools.lru_cache(maxsize=8)
def _as_of(directory: Path, _modified_ns: int) -> Siblings:
    titles: dict[str, str] = {}
    begun: dict[str, list[Path]] = {}
    firsts: dict[str, str] = {}
    for path in sorted(directory.glob("*.jsonl")):
        if not path.name.startswith(AGENT):
            try:
                head = _head(path)
            except OSError:
                continue  # deleted or not readable, which is reported when the log itself is read
            titles.update(_titles_in(head))
            if id := _first_id(path, head):
                begun.setdefault(id, []).append(path)
                firsts[path.name] = id
    return Siblings(titles, begun, firsts)


def copied_lines(path: Path, siblings: Siblings) -> dict[str, str]:
    """Map the ids of lines that this log may have copied to their sessions.

    `--fork-session` assigns a new session to the copied lines and leaves their ids unchanged."""
    sessions: dict[str, str] = {}
    for older in takewhile(path.__ne__, _copies_of(path, siblings)):
        sessions = dict.fromkeys(_times(older), older.stem) | sessions
    return sessions


def forks_of(path: Path) -> list[Path]:
    """Return the logs in the same directory that may have copied lines of this one."""
    try:
        copies = _copies_of(path, siblings_of(path))
    except OSError:
        return []  # a log was deleted; reading the others reports the problem
    return copies[copies.index(path) + 1 :] if path in copies else []


def _copies_of(path: Path, siblings: Siblings) -> list[Path]:
    """Return the original of a log and all its forks, original first; empty if there is no fork."""
    copies = siblings.begun.get(siblings.firsts.get(path.name, ""), [])
    return _by_age(copies) if len(copies) > 1 else []


def _by_age(copies: Sequence[Path]) -> list[Path]:
    """Sort copies: the original first, then its forks.

    A log whose lines are all in the others is the original. Otherwise users continue in the fork first, and the
    original diverges last. If two logs are equal, the fork was written later."""
    lines = {path: _times(path) for path in copies}
    common = frozenset.intersection(*map(frozenset, lines.values()))

    def age(path: Path) -> tuple[bool, float, int, int]:
        parted = next((at for id, at in lines[path].items() if id not in common), None)
        return parted is not None, -(to_ms(parted) or 0), len(lines[path]), path.stat().st_mtime_ns

    return sorted(copies, key=age)


def _times(path: Path) -> dict[str, str]:
    """Return the time of each line by id, in order."""
    return _times_as_of(path, path.stat().st_size)


@functools.lru_cache(maxsize=8)
def _times_as_of(path: Path, _size: int) -> dict[str, str]:
    times = {}
    with open_regular(path) as stream:
        for line in stream:
            for match in _ID.finditer(line):
                time = _TIME.search(line, match.end())
                times[_text(match[1])] = _text(time[1]) if time else ""
    return times


def _head(path: Path) -> bytes:
    with open_regular(path) as stream:
        return stream.read(HEAD_BYTES)


def _first_id(path: Path, head: bytes) -> str:
    """Return the id of the first line, if it claims to belong to the log's own session.

    Lines of other sessions are recognized otherwise, and `/clear` begins each session with the same line of the
    harness."""
    lines = (line for line in head.split(b"\n") if _ID.search(line) and not _META.search(line))
    line = next(lines, b"")
    owner, match = _SESSION.search(line), _ID.search(line)
    is_own = owner is not None and _text(owner[1]) == path.stem
    return _text(match[1]) if match and is_own else ""


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _titles_in(head: bytes) -> Iterator[tuple[str, str]]:
    if b'"type":"summary"' not in head:
        return
    for text in head.split(b"\n"):
        if b'"type":"summary"' in text[:200]:
            try:
                line = LINES.decode(text)
            except msgspec.DecodeError:
                continue  # incomplete at the end of the head
            if line.leaf_uuid and line.summary:
                yield line.leaf_uuid, line.summary
