"""SQLite: one file on the user's machine.

Threads borrow connections, and every write takes the write lock first, so any number of threads and processes can
use one file: a busy database makes a writer wait, and never fail half-way. WAL with synchronous=FULL: committed data
survives the death of the process and of the machine.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...domain.entries import Passing
from ...domain.erasure import Residue
from ...domain.errors import BackstoryError, InvalidInput, Unavailable
from ...domain.filters import Filter
from ...domain.when import utc_now
from ..backups import FOLDER, backup_path
from ..database import OUTSIDE, Row
from ..migrate import COMPAT, check_level, migrate
from ..whole_files import draft_path, make_private, put_in_place
from .copy import copy_checked, copy_pages
from .errors import in_our_words, primary_code, read_only, translated
from .facts import EntryFacts
from .file import StoreFile
from .header import new_store_id
from .pool import SqlitePool
from .residue import FileDatabase, overwrite

if TYPE_CHECKING:
    from .facts import EntryFacts

OLDEST_SQLITE = (3, 35, 0)  # RETURNING
LOCK_POLL_S = 0.002
MOST_COMMITS = 2**31  # user_version is a signed 32-bit field; its wrap looks like an older store, once


class SqliteDatabase(FileDatabase):
    def __init__(
        self,
        path: Path,
        *,
        busy_timeout_s: float = 60.0,
        backups: Path | None = None,
        is_copy: bool = False,
    ) -> None:
        """A copy is brought to the present shape without a backup of it."""
        self._is_copy = is_copy
        self._is_migrated = False
        self._busy_timeout_s = busy_timeout_s
        self.path = path
        self.backups_folder = backups or path.parent / FOLDER
        self._local = threading.local()
        self._pool = SqlitePool(
            path, self.backups_folder, busy_timeout_s=busy_timeout_s, prepare=self._prepare
        )
        _check_sqlite()
        if path.name == ":memory:":
            raise InvalidInput(
                "A store is a file: one in memory would be another for each thread.",
                hint="Use sqlite:///path/to/file.db.",
                field="database_url",
            )
        try:
            with self._connection():
                pass
        except BackstoryError:
            self.close()
            raise

    def _prepare(self) -> None:
        self.generation += 1  # data derived from a former file is void
        self._is_migrated = False
        self._check_ours()
        migrate(self, "sqlite", self._backup_before)
        self._is_migrated = True

    def _check_ours(self) -> None:
        tables = {row[0] for row in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if tables and "migration" not in tables:
            raise Unavailable(
                f"{self.path} is a database of another program.",
                hint="Nothing was changed; give database_url another file.",
            )

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """The thread's own while it is in a transaction, else any."""
        pinned: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if pinned is not None:
            yield pinned
            return
        with self._borrowed() as connection:
            yield connection

    @contextmanager
    def _borrowed(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._pool.take()
        except (sqlite3.Error, OSError) as error:
            raise in_our_words(error, self.path) from error
        try:
            yield connection
        finally:
            self._pool.give_back(connection)

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        pinned: sqlite3.Connection | None = getattr(self._local, "connection", None)
        try:  # no context manager: two of them cost as much as a short statement
            if pinned is not None:
                return pinned.execute(sql, parameters).fetchall()
            connection = self._pool.take()
            try:
                return connection.execute(sql, parameters).fetchall()
            finally:
                self._pool.give_back(connection)
        except (sqlite3.Error, OSError) as error:
            raise in_our_words(error, self.path) from error

    def change(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        assert self.in_transaction, OUTSIDE
        connection: sqlite3.Connection = self._local.connection
        try:
            return connection.execute(sql, parameters).rowcount
        except sqlite3.Error as error:
            raise in_our_words(error, self.path) from error

    def change_many(self, sql: str, rows: Sequence[Row]) -> None:
        assert self.in_transaction, OUTSIDE
        connection: sqlite3.Connection = self._local.connection
        try:
            if rows:
                connection.executemany(sql, rows)
        except sqlite3.Error as error:
            raise in_our_words(error, self.path) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        if self.in_transaction:
            self.change("SAVEPOINT inner")
            with self._undone_on_error("ROLLBACK TO inner"):
                yield
                self.change("RELEASE inner")
            return
        while True:
            with self._connection() as connection:
                if self.is_read_only:
                    raise read_only(self.path)
                self._local.connection = connection
                try:
                    self._begin(connection)
                    with self._undone_on_error("ROLLBACK"):
                        if not self._pool.is_unchanged():
                            self.change("ROLLBACK")
                            continue  # the store was replaced while this thread waited; connect to the new one
                        if self._is_migrated:
                            # A newer program may have migrated the store since it was opened.
                            check_level(self.value(COMPAT))
                        before = connection.total_changes
                        yield
                        self._commit(connection.total_changes > before)
                    return
                finally:
                    self._local.connection = None

    @property
    def is_read_only(self) -> bool:
        return self._pool.is_read_only

    def _begin(self, connection: sqlite3.Connection) -> None:
        """Wait for the write lock now, rather than fail at the first write.

        SQLite itself would poll every 100 ms and miss the moments in which a long sync lets others write."""
        deadline = time.monotonic() + self._busy_timeout_s
        self.change("PRAGMA busy_timeout = 0")  # `BEGIN` fails at once, and we poll
        try:
            while True:
                try:
                    connection.execute("BEGIN IMMEDIATE")
                    return
                except sqlite3.OperationalError as error:
                    if primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                        raise in_our_words(error, self.path) from error
                time.sleep(LOCK_POLL_S)
        finally:
            self.change(f"PRAGMA busy_timeout = {self._busy_timeout_s * 1000:.0f}")

    def _commit(self, is_changed: bool) -> None:
        """Commit, and make sure that the data reached the file that the path names.

        Otherwise the caller would report a save that no later reader of the path can see."""
        if is_changed:
            self.count_commit()
        if self._pool.is_unchanged():
            self.change("COMMIT")
            # The file may have been replaced during the COMMIT.
            if not is_changed or self._pool.is_unchanged():
                return
        raise Unavailable(
            f"{self.path} was deleted or replaced during the save; nothing was saved.",
            hint="Try again; the store that is there then is used.",
        )

    def count_commit(self) -> None:
        # The number identifies every state of the store; see file.py.
        commits = self.rows("PRAGMA user_version")[0][0]
        self.change(f"PRAGMA user_version = {(commits + 1) % MOST_COMMITS}")

    @property
    def in_transaction(self) -> bool:
        return getattr(self._local, "connection", None) is not None

    @contextmanager
    def _undone_on_error(self, undo: str) -> Iterator[None]:
        connection: sqlite3.Connection = self._local.connection
        try:
            yield
        except BaseException:
            if connection.in_transaction:  # SQLite itself may have rolled back, for example on a full disk
                self.change(undo)
            raise

    def among(self, column: str, numbers: Iterable[int]) -> tuple[str, Any]:
        return f"{column} IN (SELECT value FROM json_each(?))", _json_numbers(numbers)

    def chosen_entries(self, numbers: Iterable[int]) -> tuple[str, Any]:
        return self.chosen("entry e", "e.n", numbers)

    def chosen(self, table: str, column: str, numbers: Iterable[int]) -> tuple[str, Any]:
        """A FROM clause for the rows of a table with one of these numbers, and its one parameter."""
        # CROSS fixes the order of the join: for a few numbers and a condition on the session, SQLite would otherwise
        # scan that whole session.
        source = f"json_each(?) AS chosen CROSS JOIN {table} ON {column} = chosen.value"
        return source, _json_numbers(set(numbers))

    def passing(self, where: Filter) -> Passing | None:
        return self._facts.passing(where)

    @cached_property
    def _facts(self) -> EntryFacts:
        return EntryFacts(self)

    def reserve(self, count: int) -> int:
        # Inserting entries with these numbers advances the sequence; until then this transaction has the write lock.
        last = self.values("SELECT seq FROM sqlite_sequence WHERE name = 'entry'")
        return int(last[0]) + 1 if last else 1

    def column_names(self, table: str) -> list[str]:
        return self.values("SELECT name FROM pragma_table_info(?)", [table])

    def version(self) -> Hashable:
        return self.generation, self._pragma("user_version")  # which counts commits

    def last_number(self) -> int:
        return self.reserve(0) - 1

    def continue_after(self, last_number: int) -> None:
        with self.transaction():
            self.change("DELETE FROM sqlite_sequence WHERE name = 'entry'")
            self.change("INSERT INTO sqlite_sequence (name, seq) VALUES ('entry', ?)", [last_number])

    def listed(self, column: str) -> str:
        return f"group_concat({column})"

    def json_array(self, values: Sequence[str]) -> str:
        return f"json_array({', '.join(values)})"

    def byte_length(self, column: str) -> str:
        return f"length(CAST({column} AS BLOB))"

    def has_table(self, name: str) -> bool:
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = ?", [name]))

    def run_script(self, script: str) -> None:
        for statement in _statements(script):
            self.change(statement)

    def _backup_before(self, version: int) -> None:
        if not self._is_copy:
            target = backup_path(self.backups_folder, self.path.stem, utc_now(), "before-migration")
            # a store that was readable before an upgrade must stay readable after it
            self.backup(target, is_checked=False)

    def overwrite(self, residue: Residue, rest: Callable[[], None]) -> None:
        with translated(self.path):
            overwrite(self, residue, rest)

    @property
    def file(self) -> StoreFile:
        return self._pool.file

    def is_log_emptied(self) -> bool:
        with self._borrowed() as connection:
            # Most of it is written while others may write too. Who reads from then on needs no log.
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            connection.execute("PRAGMA busy_timeout = 0")
            try:
                (is_busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                connection.execute(f"PRAGMA busy_timeout = {int(self._busy_timeout_s * 1000):d}")
        return not is_busy

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
        faults = self.values("PRAGMA integrity_check")
        # Since SQLite 3.44 it also checks the text index, which has a check of its own.
        return [fault for fault in faults if fault != "ok" and "fts5" not in fault.lower()]

    def _dangling_rows(self) -> list[str]:
        rows = self.rows("PRAGMA foreign_key_check")
        return [f"{table} row {row} refers to nothing in {parent}" for table, row, parent, _ in rows]

    def backup(self, target: Path, *, is_checked: bool) -> int:
        """Back up the database to `target`.

        The copy gets an id of its own, so that a restore is recognised as another store."""
        new = draft_path(target)
        with translated(target):
            make_private(new)
            try:
                with closing(sqlite3.connect(new, isolation_level=None)) as copy:
                    # a connection with a write transaction would wait for itself
                    with self._borrowed() as connection:
                        count = copy_checked(connection, copy) if is_checked else copy_pages(connection, copy)
                    copy.execute(f"PRAGMA application_id = {new_store_id()}")
                put_in_place(new, target)
            except BaseException:
                new.unlink(missing_ok=True)
                raise
        return count

    def close(self) -> None:
        self._pool.close()


def _json_numbers(numbers: Iterable[int]) -> str:
    """Numbers in ascending order as JSON, which for a list of numbers is its `repr` and takes a third of the time."""
    return repr(sorted(map(int, numbers)))


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _check_sqlite() -> None:
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise Unavailable(
            f"This Python carries SQLite {sqlite3.sqlite_version}; Backstory needs {'.'.join(map(str, OLDEST_SQLITE))}.",
            hint="Use a newer Python.",
        )
