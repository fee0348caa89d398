"""Memories as lines of JSON, written by the database itself: what checkpoints and the archive keep of them."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from ..domain.filters import Kind
from ..domain.records import Memory
from .rows import COLUMNS, entry_row, read_entry
from .statements import Statements

COPIED = (
    "id", "text", "summary", "project", "private", "created_at", "updated_at", "key", "category", "priority",
    "channel", "tags", "metadata", "trust",
)  # fmt: skip
"""All of a memory but where it is kept (session, surface) and what can be derived (heading, vectors)."""

# the summary of a short text is the text itself
_VALUES = [f"nullif(e.{name}, e.text)" if name == "summary" else f"e.{name}" for name in COPIED]
_PLAIN: dict[str, Any] = {
    "kind": Kind.MEMORY,
    "heading": "",
    "seq": 0,
    "role": "",
    "speaker": "",
    "trust": "own",
}


class CopyRows(Statements):
    @abstractmethod
    def _json_array(self, values: Sequence[str]) -> str:
        """An expression that gives SQL values as the text of one JSON array, without line breaks."""

    def _copied(self) -> str:
        """An expression that gives an entry `e` as a line."""
        return self._json_array(_VALUES)


def copied_line(memory: Memory) -> str:
    """A memory as the database would write it."""
    values = dict(zip(COLUMNS, entry_row(memory), strict=True))
    if values["summary"] == values["text"]:
        values["summary"] = None
    return json.dumps([values[name] for name in COPIED], ensure_ascii=False, separators=(",", ":"))


def read_copied(line: Sequence[Any], columns: Sequence[str], *, session: str | None, surface: str) -> Memory:
    """The memory of a parsed line that was written with these columns, perhaps by an earlier version."""
    values = dict(zip(columns, line, strict=True))
    if values["summary"] is None:
        values["summary"] = values["text"]
    whole: Mapping[str, Any] = _PLAIN | {"thread": session, "surface": surface} | values
    memory = read_entry([whole[column] for column in COLUMNS])
    assert isinstance(memory, Memory)
    return memory
