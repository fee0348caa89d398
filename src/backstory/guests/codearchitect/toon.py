"""TOON, where it says the same as JSON in less (docs/decisions/0012-toon.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

import toon_format

from .turns import SessionTurn

LARGEST_NUMBER = 2**53 - 1
"""A decoder in JavaScript reads no larger one exactly."""


def session_content(turns: Sequence[SessionTurn], wanted: str) -> tuple[str, Literal["json", "toon"]]:
    """`{"messages": [...]}` in the wanted notation, and which it is. `auto` takes the smaller. Turns that make no
    table are JSON, whatever is wanted."""
    messages = [turn.as_json() for turn in turns]
    plain = json.dumps({"messages": messages}, ensure_ascii=False, separators=(",", ":"))
    if wanted == "json" or not is_table(turns):
        return plain, "json"
    table = toon_format.encode({"messages": messages}, delimiter="\t")
    return (plain, "json") if wanted == "auto" and len(table) >= len(plain) else (table, "toon")


def is_table(turns: Sequence[SessionTurn]) -> bool:
    """Whether all turns have the same fields, and these hold nothing that decoders read differently."""
    if not turns:
        return False
    fields = turns[0].rest.keys()
    return all(turn.rest.keys() == fields and all(map(_is_cell, turn.rest.values())) for turn in turns)


def _is_cell(value: object) -> bool:
    if isinstance(value, int):
        return abs(value) <= LARGEST_NUMBER
    return value is None or isinstance(value, str)
