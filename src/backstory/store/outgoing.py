"""Memories of this machine that have yet to reach the team's server, in the order in which they were saved."""

from __future__ import annotations

from ..domain.team import Delivery
from .columns import Columns
from .database import Database

_DELIVERY = Columns(Delivery)


class OutgoingRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, delivery: Delivery) -> None:
        with self._database.joined():
            self._database.change(_DELIVERY.insert("outgoing"), _DELIVERY.write(delivery))

    def all(self) -> list[Delivery]:
        """All deliveries, oldest first."""
        return self._database.records(_DELIVERY, "FROM outgoing ORDER BY queued_at, key")

    def note_problem(self, key: str, problem: str) -> None:
        with self._database.transaction():
            self._database.change("UPDATE outgoing SET problem = ? WHERE key = ?", [problem, key])

    def retarget(self, replaces: str, memory: str) -> None:
        """Let corrections of a memory refer to the memory that has its text on the server."""
        with self._database.joined():
            self._database.change("UPDATE outgoing SET replaces = ? WHERE replaces = ?", [memory, replaces])

    def remove(self, key: str) -> None:
        with self._database.joined():
            self._database.change("DELETE FROM outgoing WHERE key = ?", [key])
