"""Texts that hooks and briefs added to sessions.

They quote memories and messages, and are deleted when a record of their project is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ..domain.records import Injection, InjectionCount
from ..domain.when import from_ms, to_ms
from .columns import Codec, Columns
from .database import Database, batches
from .where import literal

_USED = Codec(
    lambda used: None if used is None else int(used), lambda used: None if used is None else bool(used)
)
_INJECTION = Columns(Injection, {"used": _USED})


class InjectionRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, injection: Injection) -> None:
        """Save a receipt, unless the session has one with the same time."""
        with self._database.joined():
            sql = f"{_INJECTION.insert('injection')} ON CONFLICT (session, given_at) DO NOTHING"
            self._database.change(sql, _INJECTION.write(injection))

    def unused(self, since: datetime) -> list[Injection]:
        """Receipts from then on that are not marked as used, of conversations that are known, the oldest first."""
        rest = (
            "FROM injection WHERE given_at >= ? AND coalesce(used, 0) = 0"
            " AND session IN (SELECT native_id FROM conversation) ORDER BY given_at"
        )
        return self._database.records(_INJECTION, rest, [to_ms(since)])

    def judge(self, injection: Injection, *, used: bool) -> None:
        sql = "UPDATE injection SET used = ? WHERE session = ? AND given_at = ?"
        with self._database.joined():
            self._database.change(sql, [int(used), injection.session, to_ms(injection.given_at)])

    def naming(self, session: str, id: str) -> list[Injection]:
        """Receipts of a session that name an id and are not marked as used."""
        rest = "FROM injection WHERE session = ? AND coalesce(used, 0) = 0 AND text LIKE ? ESCAPE '!'"
        return self._database.records(_INJECTION, rest, [session, f"%{literal(id)}%"])

    def counts(self, since: datetime) -> list[InjectionCount]:
        """Counts of injections since a time, per event."""
        sql = (
            "SELECT event, count(*), count(used), coalesce(sum(used), 0) FROM injection WHERE given_at >= ?"
            " GROUP BY event ORDER BY event"
        )
        return [
            InjectionCount(event, total, judged, int(used))
            for event, total, judged, used in self._database.rows(sql, [to_ms(since)])
        ]

    def newest(self, limit: int) -> list[Injection]:
        return self._database.records(
            _INJECTION, "FROM injection ORDER BY given_at DESC, session LIMIT ?", [limit]
        )

    def of(self, session: str) -> list[Injection]:
        """All texts added to a session, oldest first."""
        return self._database.records(
            _INJECTION, "FROM injection WHERE session = ? ORDER BY given_at", [session]
        )

    def last_text(self, session: str) -> str:
        """The last text added to a session, or "" if there is none."""
        sql = "SELECT text FROM injection WHERE session = ? ORDER BY given_at DESC LIMIT 1"
        return next(iter(self._database.values(sql, [session])), "")

    def last_times(self) -> dict[str, datetime]:
        """The time of the last injection of each session."""
        times = self._database.pairs("SELECT session, max(given_at) FROM injection GROUP BY session")
        return {session: from_ms(at) for session, at in times.items()}

    def delete(self, projects: Iterable[str]) -> int:
        with self._database.joined():
            return sum(
                self._database.change(f"DELETE FROM injection WHERE project IN ({marks})", some)
                for marks, some in batches(projects)
            )

    def prune(self, before: datetime) -> int:
        """Delete injections older than `before` whose session has no known conversation. Returns their number."""
        sql = (
            "DELETE FROM injection WHERE given_at < ? AND session NOT IN (SELECT native_id FROM conversation)"
        )
        with self._database.joined():
            return self._database.change(sql, [to_ms(before)])
