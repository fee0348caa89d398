"""Records ↔ rows, by the names of their fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

from ..domain.records import Conversation, Former, Memory, Message, Priority, Trust
from ..domain.when import from_ms, to_ms

R = TypeVar("R", bound=NamedTuple)


class Codec(NamedTuple):
    """Conversion of a field to a column value and back, for types that no column can store directly."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _read_time(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else from_ms(milliseconds)


def _write_time(moment: datetime | None) -> int | None:
    return None if moment is None else to_ms(moment)


def _write_json(value: Any) -> str:
    return _encoded(value)


def _read_json(text: str) -> Any:
    return _decoded(text)[0] if text != "{}" else {}  # as it is in most rows


_encoded = json.JSONEncoder(default=dict).encode
"""One encoder for all values: `json.dumps` creates one for each. A mapping need not be a dict."""
_decoded = json.JSONDecoder().raw_decode
"""Decode JSON that this program wrote.

It has no whitespace around it; `json.loads` would look for some, which takes longer than the decoding itself.
"""
TIME = Codec(_write_time, _read_time)
FLAG = Codec(int, bool)
JSON = Codec(_write_json, _read_json)
LIST = Codec(json.dumps, lambda text: tuple(_decoded(text)[0]) if text != "[]" else ())
# looked up: to call an Enum takes ten times as long
PRIORITY = Codec(str, {each.value: each for each in Priority}.__getitem__)
TRUST = Codec(str, {each.value: each for each in Trust}.__getitem__)


class Columns(Generic[R]):
    """The columns of a record: one per field, with the field's name unless an expression is given.

    Fields whose names end in `_at` are times, stored as milliseconds since 1970."""

    def __init__(
        self, record: type[R], codecs: Mapping[str, Codec] | None = None, **expressions: str
    ) -> None:
        self.names: tuple[str, ...] = record._fields
        self.listed = ", ".join(self.names)
        self._sources = [expressions.get(name, name) for name in self.names]
        self.selected = ", ".join(
            f"{sql} AS {name}" for sql, name in zip(self._sources, self.names, strict=True)
        )
        self._record = record
        times = {name: TIME for name in self.names if name.endswith("_at")}
        by_name = times | dict(codecs or {})
        self._codecs = [(self.names.index(name), codec) for name, codec in by_name.items()]

    def read(self, row: Sequence[Any]) -> R:
        """The record of a row that was selected with these columns."""
        if not self._codecs:
            return self._record._make(row)
        values = list(row)
        for place, codec in self._codecs:
            values[place] = codec.read(values[place])
        return self._record._make(values)

    def read_all(self, rows: Iterable[Sequence[Any]]) -> list[R]:
        return list(map(self.read if self._codecs else self._record._make, rows))

    def pick(self, values: Mapping[str, Any]) -> R:
        """The record of a row's values, which are under the names of the table's columns."""
        return self.read([values[source] for source in self._sources])

    def picker(self, columns: Sequence[str]) -> Callable[[Sequence[Any]], R]:
        """Reads the record from a row that has these columns of the table, and maybe others."""
        pick = itemgetter(*map(columns.index, self._sources))
        return lambda row: self.read(pick(row))

    def write(self, record: R) -> list[Any]:
        """Values in the order of the names."""
        values: list[Any] = list(record)
        for place, codec in self._codecs:
            values[place] = codec.write(values[place])
        return values

    def insert(self, table: str) -> str:
        return f"INSERT INTO {table} ({self.listed}) VALUES ({marks(self.names)})"

    def upsert(self, table: str, *key: str) -> str:
        """A statement that inserts a row, or replaces the row with the same key."""
        updates = ", ".join(f"{name} = excluded.{name}" for name in self.names if name not in key)
        return f"{self.insert(table)} ON CONFLICT ({', '.join(key)}) DO UPDATE SET {updates}"


def marks(values: Sequence[Any]) -> str:
    """A `?` for each."""
    return ", ".join("?" * len(values))


MEMORY = Columns(
    Memory,
    {"priority": PRIORITY, "tags": LIST, "private": FLAG, "metadata": JSON, "trust": TRUST},
    session="thread",
)
MESSAGE = Columns(Message, {"trust": TRUST}, conversation="thread")
CONVERSATION = Columns(Conversation, {"is_gone": FLAG, "trust": TRUST})
FORMER = Columns(Former, {"priority": PRIORITY, "metadata": JSON, "private": FLAG})
