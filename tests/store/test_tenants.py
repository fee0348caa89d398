"""Many tenants in the tables of one schema: their keys, the two walls between them, and the stores that had a schema each."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from backstory.app import guest_derivations
from backstory.core import Caller, Core, Engine
from backstory.domain.errors import Unavailable
from backstory.domain.filters import Filter, Page
from backstory.domain.words import Unit
from backstory.store import migrate
from backstory.store.postgres import PostgresStore, dialect, move
from backstory.store.postgres import pool as pool_module
from backstory.store.postgres.layout import PARTITIONS, SCHEMA, partition
from backstory.store.postgres.pool import PostgresPool
from backstory.store.postgres.scope import MARK, scoped
from backstory.store.tables import TABLES, TENANT_TABLES

from .. import postgres_server
from ..doubles import HashedWords, SteppedClock, counted_ids, make_memory, make_settings
from ..filled_store import fill

ANN, BEN = "user-ann", "user-ben"
SEPARATE = Path(__file__).with_name("separate_schema.sql")
"""`pg_dump` of a store in a schema of its own, filled by the last version that made such stores."""


@pytest.fixture
def member(url: str) -> Iterator[psycopg.Connection[Any]]:
    """The user of the stores, past the stores."""
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def admin(url: str) -> psycopg.Connection[Any]:
    return psycopg.connect(url.replace(f"//{postgres_server.MEMBER}:", "//postgres:"), autocommit=True)


def texts(store: PostgresStore) -> dict[str, str]:
    return {memory.id: memory.text for memory in store.memories.find(Filter(), Page(limit=1000))}


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (
            "SELECT e.n FROM entry e WHERE a OR b",
            "SELECT e.n FROM (SELECT * FROM entry WHERE tenant_number = 7) e WHERE a OR b",
        ),
        (
            "SELECT n FROM entry, space LEFT JOIN link ON a = b",
            "SELECT n FROM (SELECT * FROM entry WHERE tenant_number = 7) AS entry, (SELECT * FROM space WHERE tenant_number = 7) AS space"
            " LEFT JOIN (SELECT * FROM link WHERE tenant_number = 7) AS link ON a = b",
        ),
        ("DELETE FROM entry", "DELETE FROM entry WHERE entry.tenant_number = 7 "),
        (
            "UPDATE entry e SET a = 1 WHERE b OR c RETURNING n",
            "UPDATE entry e SET a = 1 WHERE e.tenant_number = 7 AND ( b OR c ) RETURNING n",
        ),
        (
            "SELECT n FROM entry WHERE a OR b ORDER BY n FOR UPDATE SKIP LOCKED",
            "SELECT n FROM entry WHERE entry.tenant_number = 7 AND ( a OR b ) ORDER BY n FOR UPDATE SKIP LOCKED",
        ),
        (
            "INSERT INTO lease (name) VALUES (?), (lower(?)) ON CONFLICT (name) DO UPDATE SET a = 1",
            "INSERT INTO lease (tenant_number, name) VALUES (7, ?), (7, lower(?)) ON CONFLICT (tenant_number, name) DO UPDATE SET a = 1",
        ),
        (
            "INSERT INTO link (a) SELECT b FROM entry UNION SELECT 1 ON CONFLICT DO NOTHING",
            "INSERT INTO link (tenant_number, a) SELECT 7, b FROM (SELECT * FROM entry WHERE tenant_number = 7) AS entry UNION SELECT 7, 1"
            " ON CONFLICT DO NOTHING",
        ),
        ("SELECT 'FROM entry', entry FROM tenant", "SELECT 'FROM entry', entry FROM tenant"),
    ],
)
def test_every_table_of_a_statement_gets_the_key_of_its_tenant(statement: str, expected: str) -> None:
    assert scoped(statement).replace(MARK, "7") == expected


def test_every_key_and_index_begins_with_the_tenant(
    pool: PostgresPool, member: psycopg.Connection[Any]
) -> None:
    PostgresStore(pool, tenant=ANN)
    indexes = member.execute(
        "SELECT c.relname::text, pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid"
        " WHERE c.relnamespace = %s::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition",
        [SCHEMA],
    ).fetchall()
    assert {table for table, _ in indexes} == {name for name in TABLES if TABLES[name].only_in != "sqlite"}
    late = [
        definition
        for table, definition in indexes
        if table in TENANT_TABLES
        and not re.search(r"USING (btree \(tenant_number, |gin \(words\))", definition)
    ]
    assert late == []


def test_row_level_security_holds_for_every_table_of_a_tenant(
    pool: PostgresPool, member: psycopg.Connection[Any]
) -> None:
    PostgresStore(pool, tenant=ANN)
    walled = member.execute(
        "SELECT c.relname::text FROM pg_class c WHERE c.relnamespace = %s::regnamespace AND c.relrowsecurity"
        " AND c.relforcerowsecurity AND EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid)",
        [SCHEMA],
    ).fetchall()
    assert {name for (name,) in walled} == set(TENANT_TABLES)


def test_a_statement_without_the_key_meets_no_row_of_another_tenant(
    pool: PostgresPool, member: psycopg.Connection[Any]
) -> None:
    ann, ben = (PostgresStore(pool, tenant=name) for name in (ANN, BEN))
    ann.memories.put([make_memory("a", "words of ann", key="k")])
    ben.memories.put([make_memory("b", "words of ben", key="k")])
    with member.transaction():
        settings = (("search_path", SCHEMA), ("backstory.tenant", str(ben.database.tenant.number)))
        for setting in settings:
            member.execute("SELECT set_config(%s, %s, true)", setting)
        assert member.execute("SELECT id FROM entry").fetchall() == [("b",)]
        words = "SELECT entry FROM entry_text WHERE words @@ unit_query(ARRAY['words'], FALSE)"
        assert len(member.execute(words.encode()).fetchall()) == 1
        for statement in ("DELETE FROM entry", "DELETE FROM entry_text", "UPDATE entry SET text = ''"):
            member.execute(statement.encode())
    assert texts(ann) == {"a": "words of ann"}
    assert ann.problems() == []
    assert len(ann.text.holding(Unit(("ann",)))) == 1
    strange = f"INSERT INTO {SCHEMA}.counter (tenant_number, name, value) VALUES ({ann.database.tenant.number:d}, 'x', 1)"
    member.execute("SELECT set_config('backstory.tenant', %s, false)", [str(ben.database.tenant.number)])
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        member.execute(strange.encode())


def test_without_a_tenant_nothing_can_be_asked(pool: PostgresPool, member: psycopg.Connection[Any]) -> None:
    PostgresStore(pool, tenant=ANN)
    with pytest.raises(psycopg.Error, match=r"backstory\.tenant|invalid input syntax"):
        member.execute(f"SELECT count(*) FROM {SCHEMA}.entry".encode())


def test_numbers_of_entries_are_dense_in_each_tenant(pool: PostgresPool) -> None:
    stores = [PostgresStore(pool, tenant=name) for name in (ANN, BEN)]

    def fail() -> None:
        with stores[0].transaction():
            stores[0].memories.put([make_memory("undone")])
            raise Unavailable("Stop.")

    for number in range(3):
        for store in stores:
            store.memories.put([make_memory(f"{number}a"), make_memory(f"{number}b")])
        with pytest.raises(Unavailable, match="Stop"):
            fail()
    for store in stores:
        assert store.database.values("SELECT n FROM entry ORDER BY n") == [1, 2, 3, 4, 5, 6]
        assert store.database.last_number() == 6


def test_a_tenant_knows_the_partition_of_its_rows(url: str, pool: PostgresPool) -> None:
    stores = [PostgresStore(pool, tenant=f"user-{number}") for number in range(3 * PARTITIONS)]
    for store in stores:
        store.memories.put([make_memory("a")])
    with admin(url) as connection:
        places = dict(
            connection.execute(f"SELECT tenant_number, tableoid::regclass::text FROM {SCHEMA}.entry".encode())
        )
    expected = {
        tenant.number: partition("entry", tenant.part)
        for tenant in (store.database.tenant for store in stores)
    }
    assert {number: place.removeprefix(f"{SCHEMA}.") for number, place in places.items()} == expected
    assert len(set(expected.values())) > 1


def test_one_partition_is_read_for_a_tenant_with_row_level_security(pool: PostgresPool) -> None:
    store = PostgresStore(pool, tenant=ANN)
    plan = str(
        store.database.rows(
            "EXPLAIN SELECT e.id FROM entry e JOIN shape s ON s.n = e.n WHERE e.kind = 'memory'"
        )
    )
    part = store.database.tenant.part
    assert set(re.findall(r"(?:entry|shape)_p(\d)\b", plan)) == {str(part)}


def test_servers_that_start_together_make_one_tenant(url: str) -> None:
    with (
        closing(PostgresPool(url)) as one,
        closing(PostgresPool(url)) as two,
        ThreadPoolExecutor(8) as threads,
    ):
        stores = threads.map(lambda pool: PostgresStore(pool, tenant=ANN), [one, two] * 4)
        assert len({store.database.tenant for store in stores}) == 1


def test_a_script_changes_the_rows_of_every_tenant_and_new_tables_get_their_key(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(PostgresPool(url)) as pool:
        for name in (ANN, BEN):
            PostgresStore(pool, tenant=name).memories.put([make_memory(name, f"of {name}")])
    declared = TABLES["dismissal"]._replace(name="novelty", key=("id",), columns=("id", "n"))
    monkeypatch.setitem(TENANT_TABLES, "novelty", declared)
    shutil.copytree(migrate._SCRIPTS, tmp_path / "scripts")
    script = (
        "CREATE TABLE novelty (id TEXT PRIMARY KEY, n BIGINT NOT NULL REFERENCES entry (n) ON DELETE CASCADE);\n"
        "CREATE INDEX novelty_n ON novelty (n);\n"
        "INSERT INTO novelty (id, n) SELECT id, n FROM entry;\nUPDATE entry SET heading = text;\n"
    )
    (tmp_path / "scripts" / f"{migrate.LATEST + 1:04}_next.sql").write_text(script)
    monkeypatch.setattr(migrate, "_SCRIPTS", tmp_path / "scripts")
    monkeypatch.setattr(migrate, "LATEST", migrate.LATEST + 1)
    scoped.cache_clear()
    with closing(PostgresPool(url)) as pool:
        for name in (ANN, BEN):
            store = PostgresStore(pool, tenant=name)
            assert store.database.rows("SELECT id, n FROM novelty") == [(name, 1)]
            assert store.database.rows("SELECT heading FROM entry") == [(f"of {name}",)]
        assert store.memories.delete(Filter()) == 1
        assert store.database.rows("SELECT id FROM novelty") == []
        assert PostgresStore(pool, tenant=ANN).database.rows("SELECT id FROM novelty") == [(ANN,)]
    scoped.cache_clear()


@pytest.fixture
def separate(url: str) -> str:
    """A database from before tenants shared their tables, with the store of one."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SEPARATE.read_bytes())
    return url


