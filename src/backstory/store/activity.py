"""How much was remembered, when and of what kind: counts that need no text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..domain.census import HourTally, Tally
from ..domain.filters import Filter, Kind
from ..domain.records import Priority
from ..domain.when import from_ms
from .statements import Statements
from .where import where_clause


class Activity(Protocol):
    def tally(self, where: Filter) -> list[Tally]: ...

    def busy_hours(self, where: Filter) -> list[HourTally]:
        """In the order of time."""

    def leading(self, where: Filter, tallies: Sequence[Tally], each: int) -> list[str]:
        """Ids of the first memories of each category, by priority and then the latest change, given how many
        there are of each kind."""

    def count_former(self, where: Filter) -> dict[str, int]:
        """How often each memory that matches was saved again; only those that were."""


class ActivityRows(Statements):
    def tally(self, where: Filter) -> list[Tally]:
        condition, values = where_clause(where)
        sql = (
            "SELECT e.category, e.priority, count(*), min(e.created_at), max(e.updated_at) FROM entry e"
            f" WHERE e.kind = ? AND {condition} GROUP BY e.category, e.priority"
        )
        return [
            Tally(category, Priority(priority), count, from_ms(first), from_ms(last))
            for category, priority, count, first, last in self._rows(sql, [Kind.MEMORY, *values])
        ]

    def busy_hours(self, where: Filter) -> list[HourTally]:
        condition, values = where_clause(where)
        sql = (
            "SELECT e.created_at / 3600000 AS hour, e.category, e.priority, count(*) FROM entry e"
            f" WHERE e.kind = ? AND {condition} GROUP BY hour, e.category, e.priority ORDER BY hour"
        )
        return [
            HourTally(hour, category, Priority(priority), count)
            for hour, category, priority, count in self._rows(sql, [Kind.MEMORY, *values])
        ]

    def leading(self, where: Filter, tallies: Sequence[Tally], each: int) -> list[str]:
        condition, values = where_clause(where)
        chosen: list[str] = []
        room: dict[str | None, int] = {}
        for category, priority, *_ in sorted(tallies, key=lambda tally: list(Priority).index(tally.priority)):
            left = room.setdefault(category, each)
            if not left:
                continue
            same = "e.category IS NULL" if category is None else "e.category = ?"
            sql = (
                f"SELECT e.id FROM entry e WHERE e.kind = ? AND {same} AND e.priority = ? AND {condition}"
                " ORDER BY e.updated_at DESC, e.n DESC LIMIT ?"
            )
            group = [] if category is None else [category]
            rows = self._rows(sql, [Kind.MEMORY, *group, priority, *values, left])
            chosen += [row[0] for row in rows]
            room[category] -= len(rows)
        return chosen

    def count_former(self, where: Filter) -> dict[str, int]:
        condition, values = where_clause(where)
        if where.public_or_in is not None:  # a value may have been private before the memory became public
            condition += " AND (f.private = 0 OR e.thread = ?)"
            values.append(where.public_or_in)
        sql = (
            "SELECT e.id, count(*) FROM former f JOIN entry e ON e.n = f.entry"
            f" WHERE e.kind = ? AND {condition} GROUP BY e.id"
        )
        return {row[0]: row[1] for row in self._rows(sql, [Kind.MEMORY, *values])}
