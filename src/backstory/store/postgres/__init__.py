"""A store in PostgreSQL: a tenant of tables that many share, tsvector for text, pgvector for vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .. import Store
from ..tables import Forgettable, with_words_of
from .database import PostgresDatabase
from .pool import PostgresPool
from .standby import StandbySearch
from .text import PostgresText
from .vectors import PostgresVectors

T = TypeVar("T")


class PostgresStore(Store):
    """A store in PostgreSQL. `pool` is a URL, or a Pool whose connections several stores share."""

    database: PostgresDatabase

    def __init__(
        self,
        pool: str | PostgresPool,
        *,
        tenant: str = "public",
        busy_timeout_s: float = 30.0,
        read_url: str = "",
    ) -> None:
        owns_pool = isinstance(pool, str)
        if isinstance(pool, str):
            pool = PostgresPool(pool, read_url=read_url, busy_timeout_s=busy_timeout_s)
        database = PostgresDatabase(pool, tenant, owns_pool=owns_pool)
        super().__init__(database, PostgresText(database), PostgresVectors(database))
        self._standby = StandbySearch(standby, database) if (standby := database.standby) else None

    def searched(self, search: Callable[[Store], T]) -> T:
        return search(self) if self._standby is None else self._standby.run(search, self)

    def standby_problem(self) -> str | None:
        return None if self._standby is None else self._standby.problem()

    def delete_tenant(self) -> None:
        """Delete the store, overwrite its bytes, and close it.

        The next run finishes an interrupted one. Raises TimedOut while other transactions read the deleted rows; the
        rows are then deleted, and their bytes are recorded for a later run."""
        self.database.delete_rows()
        self.residue.note(with_words_of(Forgettable))
        self.residue.overwrite()
        self.database.delete_tenant()
        self.close()
