"""The directory of tenants: a number for each name, which begins every key, and the partition that has its rows."""

from __future__ import annotations

from typing import NamedTuple

from ...domain.when import to_ms, utc_now
from ..database import Database
from .layout import PARTITIONS, SCHEMA


class Tenant(NamedTuple):
    number: int
    name: str
    part: int
    """The number of the partition with the tenant's rows."""


LOCK = 0x6261636C  # the first of the two numbers of our advisory locks; the second is the tenant's
NO_TENANT = Tenant(0, "", 0)
"""The pseudo-tenant that prepares the tables. No tenant has its number, so it sees no rows."""


def find_tenant(database: Database, name: str) -> Tenant | None:
    for number, part in database.rows("SELECT number, part FROM tenant WHERE name = ?", [name]):
        return Tenant(number, name, part)
    return None


def make_tenant(database: Database, name: str) -> Tenant:
    """Create a tenant with a number that was never used before."""
    # as PostgreSQL itself chooses the partition
    part = (
        f"SELECT part FROM generate_series(0, {PARTITIONS - 1}) AS part"
        f" WHERE satisfies_hash_partition('{SCHEMA}.entry'::regclass, {PARTITIONS}, part, number)"
    )
    sql = "INSERT INTO tenant (name, part, made_at) VALUES (?, -1, ?) RETURNING number"
    number = database.value(sql, [name, to_ms(utc_now())])
    database.change(f"UPDATE tenant SET part = ({part}) WHERE number = ?", [number])
    return Tenant(number, name, int(database.value("SELECT part FROM tenant WHERE number = ?", [number])))


def tenant_numbers(database: Database) -> list[int]:
    """The numbers of all tenants."""
    return database.values("SELECT number FROM tenant ORDER BY number")
