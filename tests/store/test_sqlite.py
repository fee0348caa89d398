"""What is SQLite's own: the file and its rights, damage, and failures in our words."""

from __future__ import annotations

import itertools
import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from backstory.domain.errors import BackstoryError, InvalidInput, NotAllowed, StorageFull, Unavailable
from backstory.domain.filters import Filter, Page
from backstory.domain.words import Unit
from backstory.store.database import Row
from backstory.store.sqlite import SqliteStore

from ..doubles import make_conversation, make_memory, make_messages

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "store.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(path, busy_timeout_s=0.01)) as store:
        yield store


def test_a_time_with_a_fraction_does_not_keep_others_from_being_found(store: SqliteStore) -> None:
    store.memories.put([make_memory("a", "a walrus"), make_memory("b", "a walrus")])
    with store.transaction():
        store.database.change("UPDATE entry SET created_at = created_at + 0.5 WHERE id = 'a'")
    where = Filter(created_after=make_memory("b").created_at - timedelta(days=1))
    assert len(store.text.postings([Unit(("walrus",))], 10, where)[0].entries) == 2


@posix_only
def test_only_the_user_may_read_a_store(store: SqliteStore, path: Path) -> None:
    store.memories.put([make_memory("a")])
    store.backup(path.parent / "backups" / "copy.db")
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in (path.parent, *path.parent.rglob("*"))}
    assert modes == {
        "home": 0o700,
        "backups": 0o700,
        "store.db": 0o600,
        "store.db-wal": 0o600,
        "store.db-shm": 0o600,
        "copy.db": 0o600,
    }


def test_a_backup_is_a_whole_store(store: SqliteStore, tmp_path: Path) -> None:
    store.memories.put([make_memory(f"{n}", "word") for n in range(300)])
    store.conversations.put(make_conversation("c"), make_messages("c", "hello"))
    copy_path = tmp_path / "copies" / "copy.db"
    store.backup(copy_path)
    store.memories.put([make_memory("later", "word")])
    with closing(SqliteStore(copy_path)) as copy:
        assert copy.entries.count(Filter()) == 301
        assert copy.messages.of("c") == store.messages.of("c")
        assert copy.text.postings([Unit(("word",))], 10_000)[0].frequency == 300
        assert copy.problems() == []


def test_a_backup_replaces_an_older_one(store: SqliteStore, tmp_path: Path) -> None:
    copy_path = tmp_path / "copy.db"
    store.memories.put([make_memory("a")])
    store.backup(copy_path)
    store.memories.delete(Filter())
    store.memories.put([make_memory("b")])
    store.backup(copy_path)
    with closing(SqliteStore(copy_path)) as copy:
        assert [memory.id for memory in copy.memories.find(Filter(), Page())] == ["b"]


def test_a_backup_that_cannot_be_written_says_so(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "a-file").write_text("")
    with pytest.raises(Unavailable, match=r"copy\.db cannot be opened"):
        store.backup(tmp_path / "a-file" / "copy.db")


def test_a_writer_that_waits_too_long_is_told_that_the_store_is_busy(store: SqliteStore, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="busy"):
            store.memories.put([make_memory("a")])
        assert store.entries.count(Filter()) == 0, "readers never wait"
        other.execute("ROLLBACK")
    store.memories.put([make_memory("a")])
    assert store.entries.count(Filter()) == 1


def test_opening_a_store_without_a_log_waits_for_whoever_uses_it(path: Path) -> None:
    """SQLite does not wait by itself when the journal mode changes, however long its timeout is."""
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as maker:
        maker.execute("BEGIN IMMEDIATE")
        done = threading.Timer(0.2, lambda: maker.execute("ROLLBACK"))
        done.start()
        try:
            SqliteStore(path).close()
        finally:
            done.join()


