"""Many processes on one file: nothing that was acknowledged is lost, nobody is refused."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO

import pytest

from backstory.domain.filters import Filter
from backstory.domain.words import Unit
from backstory.store.migrate import LATEST
from backstory.store.sqlite import SqliteStore

WRITER = Path(__file__).with_name("writer.py")


class Writer:
    def __init__(self, path: Path, name: str, count: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(WRITER), str(path), name, str(count)],
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
        acknowledged, _ = self.process.communicate(timeout=60)
        return acknowledged.split()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[list[Writer]]:
    started: list[Writer] = []
    yield started
    for writer in started:
        writer.process.kill()
        writer.process.communicate()


@pytest.mark.requirement("server.saved-is-durable")
def test_what_was_acknowledged_survives_though_a_writer_is_killed(
    start: list[Writer], tmp_path: Path
) -> None:
    path = tmp_path / "store.db"
    start += [Writer(path, name, 50) for name in "abcd"]
    for writer in start:
        writer.go()
    victim = start[0]
    acknowledged = [victim.stdout.readline().strip() for _ in range(10)]
    victim.process.kill()
    for writer in start:
        acknowledged += writer.finish()
    assert [writer.process.returncode for writer in start[1:]] == [0, 0, 0]
    assert len(acknowledged) >= 160
    with closing(SqliteStore(path)) as store:
        assert store.problems() == []
        assert store.count(Filter(ids=tuple(acknowledged))) == len(acknowledged)
        total = store.count(Filter())
        assert total - len(acknowledged) <= 1, "at most one text was committed and not yet acknowledged"
        assert store.postings([Unit(("text",))], 10_000)[0].frequency == total


def test_processes_that_open_a_fresh_store_at_once_make_it_once(start: list[Writer], tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    start += [Writer(path, name, 1) for name in "abcdef"]
    for writer in start:
        writer.go()
    assert sorted(id for writer in start for id in writer.finish()) == [f"{name}-0" for name in "abcdef"]
    with closing(sqlite3.connect(path)) as database:
        versions = [row[0] for row in database.execute("SELECT version FROM migration ORDER BY version")]
    assert versions == list(range(1, LATEST + 1))
