"""The output of a command: one JSON document for programs, and blocks of text for people.

A terminal gets the blocks in colour (`terminal.py`); pipes and files get plain text with one record per line.
"""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple

from .. import console
from ..domain.lines import counted

Json = dict[str, Any]
LONGEST_PROJECT = 18
FAILED = 1  # the status of a command that found something wrong


class Style(StrEnum):
    ID = "id"
    MATCH = "match"
    HEADING = "heading"
    ASSISTANT = "assistant"
    QUIET = "quiet"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


class Span(NamedTuple):
    text: str
    style: Style


Text = str | Sequence[str | Span]


class Table(NamedTuple):
    """Rows of equally many cells. A terminal shows the heads, and cuts the last column to its width, or wraps it."""

    heads: tuple[str, ...]
    rows: Sequence[Sequence[Text]]
    alike: Sequence[Sequence[Text]] = ()
    """Rows of other tables whose columns are aligned with these."""
    above: str = ""
    """A common property of the rows, for example their day: a terminal shows it above them."""
    label: str = ""
    """The text that begins each row in a pipe, instead of `above`."""
    wraps: bool = False

    @property
    def widths(self) -> list[int]:
        """The widths of all columns but the last."""
        rows = [*self.rows, *self.alike, *([self.heads] if self.heads else [])]
        return [max(len(plain_text(row[place])) for row in rows) for place in range(len(rows[0]) - 1)]


class Paragraph(NamedTuple):
    """Lines that wrap; those of the text stay lines."""

    text: Text
    indent: int = 0
    is_markdown: bool = False
    """True if a terminal renders it as Markdown; other outputs show the source."""


class Verbatim(NamedTuple):
    """Text that does not wrap, because it will be copied."""

    text: Text


class Hint(NamedTuple):
    """A suggestion for the next step. It is not a record: if output goes to a pipe, it goes to standard error."""

    text: str


Block = str | Table | Paragraph | Verbatim | Hint
"""A text alone is a line without style."""


class Report(NamedTuple):
    body: Json
    text: str | Sequence[Block]
    exit_code: int = 0


def plain(text: str | Sequence[Block]) -> str:
    """The text without colour, for outputs other than terminals."""
    if isinstance(text, str):
        return text
    return "\n".join(_plain_block(block) for block in text if not isinstance(block, Hint))


def hints(text: str | Sequence[Block]) -> list[str]:
    return [] if isinstance(text, str) else [block.text for block in text if isinstance(block, Hint)]


def plain_text(text: Text) -> str:
    return text if isinstance(text, str) else "".join(str(getattr(part, "text", part)) for part in text)


def _plain_block(block: str | Table | Paragraph | Verbatim) -> str:
    if isinstance(block, Table):
        rows = [[plain_text(cell) for cell in row] for row in block.rows]
        widths = block._replace(heads=()).widths
        start = f"{block.label}  " if block.label else ""
        return "\n".join(
            start
            + "  ".join([*(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)), row[-1]])
            for row in rows
        )
    if isinstance(block, Paragraph):
        indent = " " * block.indent
        return "\n".join(wrapped(line, indent, indent) for line in plain_text(block.text).split("\n"))
    return plain_text(block.text) if isinstance(block, Verbatim) else block


def table(rows: Iterable[Sequence[str]], indent: str = "") -> str:
    """Aligned columns; the last one wraps at the width of the terminal."""
    rows = list(rows)
    if not rows:
        return ""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    lines = []
    for row in rows:
        head = indent + "".join(f"{cell:<{width}}  " for cell, width in zip(row, widths, strict=False))
        lines.append(wrapped(row[-1], head, " " * len(head)))
    return "\n".join(lines)


def wrapped(text: str, first: str = "", other: str = "") -> str:
    width = max(shutil.get_terminal_size((100, 24)).columns, len(other) + 30)
    return (
        textwrap.fill(
            text,
            width,
            initial_indent=first,
            subsequent_indent=other,
            break_long_words=False,
            break_on_hyphens=False,
        )
        or first.rstrip()
    )


def terminal_line(text: str, longest: int) -> str:
    """One line, without characters that a terminal would obey."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def legible(text: str) -> str:
    """The lines without terminal control characters."""
    lines = text.expandtabs(4).splitlines()
    return "\n".join("".join(c if c.isprintable() else "�" for c in line).rstrip() for line in lines)


def size(count: int) -> str:
    amount = float(count)
    for unit in ("bytes", "KB", "MB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GB"


def project_name(project: str) -> str:
    """The last part of its directory, which may be one of another system."""
    path = PureWindowsPath(project) if "\\" in project else PurePosixPath(project)
    name = path.name or project or "-"
    return name if len(name) <= LONGEST_PROJECT else name[: LONGEST_PROJECT - 1] + "…"


def conversation_count(conversations: int, subagents: int) -> str:
    """Conversations as every list counts them: subagents apart."""
    text = counted(conversations, "conversation")
    return f"{text} (and {counted(subagents, 'subagent')})" if subagents else text


def show_progress(current: float, total: float | None, message: str, unit: str = "") -> None:
    """Show the progress of long work on one line of standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        return
    share = f": {current:,.0f} of {total:,.0f} {unit}".rstrip() if total else ""
    _progress_line.show(f"{message}{share}")


def clear_progress() -> None:
    _progress_line.show("")


class _ProgressLine:
    """The last line of the terminal. It is overwritten with blanks, which even a dumb terminal supports."""

    length = 0

    def show(self, text: str) -> None:
        if not text and not self.length:
            return
        text = text[: shutil.get_terminal_size().columns - 1]  # a line that wraps could not be overwritten
        console.overwrite_line(f"{text:<{self.length}}", end="" if text else "\r")
        self.length = len(text)


_progress_line = _ProgressLine()
