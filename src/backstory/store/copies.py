"""Memories as lines of JSON, written by the database itself: the format of checkpoints and the archive."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..domain.records import Memory, Trust
from .columns import MEMORY
from .database import Database
from .entries import COLUMNS, entry_row

COPIED = (
    "id", "text", "summary", "project", "private", "created_at", "updated_at", "key", "category", "priority",
    "channel", "tags", "metadata", "trust",
)  # fmt: skip
"""All columns of a memory except its owner (session, surface) and derived data (heading, vectors)."""

# the summary of a short text is the text itself
_VALUES = [f"nullif(e.{name}, e.text)" if name == "summary" else f"e.{name}" for name in COPIED]


def copied_columns(database: Database) -> str:
    """An expression that gives an entry `e` as a line."""
    return database.json_array(_VALUES)


def copied_line(memory: Memory) -> str:
    """A memory as the database would write it."""
    values = dict(zip(COLUMNS, entry_row(memory), strict=True))
    if values["summary"] == values["text"]:
        values["summary"] = None
    return json.dumps([values[name] for name in COPIED], ensure_ascii=False, separators=(",", ":"))


def read_copied(line: Sequence[Any], columns: Sequence[str], *, session: str | None, surface: str) -> Memory:
    """The memory of a parsed line that was written with these columns, perhaps by an earlier version."""
    values = {"trust": Trust.OWN} | dict(zip(columns, line, strict=True))
    if values["summary"] is None:
        values["summary"] = values["text"]
    return MEMORY.pick(values | {"thread": session, "surface": surface})
