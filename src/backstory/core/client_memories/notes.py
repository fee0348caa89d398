"""Parsers that split other programs' memory files into notes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from types import MappingProxyType
from typing import Any, NamedTuple

from ...domain.fences import outside_fences
from ...domain.kinds import NOTE, MemoryKind
from ...domain.lazy import lazy_pattern
from ...domain.origins import SUMMARIZED

SMALL_FILE_CHARS = 1_500
"""A smaller file is one note, a larger one a note for each of its sections."""
ANCHOR_WORDS = 4
STATUS, DONE = "status", "done"

_FRONTMATTER = lazy_pattern(
    r"\A\ufeff?---[ \t]*\r?\n(?P<fields>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_FIELD = lazy_pattern(r"^[ \t]*(?P<name>[A-Za-z_]\w*):[ \t]*(?P<value>\S.*?)[ \t]*\r?$", re.MULTILINE)
_HEADING = lazy_pattern(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_BULLET = lazy_pattern(r"(?:[-*+]|\d{1,3}[.)])[ \t]+\S")
_POINTER = lazy_pattern(r"(?:[-*+]|\d{1,3}[.)])[ \t]+\[[^\]]*\]\((?!\w+://)[^)\s]+\.md(?:#[^)]*)?\)")
"""A line of an index that links to a file next to it."""
_LIST_MARK = lazy_pattern(r"^[ \t]*(?:[-*+>]|#{1,6}|\d{1,3}[.)])[ \t]+", re.MULTILINE)
_EMPHASIS = lazy_pattern(r"[*_`]+")
_CWD = lazy_pattern(r"\bcwd\s*[:=]\s*[`\"']?(?P<path>(?:/|[A-Za-z]:[\\/])[^\s`\"';,)]*)")
_THREAD = lazy_pattern(r"^thread_id:\s*(\S+)", re.MULTILINE)
_CATEGORIES = {"feedback": MemoryKind.PREFERENCE, "user": MemoryKind.PREFERENCE, "reference": "reference"}
"""The memory types of Claude Code and Qwen Code; any other type is a note."""


class MemoryNote(NamedTuple):
    text: str
    place: str
    """The name of the note in its file: "" if the file is one note, otherwise its heading and first words."""
    category: str = NOTE
    directory: str | None = None
    """The directory that the note names itself; "" for no project."""
    metadata: Mapping[str, Any] = MappingProxyType({})


Parse = Callable[[str], list[MemoryNote]]


def digest_of(text: str) -> str:
    """A digest of the words of a text. Case, whitespace, list marks and emphasis do not count."""
    bare = _EMPHASIS.sub("", _LIST_MARK.sub("", text))
    return sha256(" ".join(bare.lower().split()).encode("utf-8", "replace")).hexdigest()[:32]


def topic(text: str) -> list[MemoryNote]:
    """A topic file of Claude Code or Qwen Code: one note, named by its frontmatter."""
    fields, body = _frontmatter(text)
    if not body.strip():
        return []
    kind = fields.get("type", "")
    name = fields.get("name", "")
    whole = body.strip() if not name or name.lower() in body.lower() else f"{name}\n\n{body.strip()}"
    category = str(_CATEGORIES.get(kind, NOTE))
    return [MemoryNote(whole, "", category, "" if kind == "user" else None)]


def index(text: str) -> list[MemoryNote]:
    """The notes of MEMORY.md: each bullet with its nested lines, and each paragraph. Links to topic files are skipped."""
    _, body = _frontmatter(text)
    return [
        MemoryNote(_unmarked(block), f"{heading}\n{_first_words(block)}")
        for heading, block in _blocks(body)
        if not _POINTER.match(block)
    ]


def bullets_under(title: str) -> Parse:
    """The bullets of one section of an instruction file, which its program added itself."""

    def parse(text: str) -> list[MemoryNote]:
        blocks = (block for heading, block in _blocks(text) if heading.lower() == title.lower())
        return [MemoryNote(_unmarked(block), _first_words(block)) for block in blocks if _BULLET.match(block)]

    return parse


def sections(text: str) -> list[MemoryNote]:
    """A small file as one section; a larger one split at headings of the second level, with the text before the first
    heading."""
    _, body = _frontmatter(text)
    if not body.strip():
        return []
    parts = list(_split(body, 2))
    if len(body) < SMALL_FILE_CHARS or len(parts) == 1:
        return [MemoryNote(body.strip(), "")]
    return [MemoryNote(part.strip(), heading) for heading, part in parts if heading]


def codex(text: str) -> list[MemoryNote]:
    """MEMORY.md of Codex: a note for each heading, in the directory that it or the heading above it names; without
    headings as any other index."""
    groups = list(_split(text, 1))
    notes: list[MemoryNote] = []
    for title, group in groups:
        around = _directory(group)
        for heading, part in _split(group, 2):
            if _says_something(part):
                directory = _directory(part) or around
                notes.append(MemoryNote(part.strip(), f"{title}\n{heading}", directory=directory))
    has_headings = any(title for title, _ in groups) or any(heading for heading, _ in _split(text, 2))
    return notes if has_headings else index(text)


def rollout_summary(text: str) -> list[MemoryNote]:
    """Codex's summary of one conversation."""
    if not text.strip():
        return []
    thread = _THREAD.search(text)
    metadata = {SUMMARIZED: f"codex:{thread[1]}"} if thread else {SUMMARIZED: ""}
    return [MemoryNote(text.strip(), "", directory=_directory(text), metadata=metadata)]


