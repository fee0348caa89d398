"""What a command has to say: one JSON document for programs, text for people."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

Json = dict[str, Any]


class Report(NamedTuple):
    body: Json
    text: str
    exit_code: int = 0


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


def shortened(text: str, longest: int) -> str:
    """One line, without characters that a terminal would obey."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def size(count: int) -> str:
    amount = float(count)
    for unit in ("bytes", "KB", "MB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GB"


def counted(count: int, noun: str, plural: str = "") -> str:
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
