"""A store's file that is deleted, moved, replaced, overwritten or cut short while it is open: nothing that was
acknowledged is in no file, and what is no whole store is refused with the way to its backups."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from backstory.domain.errors import Unavailable
from backstory.domain.filters import Filter, Page
from backstory.domain.words import Unit
from backstory.store.sqlite import SqliteStore
from backstory.store.sqlite.header import read_header

from ..doubles import make_memory

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows does not let go of a file that is open"
)

WRITER = Path(__file__).with_name("writer.py")
Replace = Callable[[Path, Path], object]
"""Put the second file in the place of the first."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backstory.store.sqlite.pool.LOOK_EVERY_S", 0.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "store.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(path, busy_timeout_s=5)) as store:
        yield store


def save(store: SqliteStore, *ids: str) -> None:
    store.memories.put([make_memory(id, f"text of {id}") for id in ids])


def ids(store: SqliteStore) -> list[str]:
    return sorted(memory.id for memory in store.memories.find(Filter(), Page()))


def ids_in(path: Path) -> list[str]:
    with closing(SqliteStore(path)) as store:
        assert store.problems() == []
        return ids(store)


def rename(path: Path, other: Path) -> None:
    os.replace(other, path)


def overwrite(path: Path, other: Path) -> None:
    """As `cp` does: the file stays, its bytes do not."""
    path.write_bytes(other.read_bytes())


def move_both(path: Path, other: Path) -> None:
    path.rename(path.with_name("moved.db"))
    other.rename(path)


REPLACEMENTS = pytest.mark.parametrize("replace", [rename, overwrite, move_both])


@pytest.fixture
def other(store: SqliteStore, tmp_path: Path) -> Path:
    """A backup of the store when it held `old` alone."""
    save(store, "old")
    store.backup(tmp_path / "other.db")
    save(store, *(f"new-{n}" for n in range(50)))
    return tmp_path / "other.db"


@REPLACEMENTS
def test_the_store_that_is_there_now_is_used(
    store: SqliteStore, path: Path, other: Path, replace: Replace
) -> None:
    replace(path, other)
    assert ids(store) == ["old"]
    save(store, "after")
    assert store.problems() == []
    store.close()
    assert ids_in(path) == ["after", "old"]


