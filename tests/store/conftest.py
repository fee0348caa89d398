"""A PostgreSQL database of a test's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from backstory.store.postgres.pool import PostgresPool

from .. import postgres_server


@pytest.fixture
def url() -> Iterator[str]:
    with postgres_server.own_database("own") as url:
        yield url


@pytest.fixture
def pool(url: str) -> Iterator[PostgresPool]:
    with closing(PostgresPool(url)) as pool:
        yield pool