def test_a_full_disk_is_storage_full_and_saves_nothing(store: SqliteStore) -> None:
    store.memories.put([make_memory("before", "kept")])
    pages = store.database.rows("PRAGMA page_count")[0][0]
    store.database.rows(f"PRAGMA max_page_count = {pages + 5}")
    with pytest.raises(StorageFull, match="no space left"):
        store.memories.put([make_memory("small", "x"), make_memory("large", "word " * 50_000)])
    assert [memory.id for memory in store.memories.find(Filter(), Page())] == ["before"]
    store.database.rows(f"PRAGMA max_page_count = {pages + 5000}")
    assert store.problems() == []


def test_a_file_that_is_no_database_is_refused_untouched(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("Dear diary, " * 1000)
    with pytest.raises(Unavailable, match="is damaged"):
        SqliteStore(path)
    assert path.read_text() == "Dear diary, " * 1000


def test_a_directory_in_the_place_of_the_file_is_refused(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(Unavailable, match="cannot be opened"):
        SqliteStore(path)


def test_a_file_in_the_place_of_the_directory_is_refused(path: Path) -> None:
    path.parent.write_text("")
    with pytest.raises(BackstoryError, match="cannot be opened"):
        SqliteStore(path)


OPEN_AS_ANOTHER = """
import os, sys
import urllib.parse  # newer Pythons import it when it is needed, which may be in a place that only root can read
from pathlib import Path
from backstory.domain.errors import NotAllowed
from backstory.store.database import Row
from backstory.store.sqlite import SqliteStore
os.chdir(sys.argv[1])
if os.geteuid() == 0:
    os.setuid(65534)
try:
    with SqliteStore(Path(sys.argv[2])).transaction():
        pass
except NotAllowed as error:
    print(error)
"""


@posix_only
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("store.db", "cannot be written: its disk is read-only"),
        ("new.db", "cannot be used: permission denied"),
    ],
)
def test_a_file_or_directory_that_may_not_be_written_is_not_allowed(name: str, message: str) -> None:
    """In a process without privileges: the tests of a container often run as root, who may do anything."""
    with tempfile.TemporaryDirectory(
        prefix="backstory-"
    ) as folder:  # others may not look into those of pytest
        path = Path(folder) / "store.db"
        SqliteStore(path).close()
        path.chmod(0o444)
        path.parent.chmod(0o555)
        try:
            ran = subprocess.run(
                [sys.executable, "-c", OPEN_AS_ANOTHER, folder, name],
                capture_output=True,
                text=True,
                check=True,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            )
        finally:
            path.parent.chmod(0o700)
    assert ran.stdout.startswith(f"{name} {message}")
    assert "Check its owner and mode" in ran.stdout


def test_not_allowed_is_said_when_a_database_turns_read_only(store: SqliteStore) -> None:
    store.database.rows("PRAGMA query_only = ON")
    with pytest.raises(NotAllowed, match="cannot be written"):
        store.memories.put([make_memory("a")])


def test_a_key_that_is_missing_from_its_index_is_a_problem(store: SqliteStore) -> None:
    store.memories.put([make_memory("a", key="first")])
    with store.transaction():
        store.database.change("DELETE FROM key_text_docsize")
    assert any("1 keys are not in the key index" in problem for problem in store.problems())


def test_a_healthy_store_has_no_problems(store: SqliteStore) -> None:
    assert store.problems() == []
    store.vectors.open_space("model")
    store.memories.put([make_memory("a"), make_memory("b", "東京 getUserName")])
    store.memories.put([make_memory("a", "changed")])
    store.memories.delete(Filter(ids=("b",)))
    assert store.problems() == []


def test_a_vector_of_nothing_is_a_problem(store: SqliteStore, path: Path) -> None:
    store.vectors.open_space("model")
    with closing(sqlite3.connect(path)) as vandal:
        vandal.execute("INSERT INTO vector (space, entry, signs, code) VALUES (1, 99, x'00', x'00')")
        vandal.commit()
    assert store.problems() == ["rows: vector row 1 refers to nothing in entry"]


