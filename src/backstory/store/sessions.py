"""Sessions, and the events that other tools reported to them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ..domain.filters import Filter
from ..domain.records import Event, Session
from ..domain.when import to_ms
from .columns import JSON, Columns
from .database import Database, batches
from .where import bounds, events_clause

_SESSION = Columns(Session)
_EVENT = Columns(Event, {"data": JSON})


class SessionRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, session: Session) -> None:
        """Insert a session, or replace the one with the same id."""
        with self._database.joined():
            self._database.change(_SESSION.upsert("session", "id"), _SESSION.write(session))

    def get(self, id: str) -> Session | None:
        sessions = self._database.records(_SESSION, "FROM session WHERE id = ?", [id])
        return sessions[0] if sessions else None

    def find(self, surface: str, *, after: datetime | None, before: datetime | None) -> list[Session]:
        """Sessions that the surface created or saved in, newest first."""
        values = [to_ms(after) if after else -(2**62), to_ms(before) if before else 2**62, surface, surface]
        saved = "SELECT 1 FROM entry e WHERE e.thread = session.id AND e.surface = ?"
        rest = f"FROM session WHERE created_at >= ? AND created_at < ? AND (surface = ? OR EXISTS ({saved}))"
        return self._database.records(_SESSION, f"{rest} ORDER BY created_at DESC, id DESC", values)

    def add_event(self, event: Event) -> None:
        with self._database.joined():
            self._database.change(_EVENT.insert("event"), _EVENT.write(event))

    def events(self, where: Filter, limit: int | None = None) -> list[Event]:
        """Events, newest first. Only surfaces, threads, projects and times of the Filter apply: an event has no other fields."""
        condition, values = events_clause(where)
        rest = f"FROM event WHERE {condition} ORDER BY created_at DESC, id DESC {bounds(limit)}"
        return self._database.records(_EVENT, rest, values)

    def events_of_type(self, tool: str, type: str) -> list[Event]:
        """Events of a type, oldest first."""
        rest = "FROM event WHERE tool = ? AND type = ? ORDER BY created_at, id"
        return self._database.records(_EVENT, rest, [tool, type])

    def change_event(self, event: Event) -> None:
        """Replace it by id."""
        with self._database.joined():
            self._database.change(_EVENT.upsert("event", "id"), _EVENT.write(event))

    def delete_events(self, memories: Sequence[str]) -> int:
        """Delete the events that the given memories were made from. Returns their number."""
        with self._database.joined():
            return sum(
                self._database.change(f"DELETE FROM event WHERE memory IN ({marks})", some)
                for marks, some in batches(memories)
            )

    def count_events(self, where: Filter) -> list[tuple[int, int]]:
        """The number of events per hour since 1970, in chronological order."""
        condition, values = events_clause(where)
        sql = f"SELECT created_at / 3600000 AS hour, count(*) FROM event WHERE {condition} GROUP BY hour ORDER BY hour"
        return [(hour, count) for hour, count in self._database.rows(sql, values)]
