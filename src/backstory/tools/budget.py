"""How much an answer holds. What does not fit is counted, or left for the next page; nothing is left out silently."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")

_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Made once: `json.dumps` makes an encoder for each value."""

ANSWER_BYTES = 80_000
"""Of JSON, about 20,000 tokens: clients cut or refuse larger answers."""


def size(value: Any) -> int:
    """In bytes, as JSON."""
    return len(_to_json(value).encode("utf-8", "surrogatepass"))


def fitting(
    items: Iterable[T], room: int = ANSWER_BYTES, *, least: int = 1, cost: Callable[[T], int] = size
) -> list[T]:
    """The first that fit together into so many bytes, and at least so many; no others are made."""
    fit: list[T] = []
    for item in items:
        room -= cost(item)
        if room < 0 and len(fit) >= least:
            break
        fit.append(item)
    return fit
