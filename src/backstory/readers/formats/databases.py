"""SQLite databases of other programs, read while their owner may write, without leaving a trace in their directory.

To read a database in WAL mode, SQLite creates a -shm file or writes to the existing one. Each method in `open_database`
avoids that. Do not leave a cursor open while others work: it can block the owner's writes."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

from ...domain.errors import Unreadable
from .. import ConversationHeader, Cursor, Piece
from .documents import parse
from .files import open_regular
from .values import Value

MAGIC = b"SQLite format 3\0"
WAL_MODE = 2  # value of the "read version" in byte 19 of the header
WAIT_S = 2.0
COPIES = 3  # attempts: a copy made while the owner wrote may be inconsistent
BESIDE = ("-wal", "-journal")
NOT_JSON = "not JSON"


def stamp(path: Path) -> tuple[int, int]:
    """Return size and modification time (ns) of a database, including its -wal with changes not yet merged."""
    states = [path.stat()]
    with suppress(FileNotFoundError):
        states.append(beside(path, "-wal").stat())
    return sum(state.st_size for state in states), max(state.st_mtime_ns for state in states)


def beside(path: Path, ending: str) -> Path:
    """Return the path of a companion file, in the directory of the file that a link points to, as SQLite does."""
    file = path.resolve()
    return file.with_name(file.name + ending)


@contextmanager
def open_database(path: Path, *, wait_s: float = WAIT_S) -> Iterator[sqlite3.Connection]:
    """Open a read-only connection. Damage found while reading raises Unreadable.

    The directory of the database does not change, to the byte and the nanosecond."""
    with ExitStack() as stack:
        options = _direct_options(path)
        connection = _connect(path, options, wait_s) if options else None
        if connection is None:
            directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="backstory-"))
            connection = _connect(_copy(path, Path(directory)), "mode=rw", wait_s)
        if connection is None:
            raise Unreadable(f"{path} cannot be opened as a database.")
        stack.callback(connection.close)
        try:
            yield connection
        except sqlite3.DatabaseError as error:
            raise Unreadable(f"{path} cannot be read: {error}.") from error


@contextmanager
def open_copy(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a connection to a copy of the database, for callers that read all of it and take long.

    The copy includes changes in the -wal. Nothing in its schema is executed."""
    for ending in ("", *BESIDE):
        if ending == "" or beside(path, ending).exists():
            open_regular(beside(path, ending)).close()
    with tempfile.TemporaryDirectory(prefix="backstory-") as directory:
        copy = _copy(path, Path(directory))
        with open_regular(copy) as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise Unreadable(f"{path} is not a SQLite database.")
        connection = _connect(copy, "mode=rw", WAIT_S)
        if connection is None:
            raise Unreadable(f"{path} cannot be opened as a database.")
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA query_only = ON")
            yield connection
        except sqlite3.DatabaseError as error:
            raise Unreadable(f"{path} cannot be read: {error}.") from error
        finally:
            connection.close()


def records(connection: sqlite3.Connection, table: str) -> Iterator[dict[str, Value]]:
    """Yield the rows of a table by column name; none if the table does not exist."""
    # without generated columns, which would run expressions chosen by the owner
    described = connection.execute("SELECT name FROM pragma_table_info(?) ORDER BY cid", (table,))
    names = [name for (name,) in described] if table in tables(connection) else []
    if not names:
        return
    cursor = connection.execute(f"SELECT {', '.join(map(_quoted, names))} FROM {_quoted(table)}")
    for row in cursor:
        yield dict(zip(names, row, strict=True))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _direct_options(path: Path) -> str:
    """Return the URI options for reading in place, or "" if only a copy can be read."""
    for ending in ("-wal", "-shm", "-journal"):
        _check_regular(beside(path, ending))
    with open_regular(path) as file:
        header = file.read(100)
    if not header.startswith(MAGIC):
        raise Unreadable(f"{path} is not a SQLite database.")
    if header[19] != WAL_MODE:
        # with a rollback journal, SQLite reads without creating files
        return "mode=ro"
    if beside(path, "-shm").exists():
        # share the owner's -shm, but do not write to it
        return "mode=ro&readonly_shm=1"
    wal = beside(path, "-wal")
    # Without a -shm and with an empty -wal, no process has the database open. If its owner writes while we read, the stamp
    # changes and the database is read again.
    return "" if wal.exists() and wal.stat().st_size else "mode=ro&immutable=1"


