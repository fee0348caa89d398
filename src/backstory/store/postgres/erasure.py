"""Erasure for all tenants of a database at once: tables that several have deleted from are rewritten once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ...domain.erasure import Residue
from ..database import Database
from ..residue import NOTE, read_note
from ..tables import VECTOR
from .layout import KEY, SCHEMA, partition
from .pool import PooledConnection, PostgresPool
from .residue import overwrite, tables_of
from .tenants import LOCK, NO_TENANT, Tenant

ERASURE_TURN = -1  # the second number of the lock that only one server has


class TenantResidue(NamedTuple):
    """The record of a tenant with bytes to overwrite."""

    tenant: Tenant
    note: str

    @property
    def residue(self) -> Residue:
        return read_note(self.note)


def pending_residues(pool: PostgresPool) -> list[TenantResidue]:
    connection = pool.begin(NO_TENANT.number)
    try:
        sql = f"SELECT number, name, part FROM {SCHEMA}.tenant ORDER BY number".encode()
        tenants = [Tenant(*row) for row in connection.execute(sql).fetchall()]
        return [TenantResidue(tenant, note) for tenant in tenants for note in _notes(connection, tenant)]
    finally:
        pool.give_back(connection)


def _notes(connection: PooledConnection, tenant: Tenant) -> list[str]:
    connection.execute(f"SELECT set_config('backstory.tenant', '{tenant.number:d}', TRUE)".encode())
    sql = f"SELECT holder FROM {SCHEMA}.lease WHERE {KEY} = %s AND name = %s".encode()
    return [note for (note,) in connection.execute(sql, [tenant.number, NOTE]).fetchall()]


def overwrite_all(database: Database, pool: PostgresPool, rest: Callable[[], None]) -> list[str]:
    """Overwrite the bytes of all tenants, unless another server is doing so. Returns the names of the tenants."""
    with _turn(pool) as is_ours:
        pending = pending_residues(pool) if is_ours else []
        if not pending:
            return []
        tables = {table for each in pending for table in tables_of(each.residue, each.tenant.part)}
        overwrite(database, tables, database.moment(), rest)
        clean_up(pool, {each.tenant.part for each in pending if VECTOR in each.residue.tables})
        for each in pending:
            _clear(pool, each)
    return [each.tenant.name for each in pending]


def clean_up(pool: PostgresPool, parts_with_vectors: Iterable[int]) -> None:
    """Free deleted vectors and the planner's statistics, after tables were rewritten."""
    # vectors contain no text, and their index takes long to rebuild; pgvector clears freed space itself
    for part in parts_with_vectors:
        pool.maintain("VACUUM", partition("embedding", part))
    # without effect where another user owns the database
    pool.maintain("VACUUM FULL", "pg_statistic", schema="pg_catalog")


@contextmanager
def _turn(pool: PostgresPool) -> Iterator[bool]:
    """True for one server at a time. The transaction that has the lock reads no row, so it blocks nobody."""
    connection = pool.begin(NO_TENANT.number)
    try:
        sql = f"SELECT pg_try_advisory_xact_lock({LOCK}, {ERASURE_TURN})"
        row = connection.execute(sql.encode()).fetchone()
        yield row == (True,)
    finally:
        pool.give_back(connection)


def _clear(pool: PostgresPool, each: TenantResidue) -> None:
    """Delete the record, unless the tenant deleted something meanwhile."""
    connection = pool.begin(each.tenant.number, (LOCK, each.tenant.number))
    try:
        sql = f"DELETE FROM {SCHEMA}.lease WHERE {KEY} = %s AND name = %s AND holder = %s".encode()
        connection.execute(sql, [each.tenant.number, NOTE, each.note])
        connection.execute("COMMIT")
    finally:
        pool.give_back(connection)
