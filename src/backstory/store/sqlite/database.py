"""SQLite: one file on the user's machine.

Threads borrow connections and every write takes the write lock first, so any number of threads and
processes may use one file: a busy database makes a writer wait, never fail half way. WAL with synchronous=FULL:
what was committed survives the death of the process and of the machine.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from ...domain.erasure import Residue
from ...domain.errors import BackstoryError, InvalidInput, NotAllowed, StorageFull, TimedOut, Unavailable
from ...domain.when import utc_now
from ..database import Database, Row
from ..migrate import migrate
from .residue import overwrite

OLDEST_SQLITE = (3, 35, 0)  # RETURNING


class SqliteDatabase(Database):
    def __init__(self, path: Path, *, busy_timeout_s: float = 60.0) -> None:
        self._path = path
        self._busy_timeout_s = busy_timeout_s
        self._local = threading.local()
        self._free: list[sqlite3.Connection] = []
        self._open: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        _check_sqlite()
        if path.name == ":memory:":
            raise InvalidInput(
                "A store is a file: one in memory would be another for each thread.",
                hint="Use sqlite:///path/to/file.db.",
                field="database_url",
            )
        try:
            with _translated(path):
                _make_private(path)
                migrate(self, "sqlite", self._backup_before)
        except BackstoryError:
            self.close()
            raise

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """The thread's own while it is in a transaction, else the one that was used last: its caches are warm."""
        pinned: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if pinned is not None:
            yield pinned
            return
        try:
            connection = self._free.pop()
        except IndexError:
            with _translated(self._path):
                connection = self._connect()
        try:
            yield connection
        finally:
            self._free.append(connection)

    def _connect(self) -> sqlite3.Connection:
        # isolation_level=None: we say BEGIN ourselves; check_same_thread=False: threads lend them to each other
        connection = sqlite3.connect(
            self._path, timeout=self._busy_timeout_s, isolation_level=None, check_same_thread=False
        )
        with self._lock:
            self._open.append(connection)
        self._use_wal(connection)
        for pragma in ("synchronous = FULL", "foreign_keys = ON", "cache_size = -8000", "secure_delete = ON"):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        """The one statement that does not wait for others by itself, and only a new file needs it."""
        deadline = time.monotonic() + self._busy_timeout_s
        while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            try:
                mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            except sqlite3.OperationalError as error:
                if _primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
                continue
            if mode != "wal":
                raise Unavailable(
                    f"SQLite cannot keep a write-ahead log beside {self._path}.",
                    hint="Put the store on a local disk.",
                )

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        with _translated(self._path), self._connection() as connection:
            return connection.execute(sql, parameters).fetchall()

    def change(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        with _translated(self._path), self._connection() as connection:
            return connection.execute(sql, parameters).rowcount

    def change_many(self, sql: str, rows: Sequence[Row]) -> None:
        if not rows:
            return
        with _translated(self._path), self._connection() as connection:
            connection.executemany(sql, rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        if self.in_transaction:
            with self._undone_on_error("SAVEPOINT inner", "ROLLBACK TO inner", "RELEASE inner"):
                yield
            return
        with self._connection() as connection:
            self._local.connection = connection
            try:
                # IMMEDIATE: wait for the write lock now, rather than fail at the first write
                with self._undone_on_error("BEGIN IMMEDIATE", "ROLLBACK", "COMMIT"):
                    yield
            finally:
                self._local.connection = None

    @property
    def in_transaction(self) -> bool:
        return getattr(self._local, "connection", None) is not None

    def joined(self) -> AbstractContextManager[None]:
        # at every savepoint FTS5 writes out what it has gathered, and has to merge it later
        return nullcontext() if self.in_transaction else self.transaction()

    @contextmanager
    def _undone_on_error(self, begin: str, undo: str, end: str) -> Iterator[None]:
        connection: sqlite3.Connection = self._local.connection
        self.change(begin)
        try:
            yield
        except BaseException:
            if connection.in_transaction:  # SQLite itself may have given up, as on a full disk
                self.change(undo)
            raise
        self.change(end)

    def among(self, column: str, numbers: Iterable[int]) -> tuple[str, Any]:
        return f"{column} IN (SELECT value FROM json_each(?))", json.dumps(sorted(numbers))

    def reserve(self, count: int) -> int:
        # entries that are inserted with these numbers move the sequence on; until then the write lock is ours
        last = self.values("SELECT seq FROM sqlite_sequence WHERE name = 'entry'")
        return int(last[0]) + 1 if last else 1

    def column_names(self, table: str) -> list[str]:
        return self.values("SELECT name FROM pragma_table_info(?)", [table])

    def last_number(self) -> int:
        return self.reserve(0) - 1

    def continue_after(self, last_number: int) -> None:
        with self.transaction():
            self.change("DELETE FROM sqlite_sequence WHERE name = 'entry'")
            self.change("INSERT INTO sqlite_sequence (name, seq) VALUES ('entry', ?)", [last_number])

    def json_array(self, values: Sequence[str]) -> str:
        return f"json_array({', '.join(values)})"

    def has_table(self, name: str) -> bool:
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = ?", [name]))

    def run_script(self, script: str) -> None:
        for statement in _statements(script):
            self.change(statement)

    def _backup_before(self, version: int) -> None:
        stamp = f"{utc_now():%Y%m%d-%H%M%S}"
        self.backup(self._path.parent / "backups" / f"{self._path.stem}-v{version}-{stamp}.db")

    def overwrite(self, residue: Residue) -> None:
        with _translated(self._path), self._connection() as connection:
            overwrite(connection, residue, self._busy_timeout_s)

    def used_bytes(self) -> int:
        pages, free, size = map(self._pragma, ("page_count", "freelist_count", "page_size"))
        return (pages - free) * size

    def total_bytes(self) -> int:
        return self._pragma("page_count") * self._pragma("page_size")

    def _pragma(self, name: str) -> int:
        return int(self.value(f"PRAGMA {name}"))

    def checks(self) -> dict[str, Callable[[], list[str]]]:
        return {"pages": self._damaged_pages, "rows": self._dangling_rows}

    def _damaged_pages(self) -> list[str]:
        return [fault for fault in self.values("PRAGMA integrity_check") if fault != "ok"]

    def _dangling_rows(self) -> list[str]:
        rows = self.rows("PRAGMA foreign_key_check")
        return [f"{table} row {row} refers to nothing in {parent}" for table, row, parent, _ in rows]

    def backup(self, target: Path) -> None:
        with _translated(target):
            _make_private(target)
            copy = sqlite3.connect(target)
            try:
                with self._connection() as connection:
                    connection.backup(copy)
            finally:
                copy.close()

    def close(self) -> None:
        with self._lock:
            for connection in self._open:
                connection.close()
            self._open.clear()


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _make_private(path: Path) -> None:
    """Only the user may read a store; SQLite gives -wal and -shm the rights of the file itself."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _check_sqlite() -> None:
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise Unavailable(
            f"This Python carries SQLite {sqlite3.sqlite_version}; Backstory needs {'.'.join(map(str, OLDEST_SQLITE))}.",
            hint="Use a newer Python.",
        )


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """SQLite's and the system's failures, in our words."""
    try:
        yield
    except sqlite3.Error as error:
        raise _in_our_words(error, path) from error
    except PermissionError as error:
        raise NotAllowed(
            f"{error.filename} cannot be used: permission denied.", hint="Check its owner and mode."
        ) from error
    except OSError as error:
        raise Unavailable(f"{path} cannot be opened: {error.strerror}.") from error


def _primary_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF  # the higher bytes tell details


def _in_our_words(error: sqlite3.Error, path: Path) -> BackstoryError:
    code = _primary_code(error)
    if code == sqlite3.SQLITE_FULL:
        return StorageFull(
            f"There is no space left for {path}.", hint="Nothing was saved; free some space and try again."
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return TimedOut("The store is busy: another process holds it for too long.", hint="Try again.")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return NotAllowed(f"{path} cannot be written.", hint="Check its owner and mode.")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return Unavailable(f"{path} is damaged: {error}.", hint="`backstory restore` brings back a backup.")
    return Unavailable(
        f"The store could not answer: {error}.", hint="`backstory doctor` looks for the cause."
    )
