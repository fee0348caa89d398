"""The file of a SQLite store: its identity, checks that it is still the same store, and its replacement.

A path may come to name another file (mv, rsync, a restore), or the same file may come to contain other bytes (cp).
The first page of a store therefore has two numbers, in fields that SQLite leaves to applications: `id`
(application_id), which is new in every store and every backup, and `commits` (user_version), which counts
transactions. Counting puts the first page into every transaction of the write-ahead log, which shows whether a log
belongs to the file next to it.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...domain.errors import TimedOut, Unavailable
from ..backups import advice
from ..whole_files import draft_path, make_private, put_in_place, sweep
from .header import HEADER_BYTES, FileHeader, new_store_id, read_header
from .log import LogFiles, first_page, log_holds, log_of, put_away_log

if sys.platform != "win32":
    import fcntl

LOOKS_S = (0.0, 0.02, 0.1, 0.4)
"""Pauses between checks. A checkpoint may be writing the first page, so only a lasting mismatch counts."""
ASK_AGAIN_S = 0.01


class StoreFile:
    """The store's file, kept open as long as a pool has connections to it."""

    def __init__(self, path: Path, backups: Path) -> None:
        self.path = path
        self.is_read_only = not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
        """True if the disk is read-only or the file belongs to another user: it can be searched but not written."""
        self._backups = backups
        # While it is open, no new file can get the same inode number.
        self._held = _hold(path, os.O_RDONLY if self.is_read_only else os.O_RDWR)
        # Two ids while the file still has its former one; see `expect`.
        self._ids: tuple[int, ...] = ()
        self._commits = 0
        self._log_files: LogFiles | None = None

    def check(self) -> None:
        """Raise Unavailable unless the file is a complete store. A log of another file is moved to the backups."""
        header, size = self._held.header(), self._held.size()
        # New stores appear whole (`make_store_file`), so an empty file has lost its contents.
        if not size:
            raise Unavailable(f"{self.path} is empty: its contents were lost.", hint=self._advice())
        if header is None:
            raise Unavailable(
                f"{self.path} is damaged: its beginning is not that of a store.", hint=self._advice()
            )
        if self._has_strange_log():
            if self.is_read_only:
                raise Unavailable(
                    f"The log next to {self.path} belongs to another store, which is read-only."
                )
            put_away_log(self.path, self._backups)
        if not self._is_whole():
            raise Unavailable(
                f"{self.path} is damaged: {size:,} bytes are left of {header.bytes:,}.", hint=self._advice()
            )
        self._ids, self._commits = (header.id,), header.commits

    def _has_strange_log(self) -> bool:
        """True if the log was written for another store, or for a later state of this one.

        The first transaction in a log follows at most one after the last that the file contains."""
        for pause_s in LOOKS_S:
            time.sleep(pause_s)
            # Read the log before the file: a checkpoint in between makes the file newer, never older.
            first = first_page(log_of(self.path))
            header = self._held.header()
            if first is None or header is None or not header.id:
                return False  # stores of older versions have no id to compare
            # A log starts with the first transaction after the last checkpoint.
            if first.id == header.id and first.commits <= header.commits + 1:
                return False
        return True

    def expect(self, id: int) -> None:
        """The id that the store has now; the file itself may get it only at the next checkpoint."""
        self._ids = (*self._ids, id)

    def watch_log(self) -> None:
        """Called when a connection has the log open. As long as one has, SQLite leaves it where it is."""
        self._log_files = LogFiles.beside(self.path)

    def has_log(self) -> bool:
        """True if the log has content that the file may lack."""
        log = log_of(self.path)
        return log.exists() and log.stat().st_size > 0

    def has_its_log(self) -> bool:
        """True if the log we write to is the one that other processes will read."""
        return self._log_files is None or LogFiles.beside(self.path) == self._log_files

    def has_foreign_log(self) -> bool:
        """True if another log has replaced the one we write to."""
        return self._log_files is not None and LogFiles.beside(self.path).is_foreign_to(self._log_files)

    def is_unchanged(self) -> bool:
        """True if the path still names this file and its log, with the same store and not an older state of it.

        The check costs four system calls."""
        return self.has_its_log() and self.is_same_store()

    def is_same_store(self) -> bool:
        """True if the path still names this file, with the same store and not an older state of it."""
        for pause_s in LOOKS_S:
            if pause_s:
                time.sleep(pause_s)
            # Read the header before the size: a checkpoint in between makes the file longer.
            header, size = self._held.header(), self._size_in_place()
            if size is None:
                return False
            if header is not None and self._is_known(header) and self._has_all(header, size):
                self._commits = header.commits
                return True
        return False

    def is_in_place(self) -> bool:
        return self._size_in_place() is not None

    def has_usable_log(self) -> bool:
        """True if the contents of the log may be written to the file."""
        return self._held.header() is not None and not self._has_strange_log() and self._is_whole()

    def _is_known(self, header: FileHeader) -> bool:
        # The checkpoint has arrived: the former id is no longer valid.
        if header.id == self._ids[-1]:
            self._ids = (header.id,)
        # Fewer commits than before: an older state was copied over the file.
        return header.id in self._ids and header.commits >= self._commits

    def _size_in_place(self) -> int | None:
        """The size of the file; None if the path does not name this file."""
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return status.st_size if (status.st_dev, status.st_ino) == self._held.key else None

    def _is_whole(self) -> bool:
        for pause_s in LOOKS_S:
            time.sleep(pause_s)
            header, size = self._held.header(), self._held.size()
            if header is not None and self._has_all(header, size):
                return True
        return False

    def _has_all(self, header: FileHeader, size: int) -> bool:
        """True if the file and its log contain all pages.

        A file is shorter than its header states while a checkpoint extends it; until then the log has the rest."""
        return size >= header.bytes or log_holds(
            log_of(self.path), range(size // header.page_bytes + 1, header.pages + 1)
        )

    def _advice(self) -> str:
        return advice(self._backups, self.path.stem)

    def header(self) -> FileHeader:
        header = self._held.header()
        if header is None:
            raise Unavailable(f"{self.path} does not begin like a store.", hint=self._advice())
        return header

    def read(self, offset: int, size: int) -> bytes:
        """Read bytes of the file itself, without those that are still in the log."""
        return self._held.read(offset, size)

    def write(self, offset: int, data: bytes) -> None:
        """Write bytes that SQLite does not use; see gaps.py."""
        self._held.write(offset, data)

    def close(self) -> None:
        """Release the file. Call it only when the pool has no connection to it."""
        self._held.release()


def gone(path: Path, backups: Path) -> Unavailable:
    return Unavailable(
        f"{path} is gone: it was deleted or moved while it was in use.", hint=advice(backups, path.stem)
    )


def no_log(path: Path) -> Unavailable:
    return Unavailable(
        f"SQLite cannot use a write-ahead log next to {path}.", hint="Put the store on a local disk."
    )


def make_store_file(path: Path, backups: Path) -> None:
    """Create a store without tables, unless the file exists. It appears whole: an empty file was emptied later."""
    sweep(path.parent)  # drafts of processes that died
    put_away_log(path, backups)  # SQLite would replay a leftover log into the new file
    new = draft_path(path)
    try:
        make_private(new)
    except PermissionError as error:
        # Name the store in the error, not the draft.
        error.filename = path
        raise
    connection = sqlite3.connect(new)
    try:
        connection.execute(f"PRAGMA application_id = {new_store_id()}")
        # The mode is stored in the file, so later connections find it set.
        if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            raise no_log(path)
    finally:
        connection.close()
    put_in_place(new, path)


@contextmanager
def alone_in(folder: Path, timeout_s: float) -> Iterator[None]:
    """A lock that lets one process at a time open, create or replace a store in a folder.

    On Windows a file in use cannot be replaced or removed, and SQLite's own locks are enough."""
    if sys.platform == "win32":
        yield
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # A lock on the folder itself leaves no file behind and ends with the process.
    lock = os.open(folder, os.O_RDONLY)
    try:
        deadline = time.monotonic() + timeout_s
        while not _is_locked(lock):
            if time.monotonic() > deadline:
                raise TimedOut(
                    f"Another process takes too long to open a store in {folder}.", hint="Try again."
                )
            time.sleep(ASK_AGAIN_S)
        yield
    finally:
        os.close(lock)


def _is_locked(lock: int) -> bool:
    if sys.platform != "win32":
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


class _Held:
    """A descriptor of a file that SQLite has open too.

    Closing any descriptor of a file drops all locks that the process has on it, including SQLite's. All stores of a
    process therefore share one descriptor per file, until the last of them closes it."""

    def __init__(self, descriptor: int, key: tuple[int, int]) -> None:
        self.key = key
        self.users = 1
        self._descriptors = [descriptor]

    def add(self, descriptor: int | None) -> None:
        self.users += 1
        if descriptor is not None:
            self._descriptors.append(descriptor)

    def size(self) -> int:
        return os.fstat(self._descriptors[0]).st_size

    def header(self) -> FileHeader | None:
        return read_header(self.read(0, HEADER_BYTES))

    def read(self, offset: int, size: int) -> bytes:
        if sys.platform != "win32":
            return os.pread(self._descriptors[0], size, offset)
        # Windows has no pread, so the lock protects the position in the file.
        with _HOLDING:
            os.lseek(self._descriptors[0], offset, os.SEEK_SET)
            return os.read(self._descriptors[0], size)

    def write(self, offset: int, data: bytes) -> None:
        if sys.platform != "win32":
            os.pwrite(self._descriptors[0], data, offset)
            return
        with _HOLDING:
            os.lseek(self._descriptors[0], offset, os.SEEK_SET)
            os.write(self._descriptors[0], data)

    def release(self) -> None:
        with _HOLDING:
            self.users -= 1
            if not self.users:
                del _HELD[self.key]
                for descriptor in self._descriptors:
                    os.close(descriptor)


_HELD: dict[tuple[int, int], _Held] = {}
_HOLDING = threading.Lock()


def _hold(path: Path, mode: int) -> _Held:
    with _HOLDING:
        status = os.stat(path)
        if file := _HELD.get((status.st_dev, status.st_ino)):
            file.add(None)
            return file
        # The path may come to name another file between stat and open, so look again.
        descriptor = os.open(path, mode | getattr(os, "O_BINARY", 0))
        status = os.fstat(descriptor)
        key = (status.st_dev, status.st_ino)
        if file := _HELD.get(key):  # the path now names a file that is already open
            file.add(descriptor)
            return file
        return _HELD.setdefault(key, _Held(descriptor, key))
