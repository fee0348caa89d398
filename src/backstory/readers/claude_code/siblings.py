"""What the logs of one directory tell of each other: titles that stand in another log, and copies of the same session."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..formats.files import open_regular
from .lines import LINES

HEAD_BYTES = 16 * 1024
_SESSION = re.compile(rb'"sessionId":\s?"([^"]+)"')
_ID = re.compile(rb'"uuid":\s?"([^"]+)"')


class Siblings(NamedTuple):
    titles: dict[str, str]
    """By the id of a line: older versions wrote a title at the head of whichever log was next."""
    first: dict[str, Path]
    """By the id of the first line, the first log that begins with it."""


def siblings_of(directory: Path) -> Siblings:
    return _as_of(directory, os.stat(directory).st_mtime_ns)


@functools.lru_cache(maxsize=8)
def _as_of(directory: Path, _modified_ns: int) -> Siblings:
    titles: dict[str, str] = {}
    first: dict[str, Path] = {}
    for path in sorted(directory.glob("*.jsonl")):
        if not path.name.startswith("agent-"):
            try:
                head = _head(path)
            except OSError:
                continue  # it vanished, or is not ours to read; then its own turn to be read says so
            titles.update(_titles_in(head))
            if id := _first_id(path, head):
                first.setdefault(id, path)
    return Siblings(titles, first)


def original_of(path: Path) -> Path | None:
    """The log that this one is a copy of, up to where they part: `--fork-session` gives the copied lines a new session
    and leaves them their ids. Which of two is older is not told; the first by name counts as the original."""
    original = siblings_of(path.parent).first.get(_first_id(path, _head(path)))
    return original if original != path else None


def line_ids(path: Path) -> frozenset[str]:
    return _line_ids_as_of(path, path.stat().st_size)


@functools.lru_cache(maxsize=2)
def _line_ids_as_of(path: Path, _size: int) -> frozenset[str]:
    with open_regular(path) as stream:
        return frozenset(id.decode("utf-8", "replace") for line in stream for id in _ID.findall(line))


def _head(path: Path) -> bytes:
    with open_regular(path) as stream:
        return stream.read(HEAD_BYTES)


def _first_id(path: Path, head: bytes) -> str:
    """Of the first line, if it claims to be of the log's own session. Lines of others are known as what they are."""
    line = next((line for line in head.split(b"\n") if _ID.search(line)), b"")
    owner, found = _SESSION.search(line), _ID.search(line)
    is_own = owner is not None and owner[1].decode("utf-8", "replace") == path.stem
    return found[1].decode("utf-8", "replace") if found and is_own else ""


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
