"""Atomic files: each is written under a temporary name, and renamed when all of it is on the disk."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..domain.lazy import lazy_pattern

DAY_S = 86_400
REPLACE_WAITS_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
F_FULLFSYNC = 51  # of <sys/fcntl.h> on macOS
_UNFINISHED = lazy_pattern(r"\..+\.(\d+)\.new(-wal|-shm|-journal)?")


def draft_path(path: Path) -> Path:
    """The temporary path of a file until it is complete."""
    return path.with_name(f".{path.name}.{os.getpid()}.new")


def make_private(path: Path) -> None:
    """Create a file that only the user can read; SQLite gives -wal and -shm the mode of the main file."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():  # to close a file that SQLite has open would drop this process's locks on it
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def put_in_place(new: Path, path: Path) -> None:
    """Rename the new file into place, durably: after a crash the name has the old or the new contents, complete."""
    sync(new)
    replace_file(new, path)
    sync(path.parent)


def replace_file(new: Path, path: Path) -> None:
    """Rename a file over another one.

    Windows refuses while any program has the old file open, as virus scanners and readers do for a moment."""
    for wait_s in REPLACE_WAITS_S if sys.platform == "win32" else ():
        try:
            os.replace(new, path)
            return
        except PermissionError:
            time.sleep(wait_s)
    os.replace(new, path)


@contextmanager
def drafted(path: Path, text: Iterable[str]) -> Iterator[Path]:
    """Write the text to a draft in the folder of the path and flush it to disk.

    Unless it is renamed, it is deleted at the end."""
    draft = draft_path(path.with_name(f"{path.name[:100]}.{os.urandom(4).hex()}"))
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            for piece in text:
                file.write(piece.encode())
            file.flush()
            sync_file(file.fileno())
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def write_whole(path: Path, text: Iterable[str]) -> int:
    """Replace the file by this text. Returns its size in bytes."""
    with drafted(path, text) as draft:
        size = draft.stat().st_size
        replace_file(draft, path)
    sync(path.parent)
    return size


def sweep(folder: Path) -> None:
    """Remove unfinished files of dead processes."""
    for path in folder.glob(".*.new*"):
        match = _UNFINISHED.fullmatch(path.name)
        if match and not is_running(int(match[1]), path):
            path.unlink(missing_ok=True)


def is_running(process: int, path: Path) -> bool:
    """True if the process that writes a file may still be running."""
    if sys.platform == "win32":  # Windows has no harmless way to ask
        return time.time() - path.stat().st_mtime < DAY_S
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def sync_file(descriptor: int) -> None:
    """Wait until an open file is on the disk, past the drive's own cache."""
    if sys.platform == "darwin":
        import fcntl  # which Windows has not

        with suppress(OSError):  # some network file systems do not know it
            fcntl.fcntl(descriptor, F_FULLFSYNC)
            return
    os.fsync(descriptor)


def sync(path: Path) -> None:
    """A file, or the names in a folder, are on the disk when this returns."""
    if sys.platform == "win32" and path.is_dir():
        return  # where directories cannot be opened
    opened = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        sync_file(opened)
    finally:
        os.close(opened)
