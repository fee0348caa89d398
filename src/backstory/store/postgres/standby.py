"""Searches on a standby: a copy of the database that follows the primary and only reads.

A standby may be behind. Each tenant counts its commits (`PostgresDatabase`), and the count reaches the standby with the
commit itself. A search asks the primary for the count, and each of its statements compares it with that of the standby,
in the same transaction as the statement: if the count there is smaller, the search starts again on the primary. Servers
need not know of each other's writes, and `read_url` may lead to several standbys.

The store on the standby has its own rooms, so nothing that a process has in memory mixes rows of both servers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from ...domain.errors import BackstoryError, NotAllowed, TimedOut, Unavailable
from .. import Store
from ..database import Row
from .database import PostgresDatabase
from .pool import StandbyPool
from .text import PostgresText
from .vectors import PostgresVectors

T = TypeVar("T")


class Behind(Unavailable):
    """The standby has not received a commit that the search must see."""


class StandbyDatabase(PostgresDatabase):
    """A tenant on a standby. It only reads, and every row is at least as new as the commits that its thread knows of."""

    def __init__(self, pool: StandbyPool, primary: PostgresDatabase) -> None:
        self._standby = pool
        self._primary = primary
        self._identity = (str(primary.tenant.number), primary.made_at_ms())
        self.tenant = primary.tenant
        self.vector_schema = primary.vector_schema

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        (*identity, commits), rows = self._standby.read(self.tenant, self.statement(sql), parameters)
        if tuple(identity) != self._identity:
            raise Unavailable(f"{self._standby.name} is no copy of the store.", hint="Check read_url.")
        if (commits or 0) < self._primary.known_commits:
            raise Behind(f"{self._standby.name} is behind.")
        return list(rows)

    @property
    def in_transaction(self) -> bool:
        return False

    @contextmanager
    def _transaction(self, lock: tuple[int, int] | None) -> Iterator[None]:
        raise Unavailable(f"{self._standby.name} is a standby, which changes nothing.")
        yield

    def close(self) -> None:
        """Nothing: the connections belong to all tenants."""


class StandbySearch:
    """The store of one tenant on a standby, for searches that the primary need not run."""

    def __init__(self, pool: StandbyPool, primary: PostgresDatabase) -> None:
        self._pool = pool
        self._primary = primary
        database = StandbyDatabase(pool, primary)
        self._store = Store(database, PostgresText(database), PostgresVectors(database))

    def run(self, search: Callable[[Store], T], otherwise: Store) -> T:
        """Run a search on the standby; on the primary if the standby is behind, away or refuses."""
        if self._primary.in_transaction:
            return search(otherwise)
        if not self._pool.is_resting:
            self._primary.read_commits()
            try:
                result = search(self._store)
            except Behind:
                pass
            except (Unavailable, TimedOut, NotAllowed):  # any other error would be that of the primary too
                self._pool.rest()
            else:
                self._pool.searches += 1
                return result
        self._pool.failures += 1
        return search(otherwise)

    def problem(self) -> str | None:
        """The reason why the standby currently cannot answer."""
        self._primary.read_commits()
        try:
            self._store.entries.size_hint()
        except BackstoryError as error:
            return error.message
        return None
