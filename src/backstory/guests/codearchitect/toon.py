"""TOON, used if it is shorter than JSON (docs/decisions/0012-toon.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

import toon_format

from .turns import SessionTurn

LARGEST_NUMBER = 2**53 - 1
"""The largest number that a decoder in JavaScript reads exactly."""


def session_content(turns: Sequence[SessionTurn], wanted: str) -> tuple[str, Literal["json", "toon"]]:
    """Return `{"messages": [...]}` in the requested notation, and the notation. `auto` picks the smaller one.

    Turns that do not form a table are always JSON."""
    messages = [turn.as_json() for turn in turns]
    plain = json.dumps({"messages": messages}, ensure_ascii=False, separators=(",", ":"))
    if wanted == "json" or not is_table(turns):
        return plain, "json"
    table = toon_format.encode({"messages": messages}, delimiter="\t")
    return (plain, "json") if wanted == "auto" and len(table) >= len(plain) else (table, "toon")


def is_table(turns: Sequence[SessionTurn]) -> bool:
    """True if all turns have the same fields, and all decoders read their values the same way."""
    if not turns:
        return False
    fields = turns[0].rest.keys()
    return all(turn.rest.keys() == fields and all(map(_is_cell, turn.rest.values())) for turn in turns)


def _is_cell(value: object) -> bool:
    if isinstance(value, int):
        return abs(value) <= LARGEST_NUMBER
    return value is None or isinstance(value, str)
