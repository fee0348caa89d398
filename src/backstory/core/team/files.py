"""A shared memory as a Markdown file with front matter: pleasant in a diff, in a review and in Obsidian. Pure."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ...domain.errors import Unreadable
from ...domain.lazy import lazy_pattern

KINDS = ("decision", "fact", "convention", "warning")
MAX_FILE_BYTES = 4_096
MAX_TITLE_CHARS = 80
NAME_WORDS = 6
_LISTS = ("about", "replaces", "tags")
_FENCE = "---"
_ID = lazy_pattern(r"[0-9a-z][0-9a-z-]{3,63}")
_DATE = lazy_pattern(r"\d{4}-\d{2}-\d{2}")
_PLAIN = lazy_pattern(r"[\w./*][\w ./*@+-]*")
"""A value that means the same in YAML without quotation marks."""
_ITEM = lazy_pattern(r'\s*("(?:[^"\\]|\\.)*"|[^,\[\]]+)\s*(?:,|\Z)')


class SharedNote(NamedTuple):
    id: str
    kind: str
    date: str
    """The day on which the note was first shared, as 2026-11-17."""
    title: str
    body: str
    about: tuple[str, ...] = ()
    """Patterns of files, from the root of the repository."""
    replaces: tuple[str, ...] = ()
    """Ids of shared memories that this one replaces."""
    tags: tuple[str, ...] = ()
    more: Mapping[str, str] = MappingProxyType({})
    """Unknown lines of the front matter, unchanged."""

    @property
    def text(self) -> str:
        return f"{self.title}\n\n{self.body}".strip()

    @property
    def file_name(self) -> str:
        """The name of a new file. An existing file keeps its name when its title changes."""
        ascii_title = unicodedata.normalize("NFKD", self.title).encode("ascii", "ignore").decode().lower()
        words = re.findall(r"[a-z0-9]+", ascii_title)[:NAME_WORDS]
        return "-".join([self.date, *words, self.id[:8]]) + ".md"


def rendered(note: SharedNote) -> str:
    fields = {"id": note.id, "kind": note.kind, "date": note.date}
    lines = [f"{name}: {_scalar(value)}" for name, value in fields.items()]
    for name in _LISTS:
        values: tuple[str, ...] = getattr(note, name)
        if values:
            lines.append(f"{name}: [{', '.join(map(_scalar, values))}]")
    lines += [f"{name}: {value}" for name, value in note.more.items()]
    body = f"\n{note.body.strip()}\n" if note.body.strip() else ""
    return "\n".join([_FENCE, *lines, _FENCE, f"# {note.title}", ""]) + body


def parsed(text: str) -> SharedNote:
    """Raises Unreadable, which begins with the number of the line."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].strip() != _FENCE or _FENCE not in (line.strip() for line in lines[1:]):
        raise Unreadable("1: There is no front matter between two lines of ---.")
    end = next(place for place, line in enumerate(lines[1:], 1) if line.strip() == _FENCE)
    fields: dict[str, str] = {}
    for number, line in enumerate(lines[1:end], 2):
        name, mark, value = line.partition(":")
        if not line.strip():
            continue
        if not mark or not re.fullmatch(r"[\w-]+", name.strip()):
            raise Unreadable(f"{number}: {line.strip()!r} is not `name: value`.")
        fields[name.strip()] = value.strip()
    title, body = _title_and_body(lines[end + 1 :], end + 2)
    return _checked(
        SharedNote(
            id=_value(fields.pop("id", "")),
            kind=_value(fields.pop("kind", "fact")),
            date=_value(fields.pop("date", "")),
            title=title,
            body=body,
            about=_items(fields.pop("about", "")),
            replaces=_items(fields.pop("replaces", "")),
            tags=_items(fields.pop("tags", "")),
            more=fields,
        )
    )


def _checked(note: SharedNote) -> SharedNote:
    if not _ID.fullmatch(note.id):
        raise Unreadable("2: id must be 4 to 64 letters and digits.")
    if note.kind not in KINDS:
        raise Unreadable(f"2: kind must be one of {', '.join(KINDS)}.")
    if not _DATE.fullmatch(note.date):
        raise Unreadable("2: date must have the form 2026-11-17.")
    return note


def _title_and_body(lines: list[str], first: int) -> tuple[str, str]:
    for place, line in enumerate(lines):
        if line.strip():
            if not line.startswith("# ") or not line[2:].strip():
                break
            return line[2:].strip(), "\n".join(lines[place + 1 :]).strip()
    raise Unreadable(f"{first}: The text must begin with a title: `# …`.")


def _scalar(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)


def _value(written: str) -> str:
    """Without a comment and quotation marks."""
    if written.startswith('"'):
        end = re.match(r'"(?:[^"\\]|\\.)*"', written)
        if end is not None:
            try:
                return str(json.loads(end[0]))
            except ValueError:
                return written
    return written.partition(" #")[0].strip().strip("'")


def _items(written: str) -> tuple[str, ...]:
    inner = re.match(r"\[((?:\"(?:[^\"\\]|\\.)*\"|[^\[\]\"])*)\]", written)
    if inner is None:
        return (_value(written),) if _value(written) else ()
    return tuple(value for item in _ITEM.finditer(inner[1]) if (value := _value(item[1].strip())))
