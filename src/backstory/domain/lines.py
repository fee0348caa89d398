"""Texts shortened to one line, and numbers with nouns and units."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


def one_line(text: str, longest: int) -> str:
    """Return the text on one line, cut at a word and marked with an ellipsis if it is longer than `longest` characters.

    A word that would take up half of the line, as in writing without spaces, is cut in the middle."""
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    head = line[: longest - 1]
    if line[longest - 1] != " " and (end := head.rfind(" ")) >= longest // 2:
        head = head[:end]
    return head.rstrip() + "…"


def printable_line(text: str, longest: int) -> str:
    """Return words of others as one line without characters that a terminal or a reader of Markdown lines would obey."""
    return one_line("".join(c if c.isprintable() else " " for c in text), longest)


def counted(count: int, noun: str, plural: str = "") -> str:
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def short_count(count: int) -> str:
    """Format a large number with one decimal and a unit, as in 12.3k."""
    for size, unit in _UNITS:
        if count >= size:
            return f"{count / size:.1f}{unit}"
    return str(count)


def dollars(cost: float | None) -> str:
    return "no price" if cost is None else f"${cost:,.2f}"


def strings_in(value: Any) -> Iterator[str]:
    """Every string of a JSON value in order, except the names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings_in(each)
