"""Migration of a store with a schema of its own, which every tenant had before tables were shared.

Everything happens in the transaction that creates the tenant: the rows are copied and counted before the old tables
are dropped. After a failure the old schema is untouched, and the next server that opens the tenant tries again.
"""

from __future__ import annotations

import zlib
from typing import Any

import psycopg
from psycopg import sql

from ...domain.errors import Unavailable
from ...domain.when import to_ms, utc_now
from ..migrate import LATEST, scripts
from ..tables import TENANT_TABLES
from .dialect import translated_script
from .layout import KEY, SCHEMA, statements
from .tenants import Tenant

LAST_SEPARATE = 39
"""The last script that a schema of its own is brought to; those after it are for the shared tables alone."""
_FORMER_LOCK = 0x6261636B  # the lock that writers of the schema have, with the hash of its name
_MADE_ANEW = {"shape", "counter"}  # by a trigger, and below
_NUMBERED = {"entry": "n", "embedding": "v", "space": "number"}
_FUNCTIONS = ("keep_shape()", "check_level()", "words_vector(text[])", "unit_query(text[], boolean)")

Connection = psycopg.Connection[tuple[Any, ...]]


def move_schema(connection: Connection, tenant: Tenant, vector_schema: str) -> None:
    """Move the rows of the schema with the tenant's name, if it contains a store.

    Raises Unavailable if a row is missing afterwards."""
    if tenant.name == SCHEMA or not _is_there(connection, tenant.name, "entry_text"):
        return
    lock = (_FORMER_LOCK, zlib.crc32(tenant.name.encode()) - 2**31)
    connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", lock)
    _bring_up_to_date(connection, tenant.name, vector_schema)
    connection.execute("SELECT set_config('backstory.tenant', %s, true)", [str(tenant.number)])
    made_at = sql.SQL(
        "UPDATE tenant SET made_at = (SELECT min(applied_at) FROM {}) WHERE number = {}"
    ).format(sql.Identifier(tenant.name, "migration"), tenant.number)
    connection.execute(made_at)
    tables = [name for name in TENANT_TABLES if _is_there(connection, tenant.name, name)]
    last_numbers = {table: _last_number(connection, tenant.name, table) for table in _NUMBERED}
    for table in tables:
        if table not in _MADE_ANEW:
            _copy(connection, tenant, table)
    for counter in last_numbers.items():
        connection.execute(
            f"INSERT INTO counter ({KEY}, name, value) VALUES (%s, %s, %s)", [tenant.number, *counter]
        )
    for table in tables:
        _compare(connection, tenant, table)
    _empty(connection, tenant.name, tables)


def _is_there(connection: Connection, schema: str, table: str) -> bool:
    name = sql.Identifier(schema, table).as_string()
    return connection.execute("SELECT to_regclass(%s)", [name]).fetchone() != (None,)


def _bring_up_to_date(connection: Connection, schema: str, vector_schema: str) -> None:
    """Run the scripts that an older schema lacks, as they are."""
    path = sql.Identifier(schema).as_string()
    connection.execute("SELECT set_config('search_path', %s, true)", [f"{path}, pg_temp"])
    ((version,),) = connection.execute("SELECT max(version) FROM migration").fetchall()
    for script in scripts("postgres"):
        if version < script.version <= LAST_SEPARATE:
            for statement in statements(script.path.read_text("utf-8")):
                connection.execute(translated_script(statement, vector_schema).encode())
    connection.execute("SELECT set_config('search_path', %s, true)", [f"{SCHEMA}, pg_temp"])


def _last_number(connection: Connection, schema: str, table: str) -> int:
    sequence = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence(%s, %s)::regclass), 0)"
    name = sql.Identifier(schema, table).as_string()
    ((last,),) = connection.execute(sequence, [name, _NUMBERED[table]]).fetchall()
    return int(last)


def _copy(connection: Connection, tenant: Tenant, table: str) -> None:
    old = sql.Identifier(tenant.name, table)
    find = "SELECT attname::text FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
    names = [name for (name,) in connection.execute(find, [old.as_string()])]
    # the words of the text index begin with their tenant
    chosen = [
        sql.SQL("words_of_tenant(words)") if name == "words" else sql.Identifier(name) for name in names
    ]
    insert = sql.SQL("INSERT INTO {} ({}, {}) SELECT {}, {} FROM {}").format(
        sql.Identifier(SCHEMA, table),
        sql.Identifier(KEY),
        sql.SQL(", ").join(map(sql.Identifier, names)),
        sql.Literal(tenant.number),
        sql.SQL(", ").join(chosen),
        old,
    )
    connection.execute(insert)


def _compare(connection: Connection, tenant: Tenant, table: str) -> None:
    count = sql.SQL("SELECT (SELECT count(*) FROM {}), (SELECT count(*) FROM {} WHERE {} = {})").format(
        sql.Identifier(tenant.name, table),
        sql.Identifier(SCHEMA, table),
        sql.Identifier(KEY),
        sql.Literal(tenant.number),
    )
    ((before, after),) = connection.execute(count).fetchall()
    if before != after:
        raise Unavailable(
            f"The schema {tenant.name} could not be moved: of {before} rows of {table}, {after} arrived.",
            hint="Nothing was changed. Please report this.",
        )


def _empty(connection: Connection, schema: str, tables: list[str]) -> None:
    """Drop the tables that were moved.

    The schema level stays, so that an older program sees a store that is too new for it, rather than an empty one."""
    dropped = sql.SQL(", ").join(sql.Identifier(schema, table) for table in tables)
    connection.execute(sql.SQL("DROP TABLE {} CASCADE").format(dropped))
    for function in _FUNCTIONS:
        name, _, arguments = function.partition("(")
        drop = sql.SQL("DROP FUNCTION IF EXISTS {}(").format(sql.Identifier(schema, name)).as_string()
        connection.execute(f"{drop}{arguments}".encode())
    connection.execute(
        sql.SQL("DROP TEXT SEARCH DICTIONARY IF EXISTS {}").format(sql.Identifier(schema, "stem"))
    )
    record = sql.SQL(
        "INSERT INTO {} (version, name, compat, applied_at) VALUES ({}, 'tenants', {}, {})"
    ).format(sql.Identifier(schema, "migration"), LATEST, LATEST, to_ms(utc_now()))
    connection.execute(record)