def beads(text: str) -> list[MemoryNote]:
    """Issues of beads, one per line. Closed issues are done tasks; deleted ones are left out."""
    notes = []
    for line in text.splitlines():
        try:
            issue = json.loads(line)
        except ValueError:
            continue  # conflict marks of a merge
        if isinstance(issue, dict) and issue.get("id") and issue.get("status") != "tombstone":
            notes.append(_issue(issue))
    return notes


def _issue(issue: Mapping[str, Any]) -> MemoryNote:
    is_done = issue.get("status") == "closed"
    title = str(issue.get("title") or issue["id"])
    parts = [f"Done: {title}" if is_done else title, issue.get("description"), issue.get("notes")]
    reason = issue.get("close_reason") if is_done else ""
    parts += [reason if reason and reason != "Closed" else ""]
    text = "\n\n".join(str(part).strip() for part in parts if part)
    metadata = {STATUS: DONE if is_done else str(issue.get("status") or "open"), "issue": str(issue["id"])}
    return MemoryNote(text, str(issue["id"]), str(MemoryKind.TASK), metadata=metadata)


def _frontmatter(text: str) -> tuple[dict[str, str], str]:
    if (match := _FRONTMATTER.match(text)) is None:
        return {}, text.removeprefix("\ufeff")
    fields = {field["name"]: field["value"].strip("\"'") for field in _FIELD.finditer(match["fields"])}
    return fields, text[match.end() :]


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Bullets with their nested lines, and paragraphs, each with its heading.

    A code fence belongs to the block before it."""
    lines = text.replace("\r\n", "\n").split("\n")
    outside = set(outside_fences(lines))
    heading, block = "", list[str]()
    for number, line in enumerate(lines):
        title = _HEADING.match(line) if number in outside else None
        if block and number in outside and _ends_block(lines, number):
            yield heading, "\n".join(block).strip()
            block = []
        if title is not None:
            heading = title[2]
        elif line.strip() or block:
            block.append(line)
    if block:
        yield heading, "\n".join(block).strip()


def _ends_block(lines: list[str], number: int) -> bool:
    """True if a line ends the block before it: a heading, an outermost bullet, or a blank line without nested lines
    after it."""
    line = lines[number]
    if not line.strip():
        following = next((each for each in lines[number:] if each.strip()), "")
        return following[:1] not in (" ", "\t")
    return _HEADING.match(line) is not None or _BULLET.match(line) is not None


def _split(text: str, level: int) -> Iterator[tuple[str, str]]:
    """The text before the first heading of a level, if there is any, and then each heading with its section."""
    lines = text.replace("\r\n", "\n").split("\n")
    heading, part = "", list[str]()
    outside = set(outside_fences(lines))
    for number, line in enumerate(lines):
        title = _HEADING.match(line) if number in outside else None
        if title is not None and len(title[1]) == level:
            if any(each.strip() for each in part):
                yield heading, "\n".join(part)
            heading, part = title[2], []
        part.append(line)
    if any(each.strip() for each in part):
        yield heading, "\n".join(part)


def _says_something(part: str) -> bool:
    """True if a section contains more than a heading and a directory."""
    lines = (line for line in part.splitlines() if line.strip() and not _HEADING.match(line))
    return any(not _CWD.match(line.strip()) for line in lines)


def _directory(text: str) -> str | None:
    match = _CWD.search(text)
    return match["path"].rstrip("/.") if match else None


def _unmarked(block: str) -> str:
    return _LIST_MARK.sub("", block, count=1)


def _first_words(block: str) -> str:
    return " ".join(_EMPHASIS.sub("", _unmarked(block)).lower().split()[:ANCHOR_WORDS])