@pytest.mark.parametrize("is_meanwhile", [False, True])
def test_words_are_found_in_the_store_that_is_there_now(
    store: SqliteStore, path: Path, other: Path, is_meanwhile: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when it is replaced, and another call notices, after a search has looked how far the index goes."""
    database, known = store.database, Unit(("text",))
    pairs = database.pairs

    def pairs_and_more(sql: str, parameters: Sequence[Any] = ()) -> dict[Any, Any]:
        found = pairs(sql, parameters)
        rename(path, other)
        ids(store)
        return found

    assert len(store.text.holding(known)) == 51
    if is_meanwhile:
        with monkeypatch.context() as during:
            during.setattr(database, "pairs", pairs_and_more)
            store.text.holding(known)
    else:
        rename(path, other)
    save(store, "after")
    assert store.text.holding(known).tolist() == [2, 1]


@REPLACEMENTS
def test_a_save_that_comes_first_goes_to_the_store_that_is_there_now(
    store: SqliteStore, path: Path, other: Path, replace: Replace
) -> None:
    replace(path, other)
    save(store, "after")
    assert ids_in(path) == ["after", "old"]


@REPLACEMENTS
def test_another_process_may_find_the_new_store_first(
    store: SqliteStore, path: Path, other: Path, replace: Replace
) -> None:
    """With the log of the former one beside it."""
    replace(path, other)
    command = [sys.executable, str(WRITER), str(path), "second", "1"]
    subprocess.run(command, input="go\n", text=True, check=True, stdout=subprocess.DEVNULL)
    save(store, "first")
    assert ids(store) == ["first", "old", "second-0"]
    store.close()
    assert ids_in(path) == ["first", "old", "second-0"]


@REPLACEMENTS
def test_closing_an_idle_store_leaves_the_new_one_as_it_is(
    store: SqliteStore, path: Path, other: Path, replace: Replace
) -> None:
    replace(path, other)
    store.close()
    assert ids_in(path) == ["old"]


def test_a_log_that_was_left_by_a_crash_is_kept_out_of_another_store(
    store: SqliteStore, path: Path, other: Path, tmp_path: Path
) -> None:
    crashed = tmp_path / "crashed"
    shutil.copytree(path.parent, crashed)
    (crashed / "store.db-shm").unlink()
    os.replace(other, crashed / "store.db")
    assert ids_in(crashed / "store.db") == ["old"]
    (log,) = (crashed / "backups").glob("*-log.wal")
    assert log.read_bytes() == (path.parent / "store.db-wal").read_bytes()


def test_a_log_is_kept_out_of_an_older_copy_of_the_same_file(path: Path, tmp_path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        save(store, "old")
    older = tmp_path / "older.db"
    shutil.copyfile(path, older)
    with closing(SqliteStore(path)) as store:
        save(store, "a")
    with closing(SqliteStore(path)) as store:
        save(store, "b")
        overwrite(path, older)
        assert ids(store) == ["old"]
        save(store, "c")
    assert ids_in(path) == ["c", "old"]


def test_a_log_belongs_to_a_copy_that_was_made_while_it_was_written(
    store: SqliteStore, path: Path, tmp_path: Path
) -> None:
    save(store, "a")
    early = tmp_path / "early.db"
    shutil.copyfile(path, early)
    save(store, "b")
    shutil.copyfile(path.with_name("store.db-wal"), tmp_path / "early.db-wal")
    assert ids_in(early) == ["a", "b"]


def test_what_was_acknowledged_is_in_the_file_that_was_moved_away(
    store: SqliteStore, path: Path, other: Path
) -> None:
    move_both(path, other)
    save(store, "after")
    assert len(ids_in(path.with_name("moved.db"))) == 51


def test_a_deleted_store_refuses_and_is_not_made_anew(store: SqliteStore, path: Path) -> None:
    save(store, "a")
    path.unlink()
    for _ in range(2):
        with pytest.raises(Unavailable, match="is gone"):
            save(store, "b")
        with pytest.raises(Unavailable, match="is gone"):
            ids(store)
    assert not path.exists()


def test_a_deleted_store_that_comes_back_is_used(store: SqliteStore, path: Path, other: Path) -> None:
    path.unlink()
    with pytest.raises(Unavailable):
        save(store, "lost")
    other.rename(path)
    save(store, "after")
    assert ids(store) == ["after", "old"]


@REPLACEMENTS
def test_what_was_committed_to_a_store_that_is_gone_is_not_acknowledged(
    store: SqliteStore, path: Path, other: Path, replace: Replace
) -> None:

    def save_while_it_is_replaced() -> None:
        with store.transaction():
            save(store, "lost")
            replace(path, other)

    with pytest.raises(Unavailable, match="nothing was saved"):
        save_while_it_is_replaced()
    assert ids(store) == ["old"]
    save(store, "after")
    assert ids_in(path) == ["after", "old"]


def test_a_store_that_is_deleted_at_the_commit_does_not_acknowledge(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect
    doomed: list[Path] = []

    def watched(*place: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*place, **options)
        connection.set_trace_callback(
            lambda sql: doomed.pop().unlink() if doomed and sql == "COMMIT" else None
        )
        return connection

    monkeypatch.setattr(sqlite3, "connect", watched)
    with closing(SqliteStore(path)) as store:
        doomed.append(path)
        with pytest.raises(Unavailable, match="nothing was saved"):
            save(store, "lost")
        assert doomed == []


def test_a_writer_that_waited_meanwhile_writes_to_the_new_store(
    store: SqliteStore, path: Path, other: Path
) -> None:
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    writer = threading.Thread(target=save, args=(store, "waited"))
    writer.start()
    os.replace(other, path)
    holder.execute("ROLLBACK")
    writer.join()
    holder.close()
    assert ids_in(path) == ["old", "waited"]


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


DAMAGE = pytest.mark.parametrize(("damage", "reason"), [(emptied, "is empty"), (cut, "bytes are left of")])


@DAMAGE
@pytest.mark.parametrize("is_open", [True, False])
def test_a_store_that_was_cut_short_is_an_error_that_points_to_the_backups(
    path: Path, damage: Callable[[Path], None], reason: str, is_open: bool
) -> None:
    backup = path.parent / "backups" / "store-20260301-093000-daily.db"
    store = SqliteStore(path)
    save(store, *(f"m{n}" for n in range(100)))
    store.backup(backup)
    store.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    if not is_open:
        store.close()
    damage(path)
    left = path.read_bytes()
    with closing(store):
        for _ in range(2):
            with pytest.raises(Unavailable, match=reason) as caught:
                save(store if is_open else SqliteStore(path), "lost")
            assert f"backstory restore '{backup}'" in caught.value.hint
        with pytest.raises(Unavailable, match=reason):
            SqliteStore(path)
    assert path.read_bytes() == left, "nothing of the log got into what is left"


@DAMAGE
def test_closing_a_store_that_was_cut_short_does_not_make_it_look_whole(
    store: SqliteStore, path: Path, damage: Callable[[Path], None], reason: str
) -> None:
    save(store, *(f"m{n}" for n in range(100)))
    store.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    save(store, "in the log")
    damage(path)
    store.close()
    with pytest.raises(Unavailable, match=reason):
        SqliteStore(path)


def test_a_store_that_is_whole_with_its_log_opens_after_a_crash_in_a_checkpoint(
    store: SqliteStore, path: Path, tmp_path: Path
) -> None:
    """The first page was written and says how long the file will be; the rest is still in the log."""
    save(store, *(f"m{n}" for n in range(300)))
    crashed = tmp_path / "crashed.db"
    shutil.copyfile(path.with_name("store.db-wal"), tmp_path / "crashed.db-wal")
    store.database.rows("PRAGMA wal_checkpoint(PASSIVE)")
    crashed.write_bytes(path.read_bytes()[:4096])
    assert len(ids_in(crashed)) == 300


def test_a_database_of_something_else_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as foreign:
        foreign.execute("CREATE TABLE bookmarks (url TEXT)")
    with pytest.raises(Unavailable, match="another program"):
        SqliteStore(path)
    with closing(sqlite3.connect(path)) as foreign:
        assert foreign.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmarks",)]


def test_a_store_that_an_older_version_made_gets_an_id(path: Path, tmp_path: Path) -> None:
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA application_id = 0")
    with closing(SqliteStore(path)) as store:
        save(store, "a")
        store.backup(tmp_path / "copy.db")
    headers = [read_header(each.read_bytes()) for each in (path, tmp_path / "copy.db")]
    assert all(header is not None and header.id for header in headers)
    assert headers[0] != headers[1]


def test_a_backup_is_whole_or_not_there(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "copy.db").mkdir()
    (tmp_path / "copy.db" / "in the way").touch()
    with pytest.raises(Unavailable):
        store.backup(tmp_path / "copy.db")
    assert [each.name for each in tmp_path.glob(".*")] == []


ANOTHER = """
import os, sys
from pathlib import Path
from backstory.domain.filters import Filter, Page
from backstory.store.sqlite import SqliteStore
from doubles import make_memory
store = SqliteStore(Path(sys.argv[1]), busy_timeout_s=5)
for line in sys.stdin:
    match line.split():
        case ["save", id]:
            store.memories.put([make_memory(id)])
            print(id, flush=True)
        case ["list"]:
            print(*sorted(each.id for each in store.memories.find(Filter(), Page())), flush=True)
        case _:
            os._exit(1)
"""


@contextmanager
def talking_to(path: Path) -> Iterator[Callable[[str], str]]:
    """Another process that has the store open, and does as it is told."""
    tests = str(Path(__file__).resolve().parents[1])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([tests, *sys.path])}
    command = [sys.executable, "-c", ANOTHER, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        said, heard = process.stdin, process.stdout

        def tell(line: str) -> str:
            print(line, file=said, flush=True)
            return heard.readline().strip()

        yield tell


LOG_FILES = [("-wal",), ("-shm",), ("-wal", "-shm")]


@pytest.mark.parametrize("suffixes", LOG_FILES, ids="".join)
def test_what_is_acknowledged_after_the_log_was_deleted_is_there(path: Path, suffixes: Sequence[str]) -> None:
    store = SqliteStore(path, busy_timeout_s=5)
    save(store, "before")
    for suffix in suffixes:
        path.with_name(path.name + suffix).unlink()
    for number in range(3):
        save(store, f"after{number}")
    expected = ["after0", "after1", "after2", "before"]
    assert ids(store) == expected
    with talking_to(path) as other:
        other("list")
        assert other("list") == " ".join(expected), "another process finds it while this one has it open"
    store.close()
    assert ids_in(path) == expected


@pytest.mark.parametrize("suffixes", LOG_FILES, ids="".join)
def test_a_log_that_is_deleted_while_a_save_is_under_way_is_noticed(
    path: Path, suffixes: Sequence[str]
) -> None:
    with closing(SqliteStore(path, busy_timeout_s=5)) as store:
        save(store, "before")

        def save_meanwhile() -> None:
            with store.transaction():
                save(store, "within")
                for suffix in suffixes:
                    path.with_name(path.name + suffix).unlink()

        with pytest.raises(Unavailable, match="nothing was saved"):
            save_meanwhile()
        assert ids(store) == ["before"]
        save(store, "after")
    assert ids_in(path) == ["after", "before"]


@pytest.mark.parametrize("suffixes", LOG_FILES, ids="".join)
def test_two_processes_whose_log_was_deleted_lose_nothing(path: Path, suffixes: Sequence[str]) -> None:
    with closing(SqliteStore(path, busy_timeout_s=5)) as store, talking_to(path) as other:
        save(store, "a0")
        other("save b0")
        for suffix in suffixes:
            path.with_name(path.name + suffix).unlink()
        save(store, "a1")
        other("save b1")
        save(store, "a2")
        other("save b2")
        expected = ["a0", "a1", "a2", "b0", "b1", "b2"]
        assert ids(store) == expected
        assert other("list") == " ".join(expected)
        other("die")
        assert ids(store) == expected
    assert ids_in(path) == expected
