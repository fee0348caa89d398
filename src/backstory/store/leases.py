"""Whose turn it is to do what only one process may do at a time."""

from __future__ import annotations

from ..domain.when import to_ms, utc_now
from .database import Database


class LeaseRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, name: str, holder: str, *, for_ms: int) -> bool:
        """Whether the work is the holder's now. Others get it when the lease ends or is given back. All who take a
        lease take it for as long: one that would last longer was given by a clock that was ahead, and has ended."""
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
