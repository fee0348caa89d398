"""What sessions were told where their project stands. It quotes memories and messages, and goes when one of its project is forgotten."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ..domain.records import Injection
from ..domain.when import from_ms, to_ms
from .columns import Columns
from .database import Database, batches

_INJECTION = Columns(Injection)


class InjectionRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, injection: Injection) -> None:
        with self._database.joined():
            sql = _INJECTION.upsert("injection", "session", "given_at")
            self._database.change(sql, _INJECTION.write(injection))

    def newest(self, limit: int) -> list[Injection]:
        return self._database.records(
            _INJECTION, "FROM injection ORDER BY given_at DESC, session LIMIT ?", [limit]
        )

    def of(self, session: str) -> list[Injection]:
        """What a session was told, the first first."""
        return self._database.records(
            _INJECTION, "FROM injection WHERE session = ? ORDER BY given_at", [session]
        )

    def last_text(self, session: str) -> str:
        """What a session was told last; empty when it was told nothing."""
        sql = "SELECT text FROM injection WHERE session = ? ORDER BY given_at DESC LIMIT 1"
        return next(iter(self._database.values(sql, [session])), "")

    def last_times(self) -> dict[str, datetime]:
        """When each session was told something last."""
        told = self._database.pairs("SELECT session, max(given_at) FROM injection GROUP BY session")
        return {session: from_ms(at) for session, at in told.items()}

    def delete(self, projects: Iterable[str]) -> int:
        with self._database.joined():
            return sum(
                self._database.change(f"DELETE FROM injection WHERE project IN ({marks})", some)
                for marks, some in batches(projects)
            )

    def prune(self, before: datetime) -> int:
        """Delete what was told before then to sessions that no conversation is known of any more."""
        sql = (
            "DELETE FROM injection WHERE given_at < ? AND session NOT IN (SELECT native_id FROM conversation)"
        )
        with self._database.joined():
            return self._database.change(sql, [to_ms(before)])
