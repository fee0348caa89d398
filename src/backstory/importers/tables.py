"""Rows of other programs' tables in any storage format. Values of an unexpected type count as missing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from ..domain.errors import Unreadable
from ..domain.records import Priority
from ..domain.when import EPOCH, from_ms
from ..readers.formats import databases, duck
from ..readers.formats.values import fields_of, items_of, text_of, time_ms


class Row:
    """One row by column name. Other versions of a program may have fewer columns."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def text(self, *names: str) -> str:
        """Return the first non-empty text in these columns."""
        return next(filter(None, (text_of(self._values.get(name)) for name in names)), "")

    def id(self, name: str) -> str:
        """Return a number or text as text."""
        value = self._values.get(name)
        return str(value) if isinstance(value, int | str) else ""

    def number(self, name: str) -> float:
        value = self._values.get(name)
        return float(value) if isinstance(value, int | float) else 0.0

    def time(self, *names: str, default: datetime = EPOCH) -> datetime:
        """Return the first valid time in these columns: ISO 8601, or seconds or milliseconds since 1970.

        The default zone is UTC."""
        times = (time_ms(self._values.get(name)) for name in names)
        return next((from_ms(at) for at in times if at is not None), default)

    def json(self, name: str) -> Any:
        """Return the value itself, or the parsed value of a JSON text; None if it cannot be parsed."""
        value = self._values.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return None

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the texts of a list, of a JSON list, or of a comma-separated text."""
        value = self.json(name)
        if value is None:
            value = self.text(name).split(",")
        cleaned = (text_of(each).strip() for each in items_of(value))
        return tuple(dict.fromkeys(filter(None, cleaned)))

    def object(self, name: str) -> dict[str, Any]:
        """Return a JSON object. Any other text is returned under the name `text`."""
        value = fields_of(self.json(name))
        return value or (
            {"text": self.text(name)} if self.text(name).strip() not in ("", "{}", "null") else {}
        )

    def priority(self, name: str) -> Priority:
        word = self.text(name).lower()
        return Priority(word) if word in Priority.__members__.values() else Priority.NORMAL


Tables = Callable[[str], Iterator[Row]]
"""Returns the rows of a table; none if it does not exist."""


@contextmanager
def sqlite_tables(path: Path, *required: str) -> Iterator[Tables]:
    """Open a copy of the file. Raises Unreadable if a required table, or `table.column`, is missing."""
    try:
        with databases.open_copy(path) as connection:
            for each in required:
                table, _, column = each.partition(".")
                if table not in databases.tables(connection) or (
                    column and column not in databases.columns(connection, table)
                ):
                    raise Unreadable(f"{path} has no {each}: another program wrote it.")
            yield lambda table: map(Row, databases.records(connection, table))
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror or error}.") from error


@contextmanager
def duckdb_tables(path: Path) -> Iterator[tuple[Tables, bool]]:
    """Open a copy of the file. Also return whether the contents of its log are included."""
    try:
        with duck.open_copy(path) as (connection, is_whole):
            yield lambda table: map(Row, duck.records(connection, table)), is_whole
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror or error}.") from error


def rows_of(values: object) -> Iterator[Row]:
    """Yield the objects in a JSON list."""
    return (Row(each) for each in items_of(values) if isinstance(each, dict))


def by(rows: Iterable[Row], name: str) -> dict[str, list[Row]]:
    """Group rows by the value of a column."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.id(name), []).append(row)
    return groups
