"""Many processes on one store: nothing that was acknowledged is lost, nobody is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

import pytest

from backstory.domain.filters import Filter
from backstory.domain.words import Unit
from backstory.store.migrate import LATEST

from .. import postgres_server
from ..conftest import OpenStore
from ..patience import PATIENCE_S

WRITER = Path(__file__).with_name("writer.py")


class Place(NamedTuple):
    """Where another process finds the test's store."""

    address: str
    schema: str


@pytest.fixture
def place(request: pytest.FixtureRequest, open_store: OpenStore, tmp_path: Path) -> Place:
    """Where the test's store will be: nobody has opened it yet."""
    if request.node.callspec.params["open_store"] == "postgres":
        postgres_server.drop(postgres_server.SHARED)
        return Place(postgres_server.url(), postgres_server.SHARED)
    return Place(str(tmp_path / "store.db"), "")


class Writer:
    def __init__(self, place: Place, name: str, count: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(WRITER), place.address, name, str(count), place.schema],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin: IO[str] = self.process.stdin
        self.stdout: IO[str] = self.process.stdout

    def go(self) -> None:
        self.stdin.write("go\n")
        self.stdin.flush()

    def finish(self) -> list[str]:
        """The ids that were acknowledged by the time it ended."""
        acknowledged = self.stdout.read()  # communicate would pass over what readline has buffered
        self.process.wait(PATIENCE_S)
        return acknowledged.split()


@pytest.fixture
def start() -> Iterator[list[Writer]]:
    started: list[Writer] = []
    yield started
    for writer in started:
        writer.process.kill()
        writer.process.communicate()


@pytest.mark.requirement("server.saved-is-durable")
def test_what_was_acknowledged_survives_though_a_writer_is_killed(
    start: list[Writer], place: Place, open_store: OpenStore
) -> None:
    start += [Writer(place, name, 50) for name in "abcd"]
    for writer in start:
        writer.go()
    victim = start[0]
    acknowledged = [victim.stdout.readline().strip() for _ in range(10)]
    victim.process.kill()
    for writer in start:
        acknowledged += writer.finish()
    assert [writer.process.returncode for writer in start[1:]] == [0, 0, 0]
    assert len(acknowledged) >= 160
    store = open_store()
    assert store.problems() == []
    assert store.entries.count(Filter(ids=tuple(acknowledged))) == len(acknowledged)
    total = store.entries.count(Filter())
    assert total - len(acknowledged) <= 1, "at most one text was committed and not yet acknowledged"
    assert store.text.postings([Unit(("text",))], 10_000)[0].frequency == total


def test_processes_that_open_a_fresh_store_at_once_make_it_once(
    start: list[Writer], place: Place, open_store: OpenStore
) -> None:
    start += [Writer(place, name, 1) for name in "abcdef"]
    for writer in start:
        writer.go()
    assert sorted(id for writer in start for id in writer.finish()) == [f"{name}-0" for name in "abcdef"]
    versions = open_store().database.rows("SELECT version FROM migration ORDER BY version")
    assert [row[0] for row in versions] == list(range(1, LATEST + 1))
