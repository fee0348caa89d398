"""Fit answers into a token budget: further items are left for the next page, and a value too large for any page is cut
and marked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypedDict

from ...tools.budget import ANSWER_BYTES, fitting, size

USUAL_ITEMS = 250
"""Default number of items per page."""
MOST_ITEMS = 1_000
"""Maximum number of items per page. No more fit into an answer, however short they are."""

LONGEST_SUMMARY = 40_000
"""Number of characters that fit into an answer in any script."""
LEAST_VALUE = 1_000
"""Minimum number of bytes of a value to show, regardless of the item's other fields."""


class Truncation(TypedDict):
    """Marks a cut value: the range of its characters, its size, and how to read on."""

    start: int
    end: int
    size: int
    readOn: str


class AnswerItem(NamedTuple):
    """An item of an answer, and the id by which it can be read."""

    id: str
    item: Any


class AnswerPage(NamedTuple):
    items: list[Any]
    next_offset: int | None


def answer_page(
    answers: Iterable[AnswerItem], *, offset: int, total: int, room: int = ANSWER_BYTES
) -> AnswerPage:
    """Return the items that fit into `room` bytes, but at least the first, whose value is cut if necessary."""
    whole = fitting(answers, room, cost=lambda one: size(one.item))
    items = [*(cut(one, room) for one in whole[:1]), *(one.item for one in whole[1:])]
    after = offset + len(items)
    return AnswerPage(items, after if items and after < total else None)


def page_size(limit: int | None) -> int:
    return USUAL_ITEMS if limit is None else min(limit, MOST_ITEMS)


def cut(answer: AnswerItem, budget: int) -> Any:
    """Return the item with as much of its value as fits, and a mark if it was cut."""
    item = answer.item
    whole = size(item)
    if whole <= budget or "value" not in item:
        return item
    value: str = item["value"]
    room = max(budget - whole + size(value), LEAST_VALUE)
    short = value
    while (bytes := size(short)) > room:
        short = short[: int(len(short) * room / bytes * 0.99)]
    start = item["truncated"]["start"] if "truncated" in item else 0
    return {**item, "value": short, "truncated": mark(answer.id, start, len(short), start + len(value))}


def mark(id: str, start: int, length: int, size: int) -> Truncation:
    """Return the mark of a partial value."""
    end = start + length
    how = f'context_get with key "{id}" and valueOffset {end} reads on.' if end < size else "This is the end."
    return {"start": start, "end": end, "size": size, "readOn": how}
