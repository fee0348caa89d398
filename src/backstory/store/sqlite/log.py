"""The write-ahead log of a SQLite file: which store it was written for, and how to isolate it from another store."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...domain.backups import LOG
from ...domain.lazy import lazy_module
from ...domain.when import utc_now
from ..backups import backup_path
from ..whole_files import make_private
from .header import HEADER_BYTES, FileHeader, read_header

if TYPE_CHECKING:
    import shutil
else:  # 3 ms, for a log that lost its file
    shutil = lazy_module("shutil")

LOG_HEADER_BYTES, FRAME_HEADER_BYTES = 32, 24  # of SQLite's WAL format


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _index_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-shm")


class LogFiles(NamedTuple):
    """The identities of the log and its index; None for a missing file."""

    log: tuple[int, int] | None
    log_index: tuple[int, int] | None

    @classmethod
    def beside(cls, path: Path) -> LogFiles:
        # as texts: making a path takes as long as asking for its status, and every few milliseconds a search asks
        return cls(_key(f"{path}-wal"), _key(f"{path}-shm"))

    def is_foreign_to(self, other: LogFiles) -> bool:
        """True if one of the files exists and differs: another process has started a new log."""
        return any(mine not in (None, theirs) for mine, theirs in zip(self, other, strict=True))


def _key(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def put_away_log(path: Path, backups: Path) -> None:
    """Move a log without its file to the backups.

    Emptying it first makes it useless to processes that still have it open: its contents must not reach the current
    file."""
    log = log_of(path)
    with suppress(FileNotFoundError):
        if log.stat().st_size:
            copy = backup_path(backups, path.stem, utc_now(), LOG, suffix=".wal")
            make_private(copy)
            shutil.copyfile(log, copy)
            # Processes that have the log open must not write its pages to the current file.
            os.truncate(log, 0)
        log.unlink()
    _index_of(path).unlink(missing_ok=True)


def drop_log(path: Path) -> None:
    """Remove the log of a replaced file, after all its contents were saved."""
    for left in (log_of(path), _index_of(path)):
        left.unlink(missing_ok=True)


def _frames(log: Path) -> Iterator[tuple[int, bytes]]:
    """The page number and the first bytes of each frame that counts: those after the last restart have the log's salt."""
    try:
        opened = log.open("rb")
    except FileNotFoundError:
        return
    with opened:
        head = opened.read(LOG_HEADER_BYTES)
        if len(head) < LOG_HEADER_BYTES:
            return
        # The header has the page size at byte 8 and the two salts at byte 16.
        page_bytes, salt = struct.unpack_from(">I", head, 8)[0], head[16:24]
        while (
            len(frame := opened.read(FRAME_HEADER_BYTES + HEADER_BYTES)) == FRAME_HEADER_BYTES + HEADER_BYTES
        ):
            # Another salt: a frame from before the last restart of the log.
            if frame[8:16] != salt:
                return
            yield struct.unpack_from(">I", frame)[0], frame[FRAME_HEADER_BYTES:]
            opened.seek(page_bytes - HEADER_BYTES, os.SEEK_CUR)


def first_page(log: Path) -> FileHeader | None:
    """The header of page 1 as the log's first transaction wrote it."""
    return next((read_header(beginning) for page, beginning in _frames(log) if page == 1), None)


def logged_pages(log: Path) -> set[int]:
    """The numbers of all pages in a log, among them those that were copied to the file already."""
    return {page for page, _ in _frames(log)}


def log_holds(log: Path, pages: range) -> bool:
    return set(pages) <= logged_pages(log)
