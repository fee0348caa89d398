"""Sessions, and the former values of memories, as rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ..domain.filters import Filter, Kind
from ..domain.records import Former, Memory, Session
from ..domain.when import from_ms, to_ms
from .rows import FORMER_COLUMNS, read_former
from .statements import Row, Statements
from .where import where_clause

_COLUMNS = "id, name, project, surface, created_at, updated_at, channel, description, parent"


class Sessions(Protocol):
    def put_session(self, session: Session) -> None:
        """Insert, or replace by id."""

    def find_session(self, id: str) -> Session | None: ...

    def find_sessions(
        self, surface: str, *, after: datetime | None, before: datetime | None
    ) -> list[Session]:
        """Newest first."""

    def count_by_session(self, where: Filter) -> dict[str, int]:
        """How many memories that match each session has."""

    def add_former(self, memory: Memory) -> None:
        """Keep what a memory says now, before it is replaced."""

    def find_former(self, id: str) -> list[Former]:
        """What a memory said before, the oldest first."""


class SessionRows(Statements):
    def put_session(self, session: Session) -> None:
        names = [name.strip() for name in _COLUMNS.split(",")]
        updates = ", ".join(f"{name} = excluded.{name}" for name in names[1:])
        marks = ", ".join("?" * len(names))
        sql = f"INSERT INTO session ({_COLUMNS}) VALUES ({marks}) ON CONFLICT (id) DO UPDATE SET {updates}"
        with self.transaction():
            self._change(sql, _session_row(session))

    def find_session(self, id: str) -> Session | None:
        rows = self._rows(f"SELECT {_COLUMNS} FROM session WHERE id = ?", [id])
        return _read_session(rows[0]) if rows else None

    def find_sessions(
        self, surface: str, *, after: datetime | None, before: datetime | None
    ) -> list[Session]:
        sql = f"SELECT {_COLUMNS} FROM session WHERE surface = ?"
        values = [surface, to_ms(after) if after else -(2**62), to_ms(before) if before else 2**62]
        sql += " AND created_at >= ? AND created_at < ? ORDER BY created_at DESC, id DESC"
        return [_read_session(row) for row in self._rows(sql, values)]

    def count_by_session(self, where: Filter) -> dict[str, int]:
        condition, values = where_clause(where)
        sql = f"SELECT e.thread, count(*) FROM entry e WHERE e.kind = ? AND e.thread IS NOT NULL AND {condition} GROUP BY e.thread"
        return {row[0]: row[1] for row in self._rows(sql, [Kind.MEMORY, *values])}

    def add_former(self, memory: Memory) -> None:
        sql = (
            "INSERT INTO former (entry, place, text, category, priority, channel, metadata, private,"
            " saved_at) SELECT n, (SELECT count(*) + 1 FROM former f WHERE f.entry = n), text, category, priority, channel,"
            " metadata, private, updated_at FROM entry WHERE id = ?"
        )
        with self.transaction():
            self._change(sql, [memory.id])

    def find_former(self, id: str) -> list[Former]:
        columns = ", ".join(f"f.{column}" for column in FORMER_COLUMNS)
        sql = f"SELECT {columns} FROM former f JOIN entry e ON e.n = f.entry WHERE e.id = ? ORDER BY f.place"
        return [read_former(row) for row in self._rows(sql, [id])]


def _session_row(s: Session) -> Sequence[object]:
    return [
        s.id, s.name, s.project, s.surface, to_ms(s.created_at), to_ms(s.updated_at), s.channel, s.description,
        s.parent,
    ]  # fmt: skip


def _read_session(row: Row) -> Session:
    id, name, project, surface, created_at, updated_at, channel, description, parent = row
    return Session(
        id=id, name=name, project=project, surface=surface, created_at=from_ms(created_at),
        updated_at=from_ms(updated_at), channel=channel, description=description, parent=parent,
    )  # fmt: skip
