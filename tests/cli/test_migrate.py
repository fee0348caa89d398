"""`backstory migrate`: a user's store, or a whole team server's, between SQLite and PostgreSQL."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from backstory.domain.filters import Filter, Page
from backstory.store.postgres import PostgresStore
from backstory.store.sqlite import SqliteStore

from ..doubles import make_memory
from ..patience import until
from ..postgres_server import PASSWORD, own_database
from ..processes import BACKSTORY, Json, environment
from ..typed import typed


@pytest.fixture
def url() -> Iterator[str]:
    with own_database("moved") as url:
        yield url


def fill(path: Path, count: int) -> None:
    with closing(SqliteStore(path)) as store:
        store.memories.put([make_memory(f"{path.stem}-{n}", f"text {n}") for n in range(count)])


def ids(path: Path) -> list[str]:
    with closing(SqliteStore(path)) as store:
        return sorted(memory.id for memory in store.memories.find(Filter(), Page()))


def migrate(home: Path, source: str, target: str, *words: str) -> Json:
    done = typed("migrate", "--from", source, "--to", target, "--json", *words, home=home)
    assert PASSWORD not in done.stdout + done.stderr
    assert done.returncode == 0, done.stderr
    body: Json = json.loads(done.stdout)
    return body


def test_a_team_servers_stores_go_there_and_back(tmp_path: Path, url: str) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    names = ["store.db", "team.db", "spaces/team-ops.db", "spaces/user-alice.db"]
    for count, name in enumerate(names, 1):
        fill(here / name, count)
    told = migrate(tmp_path, f"sqlite:///{here}/store.db", url)
    assert told["ok"]
    rows = {store["space"]: store["tables"]["entry"]["to"]["rows"] for store in told["stores"]}
    assert rows == {"": 1, "team": 2, "team-ops": 3, "user-alice": 4}
    again = migrate(tmp_path, url, f"sqlite:///{there}/store.db")
    assert {name: ids(there / name) for name in names} == {name: ids(here / name) for name in names}
    hashes = [
        {store["space"]: [each["to"] for each in store["tables"].values()] for store in moved["stores"]}
        for moved in (told, again)
    ]
    assert hashes[0] == hashes[1]


def test_one_space_can_be_moved_alone(tmp_path: Path, url: str) -> None:
    fill(tmp_path / "store.db", 1)
    fill(tmp_path / "spaces" / "user-alice.db", 2)
    source = f"sqlite:///{tmp_path}/store.db"
    told = migrate(tmp_path, source, url, "--space", "user-alice")
    assert [store["space"] for store in told["stores"]] == ["user-alice"]
    unknown = typed("migrate", "--from", source, "--to", url, "--space", "user-bob", home=tmp_path)
    assert unknown.returncode == 1
    assert "user-alice" in unknown.stderr


def test_a_killed_move_is_finished_by_the_next(tmp_path: Path, url: str) -> None:
    fill(tmp_path / "store.db", 2_000)
    source = f"sqlite:///{tmp_path}/store.db"
    words = ["migrate", "--from", source, "--to", url]
    PostgresStore(url).close()
    with psycopg.connect(url.replace("//member:", "//postgres:"), autocommit=True) as watching:
        watching.execute(HALT)
        watching.execute("SELECT pg_advisory_lock(1)")
        with subprocess.Popen([*BACKSTORY, *words], env=environment(tmp_path)) as process:
            until(lambda: arrived(watching) > 0)
            process.kill()
        assert arrived(watching) < 2_000
    told = migrate(tmp_path, source, url)
    assert told["stores"][0]["tables"]["entry"]["to"]["rows"] == 2_000


HALT = """
CREATE FUNCTION halt() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END';
CREATE TRIGGER halt BEFORE INSERT ON backstory.entry FOR EACH ROW WHEN (NEW.n = 1001) EXECUTE FUNCTION halt();
"""
"""Whoever copies comes no further than the middle while somebody else has the lock."""


def arrived(connection: psycopg.Connection[tuple[int]]) -> int:
    ((count,),) = connection.execute("SELECT count(*) FROM backstory.entry").fetchall()
    return count


def test_a_move_that_was_killed_between_two_stores_is_finished_by_the_next(tmp_path: Path, url: str) -> None:
    """And one that was killed after the last may be given again."""
    fill(tmp_path / "store.db", 1)
    fill(tmp_path / "spaces" / "user-alice.db", 2)
    source = f"sqlite:///{tmp_path}/store.db"
    migrate(tmp_path, source, url, "--space", "user-alice")
    for _ in range(2):
        told = migrate(tmp_path, source, url)
        assert [store["tables"]["entry"]["to"]["rows"] for store in told["stores"]] == [1, 2]


def test_it_refuses_what_is_not_there_and_what_is_not_empty(tmp_path: Path, url: str) -> None:
    missing, full = f"sqlite:///{tmp_path}/missing.db", f"sqlite:///{tmp_path}/store.db"
    fill(tmp_path / "store.db", 1)
    migrate(tmp_path, full, url)
    for source, target, reason in (
        (url, full, "not empty"),
        (missing, url, "no store at"),
        (full, full, "the same store"),
        (full, "mysql://x", "not a store"),
    ):
        refused = typed("migrate", "--from", source, "--to", target, home=tmp_path)
        assert refused.returncode == 2
        assert reason in refused.stderr
        assert PASSWORD not in refused.stderr
    assert not (tmp_path / "missing.db").exists()