def tables_of(url: str, schema: str) -> list[str]:
    """The tables of a schema that hold rows of a tenant."""
    sql = "SELECT relname::text FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = 'r'"
    with admin(url) as connection:
        names = [name for (name,) in connection.execute(sql, [f'"{schema}"'])]
    return [name for name in names if name != "migration"]


def rows_of(url: str, schema: str, tables: list[str]) -> dict[str, list[str]]:
    with admin(url) as connection:
        return {
            table: sorted(
                str(row)
                for (row,) in connection.execute(
                    f"SELECT to_jsonb(t) - 'tenant_number' - 'words' FROM \"{schema}\".{table} t".encode()
                )
            )
            for table in tables
        }


def test_a_store_with_a_schema_of_its_own_is_moved_whole(separate: str) -> None:
    tables = tables_of(separate, ANN)
    before = rows_of(separate, ANN, tables)
    assert all(
        before[name] for name in ("entry", "embedding", "entry_text", "former", "mention", "checkpoint")
    )
    with closing(PostgresPool(separate)) as pool:
        assert pool.tenants() == [ANN]
        PostgresStore(pool, tenant=BEN)
        ann = PostgresStore(pool, tenant=ANN)
        assert pool.tenants() == [ANN, BEN]
        # migrations since then added a column; the rows that were moved have its default
        expected = before | {
            "audited": [
                row.replace("'credential'", "'memories': '', 'credential'") for row in before["audited"]
            ]
        }
        assert rows_of(separate, SCHEMA, tables) == expected
        assert ann.problems() == []
        assert len(ann.text.holding(Unit(("tokenrepository",)))) > 0
        assert len(ann.text.holding(Unit(("token",), is_prefix=True))) > 0
        last = ann.database.last_number()
        ann.memories.put([make_memory("new", "a new one")])
        assert ann.database.values("SELECT n FROM entry WHERE id = 'new'") == [last + 1]
        assert texts(PostgresStore(pool, tenant=BEN)) == {}
    assert tables_of(separate, ANN) == []
    with admin(separate) as connection:
        ((compat,),) = connection.execute(f'SELECT max(compat) FROM "{ANN}".migration').fetchall()
        assert compat == migrate.LATEST


