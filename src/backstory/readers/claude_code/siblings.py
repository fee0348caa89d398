"""What the logs of one directory tell of each other: titles that stand in another log, and copies of the same session."""

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
    """By the id of a line: older versions wrote a title at the head of whichever log was next."""
    begun: dict[str, list[Path]]
    """By the id of the first line, the logs that begin with it: copies of one session, up to where they part."""
    firsts: dict[str, str]
    """By the name of a log, the id of its first line, if it had one by then."""


def siblings_of(path: Path) -> Siblings:
    """What a log and those beside it tell."""
    directory = path.parent
    modified_ns = os.stat(directory).st_mtime_ns
    siblings = _as_of(directory, modified_ns)
    if path.name in siblings.firsts or not _first_id(path, _head(path)):
        return siblings
    _as_of.cache_clear()  # it was empty then; lines that are written to it do not change its directory
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
                continue  # it vanished, or is not ours to read; then its own turn to be read says so
            titles.update(_titles_in(head))
            if id := _first_id(path, head):
                begun.setdefault(id, []).append(path)
                firsts[path.name] = id
    return Siblings(titles, begun, firsts)


def copied_lines(path: Path, siblings: Siblings) -> dict[str, str]:
    """By id, the lines that this log may have copied, and the session of each: `--fork-session` gives the lines it copies
    a new session and leaves them their ids."""
    sessions: dict[str, str] = {}
    for older in takewhile(path.__ne__, _copies_of(path, siblings)):
        sessions = dict.fromkeys(_times(older), older.stem) | sessions
    return sessions


def forks_of(path: Path) -> list[Path]:
    """The logs in the same directory that may have copied lines of this one."""
    try:
        copies = _copies_of(path, siblings_of(path))
    except OSError:
        return []  # one of them vanished; the reading of the others reports what is wrong
    return copies[copies.index(path) + 1 :] if path in copies else []


def _copies_of(path: Path, siblings: Siblings) -> list[Path]:
    """The original of a log and all its forks, the original first; empty where there is no fork."""
    copies = siblings.begun.get(siblings.firsts.get(path.name, ""), [])
    return _by_age(copies) if len(copies) > 1 else []


def _by_age(copies: Sequence[Path]) -> list[Path]:
    """The original first, then its forks. What is all in the others was copied by them; else who forks a session goes on
    in the fork first, so that the original parts from the others last. Of equal logs the fork was written later."""
    lines = {path: _times(path) for path in copies}
    common = frozenset.intersection(*map(frozenset, lines.values()))

    def age(path: Path) -> tuple[bool, float, int, int]:
        parted = next((at for id, at in lines[path].items() if id not in common), None)
        return parted is not None, -(to_ms(parted) or 0), len(lines[path]), path.stat().st_mtime_ns

    return sorted(copies, key=age)


def _times(path: Path) -> dict[str, str]:
    """When each line was written, by its id and in their order."""
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
    """Of the first line, if it claims to be of the log's own session. Lines of others are known as what they are, and
    `/clear` begins each session with the same line of the harness."""
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
                continue  # cut by the end of the head
            if line.leaf_uuid and line.summary:
                yield line.leaf_uuid, line.summary
