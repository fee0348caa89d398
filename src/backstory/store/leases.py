"""Leases: turns for work that only one process may do at a time."""

from __future__ import annotations

from ..domain.when import to_ms, utc_now
from .database import Database


class LeaseRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, name: str, holder: str, *, for_ms: int) -> bool:
        """Take or renew a lease. Returns True if the holder now has it.

        Others get it when the lease ends or is released. All holders of a lease use the same duration: a lease that
        ends later than that was written by a clock that runs ahead, and counts as ended."""
        now = to_ms(utc_now())
        sql = (
            "INSERT INTO lease (name, holder, leased_until) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE"
            " SET holder = excluded.holder, leased_until = excluded.leased_until"
            " WHERE lease.holder = excluded.holder OR lease.leased_until < ? OR lease.leased_until > ? RETURNING holder"
        )
        with self._database.joined():
            return bool(self._database.rows(sql, [name, holder, now + for_ms, now, now + for_ms]))

    def drop(self, name: str, holder: str) -> None:
        with self._database.joined():
            self._database.change("DELETE FROM lease WHERE name = ? AND holder = ?", [name, holder])
