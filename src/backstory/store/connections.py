"""MCP sessions over HTTP as rows: where a client stands between two of its requests."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from ..domain.team import Connection
from ..domain.when import from_ms, to_ms
from .statements import Statements

_COLUMNS = "id, owner, project, directory, session, level, seen_at"


class Connections(Protocol):
    def put_connection(self, connection: Connection) -> None:
        """Insert, or replace by id."""

    def find_connection(self, id: str) -> Connection | None: ...

    def delete_connection(self, id: str) -> None: ...

    def delete_connections(self, before: datetime) -> None:
        """Forget those that were last seen before that time."""

    def count_connections(self) -> int: ...


class ConnectionRows(Statements):
    def put_connection(self, connection: Connection) -> None:
        names = _COLUMNS.split(", ")
        updates = ", ".join(f"{name} = excluded.{name}" for name in names[1:])
        marks = ", ".join("?" * len(names))
        sql = f"INSERT INTO connection ({_COLUMNS}) VALUES ({marks}) ON CONFLICT (id) DO UPDATE SET {updates}"
        with self.transaction():
            self._change(sql, [*connection[:-1], to_ms(connection.seen_at)])

    def find_connection(self, id: str) -> Connection | None:
        rows = self._rows(f"SELECT {_COLUMNS} FROM connection WHERE id = ?", [id])
        if not rows:
            return None
        id, owner, project, directory, session, level, seen_at = rows[0]
        return Connection(id, owner, project, directory, session, level, from_ms(seen_at))

    def delete_connection(self, id: str) -> None:
        with self.transaction():
            self._change("DELETE FROM connection WHERE id = ?", [id])

    def delete_connections(self, before: datetime) -> None:
        with self.transaction():
            self._change("DELETE FROM connection WHERE seen_at < ?", [to_ms(before)])

    def count_connections(self) -> int:
        return int(self._rows("SELECT count(*) FROM connection")[0][0])
