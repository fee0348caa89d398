"""Events that other tools reported, as rows."""

from __future__ import annotations

import json
from typing import Protocol

from ..domain.filters import Filter
from ..domain.records import Event
from ..domain.when import from_ms, to_ms
from .statements import Statements

_COLUMNS = "id, session, project, surface, tool, type, data, memory, created_at"


class Events(Protocol):
    def add_event(self, event: Event) -> None: ...

    def find_events(self, where: Filter, limit: int | None = None) -> list[Event]:
        """Newest first. Of the Filter, surfaces, threads, projects and times count: an event has nothing else of it."""

    def count_events(self, where: Filter) -> list[tuple[int, int]]:
        """Hours since 1970 in which events happened, and how many; in the order of time."""


class EventRows(Statements):
    def add_event(self, event: Event) -> None:
        sql = f"INSERT INTO event ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        data = json.dumps(event.data, ensure_ascii=False)
        with self.transaction():
            self._change(sql, [*event[:6], data, event.memory, to_ms(event.created_at)])

    def find_events(self, where: Filter, limit: int | None = None) -> list[Event]:
        condition, values = _condition(where)
        sql = f"SELECT {_COLUMNS} FROM event WHERE {condition} ORDER BY created_at DESC, id DESC"
        if limit is not None:
            sql += f" LIMIT {limit:d}"
        return [
            Event(id, session, project, surface, tool, type, json.loads(data), from_ms(created_at), memory)
            for id, session, project, surface, tool, type, data, memory, created_at in self._rows(sql, values)
        ]

    def count_events(self, where: Filter) -> list[tuple[int, int]]:
        condition, values = _condition(where)
        sql = f"SELECT created_at / 3600000 AS hour, count(*) FROM event WHERE {condition} GROUP BY hour ORDER BY hour"
        return [(row[0], row[1]) for row in self._rows(sql, values)]


def _condition(where: Filter) -> tuple[str, list[object]]:
    conditions: list[str] = []
    values: list[object] = []
    for column, wanted in (
        ("surface", where.surfaces),
        ("session", where.threads),
        ("project", where.projects),
    ):
        if wanted:
            conditions.append(f"{column} IN ({', '.join('?' * len(wanted))})")
            values += wanted
    for comparison, moment in ((">=", where.created_after), ("<", where.created_before)):
        if moment is not None:
            conditions.append(f"created_at {comparison} ?")
            values.append(to_ms(moment))
    return " AND ".join(conditions) or "TRUE", values