def test_a_broken_text_index_is_a_problem(store: SqliteStore, path: Path) -> None:
    store.memories.put([make_memory("a", "words to index")])
    with closing(sqlite3.connect(path)) as vandal:
        vandal.execute("UPDATE entry_text_data SET block = x'00' WHERE id > 100")
        vandal.commit()
    (problem,) = store.problems()
    assert problem.startswith("text index: ")


def test_a_text_that_is_not_in_the_text_index_is_a_problem(store: SqliteStore, path: Path) -> None:
    store.memories.put([make_memory("a", "words to index")])
    with closing(sqlite3.connect(path)) as vandal:
        vandal.execute("INSERT INTO entry_text (entry_text) VALUES ('delete-all')")
        vandal.commit()
    assert store.problems() != []


def test_an_overwritten_page_is_a_problem_not_a_crash(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        store.memories.put([make_memory(f"{n}", "word " * 100) for n in range(1_000)])
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        for page in range(size // 4096 // 2, size // 4096, 3):
            file.seek(page * 4096)
            file.write(b"\xa5" * 4096)
    with closing(SqliteStore(path)) as store:
        assert store.problems() != []


def test_a_store_in_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="A store is a file"):
        SqliteStore(Path(":memory:"))
    assert list(tmp_path.iterdir()) == []


def test_a_place_without_write_ahead_logs_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.connect
    # a database in memory has no such log either, like one on some network drives
    monkeypatch.setattr(sqlite3, "connect", lambda path, **options: connect(":memory:", **options))
    with pytest.raises(Unavailable, match="write-ahead log"):
        SqliteStore(path)


def test_a_few_entries_are_looked_up_by_their_numbers_whatever_is_asked_of_their_session(
    store: SqliteStore,
) -> None:
    store.memories.put([make_memory(f"m{n}", session="s") for n in range(50)])
    source, numbers = store.database.chosen_entries([3, 1, 2, 3])
    condition = "e.kind = 'memory' AND e.thread = 's' AND e.project = '/p' ORDER BY e.created_at DESC"
    plan = store.database.rows(f"EXPLAIN QUERY PLAN SELECT e.n FROM {source} WHERE {condition}", [numbers])
    assert any("SEARCH e USING INTEGER PRIMARY KEY" in step[-1] for step in plan)
    rows = store.database.rows(f"SELECT e.n FROM {source} WHERE {condition}", [numbers])
    assert sorted(n for (n,) in rows) == [1, 2, 3]


def test_what_is_added_while_filters_are_read_is_known_at_the_next_look(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.memories.put([make_memory("first")])
    late, rows = [make_memory("late")], store.database.rows

    def rows_while_others_write(sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        found = rows(sql, parameters)
        while "max(n)" in sql and late:
            store.memories.put([late.pop()])
        return found

    monkeypatch.setattr(store.database, "rows", rows_while_others_write)
    seen = []
    for _ in range(2):
        passing = store.entries.passing(Filter(projects=("/p",)))
        assert passing is not None
        seen.append(int(passing.flags.sum()))
    assert seen == [1, 2]


def test_a_backup_is_sound_and_complete_though_others_write_meanwhile(tmp_path: Path) -> None:
    path, is_enough = tmp_path / "store.db", threading.Event()

    def write() -> None:
        with closing(SqliteStore(path)) as other:
            for number in itertools.count():
                other.memories.put([make_memory(f"{number}")])
                if is_enough.is_set():
                    return

    with closing(SqliteStore(path)) as store, ThreadPoolExecutor(1) as thread:
        writing = thread.submit(write)
        try:
            rows = [store.backup(tmp_path / f"copy{number}.db") for number in range(10)]
        finally:
            is_enough.set()
        writing.result()
    assert all(rows)
    for number in range(10):
        with closing(SqliteStore(tmp_path / f"copy{number}.db", is_copy=True)) as copy:
            assert copy.problems() == []
