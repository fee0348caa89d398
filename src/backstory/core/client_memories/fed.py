"""A record of the text that Backstory wrote into other programs' memory files: where, how to remove it, and every
line it wrote. Programs rewrite these files and may retain a line without its markers. A line that is recorded here is
never imported."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ...domain.errors import Unreadable
from ...domain.lazy import lazy_pattern
from ...store.whole_files import write_whole
from .notes import digest_of

FILE = "memory-files.json"
MAX_LINES = 20_000
"""Fingerprints of lines that are remembered, the latest."""
_TAIL = lazy_pattern(r"\s*(?:\((?:decided |since )?\d{4}-\d\d-\d\d\)|\[[0-9a-f]{6,16}\])\s*$")
"""The date and the id that a written line ends with, which a model may leave out."""


class FedFile(NamedTuple):
    """A file with a block of ours."""

    path: str
    client: str
    project: str
    folders: tuple[str, ...] = ()
    """Folders that were created for the file."""
    is_made: bool = False
    """True if Backstory created the file."""
    lost: int = 0
    """The number of times its program rewrote it without the block."""


class FedState(NamedTuple):
    clients: tuple[str, ...] = ()
    """Clients whose files are written, with the user's consent."""
    files: tuple[FedFile, ...] = ()
    lines: tuple[str, ...] = ()
    """Fingerprints of lines that were ever written."""

    def with_file(self, file: FedFile) -> FedState:
        return self._replace(files=(*(each for each in self.files if each.path != file.path), file))

    def without_file(self, path: str) -> FedState:
        return self._replace(files=tuple(each for each in self.files if each.path != path))

    def with_lines(self, lines: Iterable[str]) -> FedState:
        known = dict.fromkeys((*self.lines, *map(line_digest, lines)))
        return self._replace(lines=tuple(known)[-MAX_LINES:])


def line_digest(line: str) -> str:
    """A digest of a line without the date and id at its end."""
    while (shorter := _TAIL.sub("", line)) != line:
        line = shorter
    return digest_of(line)[:16]


def load_fed(home: Path) -> FedState:
    path = home / FILE
    if not path.exists():
        return FedState()
    try:
        body = json.loads(path.read_text("utf-8"))
        files = tuple(FedFile(**{**each, "folders": tuple(each["folders"])}) for each in body["files"])
        return FedState(tuple(body["clients"]), files, tuple(body["lines"]))
    except (ValueError, KeyError, TypeError):
        raise Unreadable(f"{path} is not a file that this version can read.") from None


def save_fed(home: Path, state: FedState) -> None:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    body = {**state._asdict(), "files": [each._asdict() for each in state.files]}
    write_whole(home / FILE, [json.dumps(body, ensure_ascii=False, indent=1)])


def without_fed_lines(text: str, lines: frozenset[str]) -> str:
    """A text without lines that were ever written by Backstory, and without headings that have nothing left under them."""
    if not lines:
        return text
    return "\n".join(line for line in text.split("\n") if not line.strip() or line_digest(line) not in lines)
