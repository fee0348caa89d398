"""Answers have a token budget: what does not fit is left for the next page, and a value too large for any is cut and marked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypedDict

from ...tools.budget import ANSWER_BYTES, fitting, size

USUAL_ITEMS = 250
"""On a page, unless the call says how many."""
MOST_ITEMS = 1_000
"""No more fit into an answer however short they are."""

LONGEST_SUMMARY = 40_000
"""Characters, which an answer can hold in any script."""
LEAST_VALUE = 1_000
"""Bytes of a value that are shown whatever else an item carries."""


class Truncation(TypedDict):
    """A value was cut: which of its characters are here, how many it has, and how to read on."""

    start: int
    end: int
    size: int
    readOn: str


class AnswerItem(NamedTuple):
    """An item of an answer, and the id it can be read by."""

    id: str
    item: Any


class AnswerPage(NamedTuple):
    items: list[Any]
    next_offset: int | None


def answer_page(
    answers: Iterable[AnswerItem], *, offset: int, total: int, room: int = ANSWER_BYTES
) -> AnswerPage:
    """As many whole items as fit into `room` bytes, and at least the first, whose value is cut if it must be."""
    whole = fitting(answers, room, cost=lambda one: size(one.item))
    items = [*(cut(one, room) for one in whole[:1]), *(one.item for one in whole[1:])]
    after = offset + len(items)
    return AnswerPage(items, after if items and after < total else None)


def page_size(limit: int | None) -> int:
    return USUAL_ITEMS if limit is None else min(limit, MOST_ITEMS)


def cut(answer: AnswerItem, budget: int) -> Any:
    """The item with as much of its value as the budget holds, marked when that is not all."""
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
    """How a part of a value says that it is one."""
    end = start + length
    how = f'context_get with key "{id}" and valueOffset {end} reads on.' if end < size else "This is the end."
    return {"start": start, "end": end, "size": size, "readOn": how}
