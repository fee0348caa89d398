"""Size limits of answers. Items that do not fit are counted or left for the next page; nothing is dropped silently."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")

_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Created once: `json.dumps` creates an encoder for each value."""

ANSWER_BYTES = 80_000
"""Maximum size of an answer as JSON, about 20,000 tokens. Clients cut or refuse larger answers."""


def size(value: Any) -> int:
    """Return the size in bytes as JSON."""
    return len(_to_json(value).encode("utf-8", "surrogatepass"))


def fitting(
    items: Iterable[T], room: int = ANSWER_BYTES, *, least: int = 1, cost: Callable[[T], int] = size
) -> list[T]:
    """Return the first items that fit into `room` bytes together, but at least `least` items.

    Later items are not generated."""
    fit: list[T] = []
    for item in items:
        room -= cost(item)
        if room < 0 and len(fit) >= least:
            break
        fit.append(item)
    return fit
