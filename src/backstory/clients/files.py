"""Read and write configuration files of other programs atomically: follow links, preserve modes, and never lose
concurrent changes."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from ..domain.errors import NotAllowed, NotWritten, Unavailable, Unreadable
from ..store.whole_files import drafted, replace_file, sync
from .edits import malformed


def read(path: Path) -> str | None:
    """The text with its original line ends and BOM; None if there is no file."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        if path.is_symlink():
            raise Unreadable(f"it is a link to {os.readlink(path)}, which is not there") from None
        return None
    except OSError as error:
        raise NotAllowed(f"it cannot be read: {error.strerror}") from None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise malformed(data[: error.start].decode(), error.start, "it is not UTF-8") from None


def write(path: Path, text: str, expected: str | None) -> None:
    """Replace the expected text of a file by another."""
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with drafted(target, [text]) as draft:
            _copy_rights(target, draft)
            if read(path) != expected:
                raise Unavailable("it was changed by another program at this moment", hint="Run it again.")
            replace_file(draft, target)
        sync(target.parent)
    except OSError as error:
        raise NotWritten(f"it cannot be written: {error.strerror}") from None


def remove(path: Path, folders: Sequence[Path]) -> None:
    """Remove one of our files, and those of the folders that are then empty."""
    try:
        path.unlink(missing_ok=True)
        for folder in reversed(folders):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
    except OSError as error:
        raise NotWritten(f"it cannot be removed: {error.strerror}") from None


def fingerprint(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def missing_folders(path: Path) -> tuple[Path, ...]:
    """Missing parent folders of a file, outermost first."""
    return tuple(folder for folder in reversed(path.resolve().parents) if not folder.exists())


def _copy_rights(target: Path, draft: Path) -> None:
    """Copy owner and mode of the target; a new file gets the usual mode."""
    if not target.exists():
        mask = os.umask(0)
        os.umask(mask)
        draft.chmod(0o666 & ~mask)
        return
    status = target.stat()
    draft.chmod(stat.S_IMODE(status.st_mode))
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        os.chown(draft, status.st_uid, status.st_gid)
