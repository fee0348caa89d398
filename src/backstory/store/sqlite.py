"""SQLite: one file on the user's machine, FTS5 for text, our own scan for vectors.

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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..domain.census import Census
from ..domain.entries import Posting, TextFields
from ..domain.errors import BackstoryError, InvalidInput, NotAllowed, StorageFull, TimedOut, Unavailable
from ..domain.filters import Filter, Kind
from ..domain.when import to_ms, utc_now
from .activity import ActivityRows
from .archive import ArchiveRows
from .archived_talks import ArchivedTalkRows
from .connections import ConnectionRows
from .events import EventRows
from .files import FileRows
from .graph import GraphRows
from .histories import HistoryRows
from .kept import KeptAnswerRows
from .matching import MatchingRows
from .migrate import RECORD, Script, migrate
from .scan import VectorScan
from .sessions import SessionRows
from .snapshots import SnapshotRows
from .sources import SourceRows
from .statements import Row
from .team import TeamRows
from .threads import ThreadRows
from .where import where_clause

if TYPE_CHECKING:
    from ..domain.words import Unit

OLDEST_SQLITE = (3, 35, 0)  # RETURNING
LEAST_SHARE = 1000  # entries read for a unit however many units a query has


class SqliteStore(
    ThreadRows,
    VectorScan,
    ActivityRows,
    EventRows,
    GraphRows,
    KeptAnswerRows,
    MatchingRows,
    SessionRows,
    SnapshotRows,
    FileRows,
    ArchiveRows,
    HistoryRows,
    SourceRows,
    ArchivedTalkRows,
    ConnectionRows,
    TeamRows,
):
    def __init__(self, path: Path, *, busy_timeout_s: float = 60.0) -> None:
        super().__init__()
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
        for pragma in ("synchronous = FULL", "foreign_keys = ON", "cache_size = -8000"):
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

    def _rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        with _translated(self._path), self._connection() as connection:
            return connection.execute(sql, parameters).fetchall()

    def _change(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        with _translated(self._path), self._connection() as connection:
            return connection.execute(sql, parameters).rowcount

    def _change_many(self, sql: str, rows: Sequence[Row]) -> None:
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

    def _joined(self) -> AbstractContextManager[None]:
        # at every savepoint FTS5 writes out what it has gathered, and has to merge it later
        return nullcontext() if self.in_transaction else self.transaction()

    @contextmanager
    def _undone_on_error(self, begin: str, undo: str, end: str) -> Iterator[None]:
        connection: sqlite3.Connection = self._local.connection
        self._change(begin)
        try:
            yield
        except BaseException:
            if connection.in_transaction:  # SQLite itself may have given up, as on a full disk
                self._change(undo)
            raise
        self._change(end)

    def _among(self, column: str, numbers: Iterable[int]) -> tuple[str, Any]:
        return f"{column} IN (SELECT value FROM json_each(?))", json.dumps(sorted(numbers))

    def _reserve(self, count: int) -> int:
        # entries that are inserted with these numbers move the sequence on; until then the write lock is ours
        known = self._rows("SELECT seq FROM sqlite_sequence WHERE name = 'entry'")
        return int(known[0][0]) + 1 if known else 1

    def _column_names(self, table: str) -> list[str]:
        return [row[0] for row in self._rows("SELECT name FROM pragma_table_info(?)", [table])]

    def last_number(self) -> int:
        return self._reserve(0) - 1

    def finish_import(self, last_number: int) -> None:
        with self.transaction():
            self._change("DELETE FROM sqlite_sequence WHERE name = 'entry'")
            self._change("INSERT INTO sqlite_sequence (name, seq) VALUES ('entry', ?)", [last_number])

    def _json_array(self, values: Sequence[str]) -> str:
        return f"json_array({', '.join(values)})"

    def schema(self) -> tuple[int, int]:
        if not self._rows("SELECT 1 FROM sqlite_master WHERE name = 'migration'"):
            return 0, 0
        version, compat = self._rows("SELECT max(version), max(compat) FROM migration")[0]
        return version or 0, compat or 0

    def apply(self, script: Script) -> None:
        with self.transaction():
            self._change(RECORD)
            if self.schema()[0] >= script.version:
                return
            for statement in _statements(script.path.read_text("utf-8")):
                self._change(statement)
            self._change(
                "INSERT INTO migration (version, name, compat, applied_at) VALUES (?, ?, ?, ?)",
                [script.version, script.name, script.compat, to_ms(utc_now())],
            )

    def _backup_before(self, version: int) -> None:
        stamp = f"{utc_now():%Y%m%d-%H%M%S}"
        self.backup(self._path.parent / "backups" / f"{self._path.stem}-v{version}-{stamp}.db")

    def _index_text(self, n: int, text: str, heading: str, key: str | None) -> None:
        self._change(
            "INSERT INTO entry_text (rowid, body, heading) VALUES (?, ?, ?)", [n, *_indexed(text, heading)]
        )
        if key is not None:
            self._change("INSERT INTO key_text (rowid, key) VALUES (?, ?)", [n, *_indexed(key)])

    def _index_texts(self, rows: Sequence[tuple[int, str, str]]) -> None:
        self._change_many(
            "INSERT INTO entry_text (rowid, body, heading) VALUES (?, ?, ?)",
            [(n, *_indexed(text, heading)) for n, text, heading in rows],
        )

    def _unindex_text(self, n: int, text: str, heading: str, key: str | None) -> None:
        sql = "INSERT INTO entry_text (entry_text, rowid, body, heading) VALUES ('delete', ?, ?, ?)"
        self._change(sql, [n, *_indexed(text, heading)])
        if key is not None:
            self._change(
                "INSERT INTO key_text (key_text, rowid, key) VALUES ('delete', ?, ?)", [n, *_indexed(key)]
            )

    def match_text(self, unit: Unit, fields: TextFields) -> set[int]:
        sources = {
            TextFields.VALUE: (("entry_text", "{body} : "),),
            TextFields.KEY: (("key_text", ""),),
            TextFields.BOTH: (("entry_text", "{body} : "), ("key_text", "")),
        }
        return {
            row[0]
            for table, columns in sources[fields]
            for row in self._rows(
                f"SELECT rowid FROM {table} WHERE {table} MATCH ?", [columns + _phrase(unit)]
            )
        }

    def entries_holding(self, unit: Unit) -> list[int]:
        sql = "SELECT rowid AS n FROM entry_text WHERE entry_text MATCH ?"
        return self._numbers(sql, ["{body} : " + _phrase(unit)], 2**62)

    def text_scores(self, units: Sequence[Unit], entries: Iterable[int]) -> dict[int, float]:
        if not units:
            return {}
        # the plus keeps SQLite from running the whole match once for each number
        among, numbers = self._among("+rowid", entries)
        sql = (
            f"SELECT rowid, -bm25(entry_text, 1.0, 2.0) FROM entry_text WHERE entry_text MATCH ? AND {among}"
        )
        return {row[0]: row[1] for row in self._rows(sql, [" OR ".join(map(_phrase, units)), numbers])}

    def used_bytes(self) -> int:
        pages, free, size = (
            int(self._rows(f"PRAGMA {name}")[0][0]) for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size

    def postings(self, units: Sequence[Unit], budget: int, where: Filter | None = None) -> list[Posting]:
        share = max(budget // max(len(units), 1), LEAST_SHARE)
        return [self._posting(unit, share, where) for unit in units]

    def _posting(self, unit: Unit, share: int, where: Filter | None) -> Posting:
        phrase = _phrase(unit)
        newest = self._numbers("SELECT rowid AS n FROM entry_text WHERE entry_text MATCH ?", [phrase], share)
        frequency = len(newest)
        if frequency == share:
            # counting them all would read them all; the newest tell how densely they lie
            frequency = max(frequency * self.size_hint() // (newest[0] - newest[-1] + 1), frequency)
        if where is not None:
            condition, values = where_clause(where)
            sql = f"SELECT t.rowid AS n FROM entry_text t JOIN entry e ON e.n = t.rowid WHERE t.entry_text MATCH ? AND {condition}"
            newest = self._numbers(sql, [phrase, *values], share)
        return Posting(unit, frequency, frozenset(newest), is_whole=len(newest) < share)

    def _numbers(self, sql: str, parameters: Sequence[Any], limit: int) -> list[int]:
        """The highest row numbers of a query, as one value: half the price of a row each."""
        whole = f"SELECT json_group_array(n) FROM ({sql} ORDER BY n DESC LIMIT ?)"
        numbers: list[int] = json.loads(self._rows(whole, [*parameters, limit])[0][0])
        return numbers

    def census(self) -> Census:
        def one(sql: str) -> int:
            return int(self._rows(sql)[0][0])

        kinds = {row[0]: row[1] for row in self._rows("SELECT kind, count(*) FROM entry GROUP BY kind")}
        return Census(
            memories=kinds.get(Kind.MEMORY, 0),
            messages=kinds.get(Kind.MESSAGE, 0),
            conversations=one("SELECT count(*) FROM conversation"),
            projects=one("SELECT count(DISTINCT project) FROM entry"),
            waiting=one("SELECT count(*) FROM waiting"),
            bytes=one("PRAGMA page_count") * one("PRAGMA page_size"),
        )

    def problems(self) -> list[str]:
        found: list[str] = []
        checks = {
            "pages": self._damaged_pages,
            "rows": self._dangling_rows,
            "text index": self._text_index_faults,
        }
        for part, check in checks.items():
            try:
                found += [f"{part}: {problem}" for problem in check()]
            except BackstoryError as error:
                found.append(f"{part}: {error.message}")
        return found

    def _damaged_pages(self) -> list[str]:
        return [row[0] for row in self._rows("PRAGMA integrity_check") if row[0] != "ok"]

    def _dangling_rows(self) -> list[str]:
        rows = self._rows("PRAGMA foreign_key_check")
        return [f"{row[0]} row {row[1]} refers to nothing in {row[2]}" for row in rows]

    def _text_index_faults(self) -> list[str]:
        with self.transaction():
            for table in ("entry_text", "key_text"):
                self._change(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
        unindexed = "SELECT count(*) FROM entry WHERE n NOT IN (SELECT id FROM entry_text_docsize)"
        stray = "SELECT count(*) FROM entry_text_docsize WHERE id NOT IN (SELECT n FROM entry)"
        keyless = (
            "SELECT count(*) FROM entry WHERE key IS NOT NULL AND n NOT IN (SELECT id FROM key_text_docsize)"
        )
        faults = {
            "texts are not in the text index": unindexed,
            "rows of the text index have no text": stray,
            "keys are not in the key index": keyless,
        }
        counts = {fault: self._rows(sql)[0][0] for fault, sql in faults.items()}
        return [f"{count} {fault}" for fault, count in counts.items() if count]

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


def _indexed(*texts: str) -> list[str]:
    from ..domain.words import indexed_text  # compiling its patterns is not for start-up

    return [indexed_text(text) for text in texts]


def _phrase(unit: Unit) -> str:
    """A unit in the syntax of the text index; words hold only letters and digits, so quotes need no care."""
    return f'"{" ".join(unit.words)}"{"*" if unit.is_prefix else ""}'


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