def test_an_older_schema_is_brought_up_to_date_before_it_is_moved(separate: str) -> None:
    with psycopg.connect(separate, autocommit=True) as connection:
        connection.execute(f'SET search_path = "{ANN}"')
        for table in ("stored_export", "key_set"):
            connection.execute(f"DROP TABLE {table}".encode())
        connection.execute("DELETE FROM migration WHERE version >= 37")
    before = rows_of(separate, ANN, ["entry", "memory_change"])
    with closing(PostgresPool(separate)) as pool:
        assert PostgresStore(pool, tenant=ANN).problems() == []
        assert rows_of(separate, SCHEMA, ["entry", "memory_change"]) == before


def test_a_move_that_fails_changes_nothing_and_is_begun_again(
    separate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = ["entry", "entry_text", "embedding", "link"]
    before = rows_of(separate, ANN, tables)
    empty = move._empty

    def fail(*_: object) -> None:
        raise psycopg.OperationalError("The server was killed.")

    monkeypatch.setattr(move, "_empty", fail)
    with closing(PostgresPool(separate)) as pool:
        with pytest.raises(Unavailable):
            PostgresStore(pool, tenant=ANN)
        assert rows_of(separate, ANN, tables) == before
        assert rows_of(separate, SCHEMA, tables) == {table: [] for table in tables}
        monkeypatch.setattr(move, "_empty", empty)
        assert PostgresStore(pool, tenant=ANN).problems() == []
        assert rows_of(separate, SCHEMA, tables) == before


LOGGED = {
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_format": "json",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_verbose": "on",
    "auto_explain.log_level": "notice",
}
SCANS = {"Seq Scan", "Index Scan", "Index Only Scan", "Bitmap Index Scan", "Tid Scan", "Sample Scan"}


def test_no_example_call_of_any_tool_reads_a_table_without_the_key_of_its_tenant(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the plans that PostgreSQL itself executed, also those inside of functions and triggers, for a superuser, for whom no
    policy adds anything: the key is in the statement."""
    with admin(url) as connection:
        for name, value in LOGGED.items():
            connection.execute(f"ALTER ROLE postgres IN DATABASE own SET {name} = '{value}'".encode())
    plans: list[Any] = []

    def listen(connection: psycopg.Connection) -> None:
        dialect.adapt_values(connection)
        connection.add_notice_handler(lambda notice: plans.extend(read_plans(notice.message_primary or "")))

    monkeypatch.setattr(pool_module, "adapt_values", listen)
    with closing(PostgresPool(url)) as pool:  # the owner of the tables
        PostgresStore(pool, tenant=ANN)
    superuser = url.replace(f"//{postgres_server.MEMBER}:", "//postgres:")
    with closing(PostgresPool(superuser)) as pool, closing(PostgresStore(pool, tenant=ANN)) as store:
        engine = Engine(
            make_settings(tmp_path),
            store,
            HashedWords(),
            now=SteppedClock(),
            new_id=counted_ids(),
            derivations=guest_derivations,
        )
        fill(Core(engine, Caller(project="/p")), tmp_path)
        engine.close()
        key = f"tenant_number = {store.database.tenant.number}"
    scans = [
        (plan["Query Text"], scan)
        for plan in plans
        for scan in scans_of(plan["Plan"])
        if table_of(scan) in TENANT_TABLES
    ]
    assert {table_of(scan) for _, scan in scans} >= {
        "entry",
        "entry_text",
        "embedding",
        "former",
        "conversation",
        "session",
    }
    assert {
        (text, scan["Node Type"], table_of(scan)) for text, scan in scans if not has_key(scan, key)
    } == set()


def read_plans(notice: str) -> Iterator[Any]:
    if match := re.match(r"duration: [\d.]+ ms  plan:\n(.*)", notice, re.DOTALL):
        yield json.loads(match[1])


def scans_of(node: Any) -> Iterator[Any]:
    if node["Node Type"] in SCANS:
        yield node
    for child in node.get("Plans", ()):
        yield from scans_of(child)


def table_of(scan: Any) -> str:
    """The table that a scan reads; an index is named after its table, or after the partition."""
    name = scan.get("Relation Name", scan.get("Index Name", ""))
    name = re.sub(r"_p\d(_.*)?$", "", name)
    return next(
        (table for table in sorted(TENANT_TABLES, key=len, reverse=True) if name.startswith(table)), name
    )


def has_key(scan: Any, key: str) -> bool:
    """A statement has the number, a function the variable that it took from the transaction; words begin with theirs."""
    conditions = " ".join(
        str(scan.get(name, "")) for name in ("Index Cond", "Recheck Cond", "Filter", "TID Cond")
    )
    conditions = re.sub(r"\w+\.tenant_number", "tenant_number", conditions)
    return (
        key in conditions
        or re.search(r"tenant_number = (\$\d|own|current_setting|new\.)", conditions) is not None
        or ("words @@" in conditions)
    )
