"""Connections to one SQLite file, shared by threads, and reopened when the path comes to name another store."""

from __future__ import annotations

import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ...domain.errors import TimedOut, Unavailable
from .. import migrate
from .errors import primary_code
from .file import ASK_AGAIN_S, StoreFile, alone_in, gone, make_store_file, no_log
from .header import new_store_id
from .log import put_away_log

LOOK_EVERY_S = 0.005  # how long a read may use a replaced file; a transaction checks every time
PRAGMAS = (
    "synchronous = FULL",  # a commit survives a power failure
    "foreign_keys = ON",
    "cache_size = -8000",  # KiB
    "secure_delete = ON",  # overwrite deleted rows in their pages
    "trusted_schema = ON",  # triggers call known_level()
)
MACOS_PRAGMAS = ("fullfsync = ON", "checkpoint_fullfsync = ON")
"""On macOS fsync() returns before the drive has written its cache; F_FULLFSYNC waits for that."""


class SqlitePool:
    """Connections to one store file.

    `prepare` is called with every newly opened store before any caller gets a connection: it migrates the schema and
    drops data derived from a former file. The first time, a missing file is created; later, a missing file is an
    error."""

    def __init__(
        self, path: Path, backups: Path, *, busy_timeout_s: float, prepare: Callable[[], None]
    ) -> None:
        self._path = path
        self._backups = backups
        self._busy_timeout_s = busy_timeout_s
        self._prepare = prepare
        self._file: StoreFile | None = None
        self._free: list[sqlite3.Connection] = []
        self._open: list[sqlite3.Connection] = []
        self._looked_at = 0.0
        self._is_closed = False
        self._is_known = False  # True after the first opening: a missing file is then an error
        self._opener: int | None = None  # the thread that opens the store while the others wait
        self._changed = threading.Condition()

    def take(self) -> sqlite3.Connection:
        """Borrow the connection that was used last, because its caches are warm. The caller must return it."""
        with self._changed:
            while True:
                while not self._is_usable():
                    self._open_anew()
                if self._free:
                    return self._free.pop()
                self._free.append(self._connect())
                self._looked_at = 0.0  # check that the new connection is to the same file

    def give_back(self, connection: sqlite3.Connection) -> None:
        with self._changed:
            self._free.append(connection)
            if self._is_closed:
                self._close_unused()
            elif self._opener is not None:
                self._changed.notify_all()

    @property
    def is_read_only(self) -> bool:
        """True if the store that was opened last is read-only."""
        return self._file is not None and self._file.is_read_only

    @property
    def file(self) -> StoreFile:
        """The store file that was opened last."""
        if self._file is None:
            raise Unavailable("The store is closed.", hint="Try again.")
        return self._file

    def is_unchanged(self) -> bool:
        """True if the work on a borrowed connection went to the store that the path names now."""
        return self._file is not None and self._file.is_unchanged()

    def close(self) -> None:
        """Close the pool. Connections in use are closed when they are returned."""
        with self._changed:
            self._is_closed = True
            self._looked_at = 0.0
            self._close_unused()

    def _close_unused(self) -> None:
        if len(self._free) == len(self._open):
            self._let_go()

    def _is_usable(self) -> bool:
        if self._opener is None and time.monotonic() - self._looked_at < LOOK_EVERY_S:
            return True
        # `prepare` runs on this thread and needs connections itself.
        if self._opener == threading.get_ident():
            return True
        if not self._changed.wait_for(lambda: self._opener is None, self._busy_timeout_s):
            raise TimedOut("Opening the store takes too long.", hint="Try again.")
        if self._is_closed:
            raise Unavailable("The store could not answer: it is closed.")
        if self._file is None or not self._file.is_unchanged():
            return False
        self._looked_at = time.monotonic()
        return True

    def _open_anew(self) -> None:
        """Open the store again while other threads wait.

        Two stores of one process must not share an index of the log, as they would in one file: all connections to
        the former store are closed first."""
        self._opener = threading.get_ident()
        try:
            if not self._changed.wait_for(lambda: len(self._free) == len(self._open), self._busy_timeout_s):
                raise TimedOut("The store was replaced while a call used the former one.", hint="Try again.")
            self._let_go()
            self._open_file()
            # Released during a migration, so that waiting threads can time out.
            self._changed.release()
            try:
                self._prepare()
            finally:
                self._changed.acquire()
            self._is_known = True
        except BaseException:
            self._let_go()
            raise
        finally:
            self._opener = None
            self._changed.notify_all()

    def _open_file(self) -> None:
        with alone_in(self._path.parent, self._busy_timeout_s):
            if not self._path.exists():
                if self._is_known:
                    raise gone(self._path, self._backups)
                make_store_file(self._path, self._backups)
            self._file = StoreFile(self._path, self._backups)
            self._file.check()
            self._free.append(self._connect())
        if not self._file.is_read_only:
            self._file.expect(_store_id(self._free[0]))
        self._file.watch_log()

    def _connect(self) -> sqlite3.Connection:
        # isolation_level=None: transactions are explicit; check_same_thread=False: threads share connections.
        connection = sqlite3.connect(
            f"{self._path.absolute().as_uri()}?{self._mode()}",
            uri=True,
            timeout=self._busy_timeout_s,
            isolation_level=None,
            check_same_thread=False,
        )
        self._open.append(connection)
        if not self.is_read_only:
            self._use_wal(connection)
        for pragma in (*PRAGMAS, *(MACOS_PRAGMAS if sys.platform == "darwin" else ())):
            connection.execute(f"PRAGMA {pragma}")
        # triggers ask for it
        connection.create_function("known_level", 0, lambda: migrate.LATEST, deterministic=True)
        return connection

    def _mode(self) -> str:
        """The mode in which SQLite opens the file. A file that was just removed is not created again."""
        if self._file is None or not self._file.is_read_only:
            return "mode=rw"
        # Without `immutable` SQLite would create an index of the log, which is needed only if there is a log.
        return "mode=ro" if self._file.has_log() else "mode=ro&immutable=1"

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        """Switch a new file to WAL. This is the only statement that does not wait for other connections itself."""
        deadline = time.monotonic() + self._busy_timeout_s
        while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            try:
                mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            except sqlite3.OperationalError as error:
                if primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
                continue
            if mode != "wal":
                raise no_log(self._path)

    def _let_go(self) -> None:
        if self._file is None:
            return
        if self._open and not self._file.is_unchanged():
            # Before closing: the last connection to close writes the log into the file.
            self._part_from(self._file, self._open[0])
        for connection in self._open:
            connection.close()
        self._open.clear()
        self._free.clear()
        self._file.close()
        self._file = None
        self._looked_at = 0.0

    def _part_from(self, file: StoreFile, connection: sqlite3.Connection) -> None:
        """Disconnect from a former store file.

        If the file was moved, the contents of its log are written to it, so that it is whole in its new place. If
        its contents were replaced, the log must not reach the new contents, as it would when the last connection is
        closed."""
        if not file.is_in_place():
            with suppress(sqlite3.Error):
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return
        with alone_in(self._path.parent, self._busy_timeout_s):
            if not file.has_its_log():
                # A new log has newer versions of the same pages, and another store has other pages.
                if not file.has_foreign_log() and file.is_same_store():
                    self._save_lost_log(connection)
            elif not file.has_usable_log():
                put_away_log(self._path, self._backups)

    def _save_lost_log(self, connection: sqlite3.Connection) -> None:
        """Write the log to the file after another program deleted the log while connections had it open."""
        deadline = time.monotonic() + self._busy_timeout_s
        while True:
            is_busy, frames, copied = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not is_busy or frames == copied:
                return
            if time.monotonic() > deadline:
                raise TimedOut(
                    f"The log of {self._path} was deleted while another process reads it.",
                    hint="Try again.",
                )
            time.sleep(ASK_AGAIN_S)


def _store_id(connection: sqlite3.Connection) -> int:
    """A store of an older version gets its id here."""
    id: int = connection.execute("PRAGMA application_id").fetchone()[0]
    if id:
        return id
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again: another process may have set it while this one waited for the lock.
        id = connection.execute("PRAGMA application_id").fetchone()[0] or new_store_id()
        connection.execute(f"PRAGMA application_id = {id}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    # Copies the id from the log to the file, where other processes look for it.
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    return id
