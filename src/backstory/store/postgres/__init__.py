"""A store in PostgreSQL: a tenant of tables that many share, tsvector for text, pgvector for vectors."""

from __future__ import annotations

from .. import Store
from .database import PostgresDatabase
from .pool import PostgresPool
from .text import PostgresText
from .vectors import PostgresVectors


class PostgresStore(Store):
    """`pool` is a URL, or a Pool whose connections several stores share."""

    database: PostgresDatabase

    def __init__(
        self, pool: str | PostgresPool, *, tenant: str = "public", busy_timeout_s: float = 30.0
    ) -> None:
        database = PostgresDatabase(pool, tenant, busy_timeout_s=busy_timeout_s)
        super().__init__(database, PostgresText(database), PostgresVectors(database))
