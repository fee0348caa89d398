"""Connections of clients over HTTP: each is stored with the state of its caller, so that any instance can continue it."""

from __future__ import annotations

from datetime import timedelta

from ..domain.team import Connection
from ..domain.when import Clock
from .engine import Caller, Engine

UNUSED_FOR = timedelta(days=30)
"""A connection that was unused for this long is deleted."""
TOUCH_INTERVAL = timedelta(hours=1)
"""Interval at which a connection that only reads is marked as used."""


class Connections:
    """The connections to the store of one tenant."""

    def __init__(self, engine: Engine, now: Clock) -> None:
        self._store = engine.store
        self._now = now

    def find(self, id: str, owner: str) -> Connection | None:
        """The connection with this id, if the owner opened it and it was used in time."""
        connection = self._store.team.connection(id)
        if connection is None or connection.owner != owner:
            return None
        return connection if self._now() - connection.seen_at < UNUSED_FOR else None

    def add(self, connection: Connection) -> None:
        """Store a new connection, and delete those that are unused."""
        self._store.team.expire_connections(self._now() - UNUSED_FOR)
        self._store.team.put_connection(connection)

    def set_level(self, id: str, level: str) -> None:
        """Send events of this level and more severe ones from now on."""
        with self._store.transaction():
            if connection := self._store.team.connection(id):
                self._store.team.put_connection(connection._replace(level=level))

    def update(self, connection: Connection, caller: Caller) -> None:
        """Store the state of the caller if it changed, or if the connection was not marked as used for a while."""
        now = self._now()
        moved = connection._replace(
            project=caller.project, directory=caller.directory, session=caller.session
        )
        if moved != connection or now - connection.seen_at > TOUCH_INTERVAL:
            self._store.team.put_connection(moved._replace(seen_at=now))

    def delete(self, id: str) -> None:
        self._store.team.delete_connection(id)


def count_connections(engine: Engine) -> int:
    return engine.store.team.count_connections()
