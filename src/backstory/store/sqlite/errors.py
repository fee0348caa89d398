"""SQLite's and the system's failures, in our words."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...domain.errors import BackstoryError, NotAllowed, StorageFull, TimedOut, Unavailable


@contextmanager
def translated(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise in_our_words(error, path) from error


def _full(path: Path) -> StorageFull:
    return StorageFull(
        f"There is no space left for {path}.", hint="Nothing was saved; free some space and try again."
    )


def read_only(path: Path) -> NotAllowed:
    return NotAllowed(
        f"{path} cannot be written: its disk is read-only, or it belongs to another user. Nothing was saved.",
        hint="Check its owner and mode; it can still be searched.",
    )


def in_our_words(error: sqlite3.Error | OSError, path: Path) -> BackstoryError:
    if isinstance(error, PermissionError):
        return NotAllowed(
            f"{error.filename} cannot be used: permission denied.", hint="Check its owner and mode."
        )
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return _full(path)
    if isinstance(error, OSError):
        return Unavailable(f"{path} cannot be opened: {error.strerror}.")
    code = primary_code(error)
    if code == sqlite3.SQLITE_FULL:
        return _full(path)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return TimedOut("The store is busy: another process locks it for too long.", hint="Try again.")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        return read_only(path)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return Unavailable(f"{path} is damaged: {error}.", hint="`backstory restore` restores a backup.")
    return Unavailable(f"The store could not answer: {error}.", hint="`backstory doctor` may find the cause.")


def primary_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF  # the higher bytes contain details
