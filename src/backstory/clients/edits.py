"""Changes of a text as splices, each of which can be undone byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..domain.errors import Unreadable


class Splice(NamedTuple):
    """A replacement of one text by another at an offset, counted in characters."""

    offset: int
    removed: str
    inserted: str


def apply(text: str, splices: Iterable[Splice]) -> str:
    """Apply splices in order: an offset refers to the text after the splices before it."""
    for offset, removed, inserted in splices:
        assert text.startswith(removed, offset)
        text = text[:offset] + inserted + text[offset + len(removed) :]
    return text


def undo(text: str, splices: Sequence[Splice]) -> str:
    """The text before `apply`."""
    return apply(text, [Splice(offset, inserted, removed) for offset, removed, inserted in reversed(splices)])


def malformed(text: str, offset: int, problem: str) -> Unreadable:
    """An error with line and column as editors count them: from 1, without a BOM."""
    line = text.count("\n", 0, offset) + 1
    column = offset - (text.rfind("\n", 0, offset) + 1) + 1 - (line == 1 and text.startswith("\ufeff"))
    return Unreadable(f"line {line}, column {column}: {problem}")


def in_lower_case(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def indentation(text: str, offset: int) -> str:
    """The white space that the line of this offset begins with."""
    start = max(text.rfind("\n", 0, offset) + 1, text.startswith("\ufeff"))
    line = text[start:offset]
    return line[: len(line) - len(line.lstrip(" \t"))]
