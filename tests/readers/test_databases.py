"""Databases of other programs: everything committed is read, and nothing beside them changes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from backstory.domain.errors import Unreadable
from backstory.readers import ConversationHeader, Cursor, Piece
from backstory.readers.formats.databases import DatabaseProgress, document, open_database, stamp
from backstory.readers.formats.values import fingerprint

OWNER = """
import os, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2:]:
    db.execute(statement)
print("ready", flush=True)
sys.stdin.readline()
os._exit(0)  # as if killed: nothing is tidied up
"""


@contextmanager
def owner(path: Path, *statements: str) -> Iterator[None]:
    """Another process that has the database open meanwhile, and is killed then."""
    command = [sys.executable, "-c", OWNER, str(path), *statements]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        yield
        process.stdin.write("\n")


def made(path: Path, *, journal: str = "delete", rows: int = 3) -> Path:
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA journal_mode={journal}")
    db.execute("CREATE TABLE t (x)")
    db.executemany("INSERT INTO t VALUES (?)", ((number,) for number in range(rows)))
    db.commit()
    db.close()
    return path


def listing(directory: Path) -> dict[str, tuple[int, int, bytes]]:
    return {
        path.name: (path.stat().st_size, path.stat().st_mtime_ns, path.read_bytes())
        for path in directory.iterdir()
    }


def numbers(path: Path, *, is_direct: bool) -> list[int]:
    """Return the rows of the table, and check that reading in place or from a copy leaves no trace."""
    before, changed = listing(path.parent), path.parent.stat().st_mtime_ns
    with open_database(path, wait_s=0) as connection:
        found = [number for (number,) in connection.execute("SELECT x FROM t")]
        ((_, _, file),) = connection.execute("PRAGMA database_list").fetchall()
        assert (Path(file) == path) == is_direct
        assert listing(path.parent) == before
    assert listing(path.parent) == before
    assert path.parent.stat().st_mtime_ns == changed
    assert is_direct or not Path(file).exists()
    return found


def test_a_database_with_a_rollback_journal_is_read_in_place(tmp_path: Path) -> None:
    assert numbers(made(tmp_path / "a.db"), is_direct=True) == [0, 1, 2]


def test_a_database_with_a_checkpointed_wal_is_read_in_place(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", journal="wal")
    assert [each.name for each in tmp_path.iterdir()] == ["a.db"]
    assert numbers(path, is_direct=True) == [0, 1, 2]


def test_frames_that_wait_in_the_wal_of_a_running_owner_are_read_in_place(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", journal="wal")
    with owner(path, "INSERT INTO t VALUES (3)"):
        assert (tmp_path / "a.db-wal").stat().st_size > 0
        assert numbers(path, is_direct=True) == [0, 1, 2, 3]


def test_frames_that_a_killed_owner_left_in_the_wal_are_read(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", journal="wal")
    with owner(path, "INSERT INTO t VALUES (3)"):
        pass
    assert numbers(path, is_direct=True) == [0, 1, 2, 3]


def test_an_empty_wal_is_read_in_place_whether_its_owner_lives_or_not(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", journal="wal")
    with owner(path, "INSERT INTO t VALUES (3)", "PRAGMA wal_checkpoint(TRUNCATE)"):
        assert (tmp_path / "a.db-wal").stat().st_size == 0
        assert numbers(path, is_direct=True) == [0, 1, 2, 3]
    assert numbers(path, is_direct=True) == [0, 1, 2, 3]
    (tmp_path / "a.db-shm").unlink()
    assert numbers(path, is_direct=True) == [0, 1, 2, 3]


def test_a_link_to_a_database_is_read_with_what_is_beside_its_target(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    path = made(tmp_path / "there" / "a.db", journal="wal")
    link = tmp_path / "link.db"
    link.symlink_to(path)
    with owner(path, "INSERT INTO t VALUES (3)"):
        assert stamp(link) == stamp(path)
        with open_database(link) as connection:
            assert connection.execute("SELECT COUNT(*) FROM t").fetchone() == (4,)


def test_a_wal_without_shared_memory_is_read_from_a_copy(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", journal="wal")
    with owner(path, "INSERT INTO t VALUES (3)"):
        pass
    (tmp_path / "a.db-shm").unlink()
    assert numbers(path, is_direct=False) == [0, 1, 2, 3]


def test_an_owner_that_shares_nothing_is_read_from_a_copy(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", journal="wal")
    with owner(path, "PRAGMA locking_mode=EXCLUSIVE", "INSERT INTO t VALUES (3)"):
        assert not (tmp_path / "a.db-shm").exists()
        assert numbers(path, is_direct=False) == [0, 1, 2, 3]


def test_a_database_that_is_locked_is_read_from_a_copy(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db")
    with owner(path, "BEGIN EXCLUSIVE", "INSERT INTO t VALUES (3)"):
        assert numbers(path, is_direct=False) == [0, 1, 2]


def test_what_a_killed_owner_had_not_committed_is_not_read(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db")
    spill = "WITH RECURSIVE n(x) AS (SELECT 9 UNION ALL SELECT x + 1 FROM n LIMIT 99999) INSERT INTO t SELECT x FROM n"
    with owner(path, "PRAGMA cache_size=1", "BEGIN", spill):
        pass
    assert (tmp_path / "a.db-journal").stat().st_size > 0
    assert numbers(path, is_direct=False) == [0, 1, 2]


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_directory_that_cannot_be_written_is_read(tmp_path: Path, journal: str) -> None:
    directory = tmp_path / "closed"
    directory.mkdir()
    path = made(directory / "a.db", journal=journal)
    directory.chmod(0o555)
    try:
        assert numbers(path, is_direct=True) == [0, 1, 2]
    finally:
        directory.chmod(0o755)


def test_a_name_with_signs_of_a_uri_is_only_a_name(tmp_path: Path) -> None:
    path = made(tmp_path / "a?mode=rwc#%41.db")
    assert numbers(path, is_direct=True) == [0, 1, 2]


def test_what_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), open_database(tmp_path / "a.db"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"not a database, though long enough to look like one" * 20])
def test_what_is_no_database_is_unreadable(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.db").write_bytes(content)
    with pytest.raises(Unreadable, match="not a SQLite database"), open_database(tmp_path / "a.db"):
        pass


def test_damage_that_shows_while_reading_is_unreadable(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", rows=5000)
    raw = bytearray(path.read_bytes())
    raw[8192:] = b"\xff" * (len(raw) - 8192)
    path.write_bytes(raw)
    with pytest.raises(Unreadable, match="cannot be read"), open_database(path) as connection:
        connection.execute("SELECT SUM(x) FROM t").fetchall()


def test_writing_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db")
    with pytest.raises(Unreadable), open_database(path) as connection:
        connection.execute("INSERT INTO t VALUES (4)")


def test_a_stamp_sees_what_is_in_the_wal_only(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", journal="wal")
    before, database = stamp(path), path.stat()
    assert before == (database.st_size, database.st_mtime_ns)
    with owner(path, "INSERT INTO t VALUES (3)"):
        assert path.stat().st_mtime_ns == database.st_mtime_ns
        size, modified_ns = stamp(path)
        assert size > before[0]
        assert modified_ns > before[1]


@pytest.mark.parametrize("value", [None, b"", "", 7, 1.5, "{", b"\xff\xfe", "[" * 100_000])
def test_a_value_without_json_is_none(value: str | bytes | int | float | None) -> None:
    assert document(value) is None


def test_json_is_read_from_text_and_blobs_and_made_fit_to_be_stored() -> None:
    assert document('{"a": "ü"}') == document('{"a": "ü"}'.encode()) == {"a": "ü"}
    assert document('"half \\ud83d"') == "half ?"


def test_fingerprints_tell_values_apart_that_look_alike_when_joined() -> None:
    assert fingerprint("ab", "c") != fingerprint("a", "bc") != fingerprint("a", b"bc")
    assert fingerprint(None) != fingerprint("") != fingerprint("None")
    assert fingerprint("a", 1) == fingerprint("a", 1)


def test_only_the_last_piece_is_marked_and_what_did_not_change_is_known() -> None:
    first = DatabaseProgress(Cursor())
    assert first.is_new("one", "1")
    assert first.is_new("two", "1")
    pieces = [Piece(ConversationHeader(id, "x"), (), skipped={"odd": 1}) for id in ("one", "two")]
    first.skipped["lost"] += 2
    given = list(first.with_cursor(iter(pieces)))
    assert given[0] == pieces[0]
    assert given[1].skipped == {"odd": 1, "lost": 2}
    assert given[1].cursor
    again = DatabaseProgress(given[1].cursor)
    assert not again.is_new("one", "1")
    assert again.is_new("two", "2")