def _check_regular(path: Path) -> None:
    """Refuse companion files that are not regular: SQLite opens them automatically and would block on a named pipe."""
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(path.stat().st_mode):
            raise Unreadable(f"{path} is not a regular file.")


def _connect(path: Path, options: str, wait_s: float) -> sqlite3.Connection | None:
    """Return None if it is locked, was left by a crash in the middle of a change, or cannot be read without a -shm."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}", uri=True, timeout=wait_s, isolation_level=None
    )
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        return None
    except sqlite3.DatabaseError as error:
        connection.close()
        raise Unreadable(f"{path} cannot be read: {error}.") from error
    return connection


def _copy(path: Path, directory: Path) -> Path:
    copy = directory / path.name
    for _ in range(COPIES):
        before = stamp(path)
        for ending in ("", *BESIDE):
            # files of an earlier attempt must not be combined with newer ones
            beside(copy, ending).unlink(missing_ok=True)
            if ending == "" or beside(path, ending).exists():
                shutil.copyfile(beside(path, ending), beside(copy, ending))
        if stamp(path) == before:
            return copy
    raise Unreadable(
        f"{path} changed during every attempt to copy it.",
        hint="Try again when its program is idle; a sync does so automatically.",
    )


def tables(connection: sqlite3.Connection) -> frozenset[str]:
    return frozenset(
        name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    )


def columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    return frozenset(
        name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    )


def listed(connection: sqlite3.Connection, table: str, names: Iterable[str]) -> list[dict[str, Any]]:
    """Return the rows of a table in the order of their ids, with those of the columns that exist; none without ids."""
    known = columns(connection, table)
    wanted = [name for name in names if name in known]
    if "id" not in wanted:
        return []
    rows = connection.execute(f"SELECT {', '.join(wanted)} FROM {table} ORDER BY id")
    return [dict(zip(wanted, row, strict=True)) for row in rows]


def item(connection: sqlite3.Connection, key: str) -> Value:
    """Return one value of the table in which VS Code and its relatives store their state."""
    if "ItemTable" not in tables(connection):
        return None
    row = connection.execute("SELECT value FROM ItemTable WHERE key = ?", (key,)).fetchone()
    value: Value = row and row[0]
    return value


def document(value: Value) -> Any:
    """Parse the JSON in a value; None for NULL, an empty value, a number, or invalid text."""
    if not isinstance(value, str | bytes) or not value:
        return None
    try:
        return parse(value.encode("utf-8", "replace") if isinstance(value, str) else value)
    except (ValueError, RecursionError):
        return None


class DatabaseProgress:
    """The versions of a source's conversations that were read. Only changed ones are read again."""

    def __init__(self, cursor: Cursor) -> None:
        known = cursor.state.get("versions")
        self._known: Mapping[str, str] = known if isinstance(known, Mapping) else {}
        self._now: dict[str, str] = {}
        self.skipped: Counter[str] = Counter()
        """Skipped records that belong to no conversation."""
        self.is_complete = False
        """True if all conversations of the source were listed in a known format.

        A conversation that was not listed was deleted."""

    def is_new(self, conversation: str, version: str) -> bool:
        self._now[conversation] = version
        return self._known.get(conversation) != version

    def with_cursor(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """Yield the pieces, the last one with the cursor: all of them are stored before the source counts as read."""
        last: Piece | None = None
        for piece in chain(pieces, self._deleted()):
            if last:
                yield last
            last = piece
        if last:
            yield last._replace(
                cursor=Cursor(state={"versions": self._now}), skipped=self.skipped + Counter(last.skipped)
            )

    def _deleted(self) -> Iterator[Piece]:
        if self.is_complete:
            for id in sorted(self._known.keys() - self._now.keys()):
                yield Piece(ConversationHeader(id, ""), (), is_gone=True)


def read_database(
    path: Path,
    cursor: Cursor,
    read: Callable[[sqlite3.Connection, Path, DatabaseProgress], Iterable[Piece]],
) -> Iterator[Piece]:
    """Yield the pieces that `read` returns for unread conversations; the last one has the cursor."""
    progress = DatabaseProgress(cursor)
    with open_database(path) as connection:
        yield from progress.with_cursor(read(connection, path, progress))
