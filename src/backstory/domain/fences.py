"""Markdown code fences: find the lines of a text that are outside of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .lazy import lazy_pattern

_FENCE = lazy_pattern(r" {0,3}(`{3,9}|~{3,9})(?![`~])([^\n]*)$")


def outside_fences(lines: Sequence[str]) -> Iterator[int]:
    """Yield the numbers of the lines outside code fences. A fence that is never closed does not count."""
    number = 0
    unclosed: set[str] = set()  # searched for once each: a text may contain a million fences
    while number < len(lines):
        opening = _opening(lines[number])
        end = None if opening is None or opening in unclosed else _fence_end(lines, number, opening)
        if opening is not None and end is None:
            unclosed.add(opening)
        if end is None:
            yield number
        number = number + 1 if end is None else end + 1


def has_open_fence(text: str) -> bool:
    lines = text.split("\n")
    return any(_opening(lines[number]) for number in outside_fences(lines))


def _opening(line: str) -> str | None:
    match = _FENCE.match(line.rstrip("\r"))
    return None if match is None or (match[1][0] == "`" and "`" in match[2]) else match[1]


def _fence_end(lines: Sequence[str], start: int, opening: str) -> int | None:
    for number in range(start + 1, len(lines)):
        closing = _FENCE.match(lines[number].rstrip("\r"))
        if closing and closing[1].startswith(opening) and not closing[2].strip():
            return number
    return None
