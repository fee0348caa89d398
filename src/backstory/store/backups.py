"""The backups of a store that is a file: made while it is used, found by their names, changed when something is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..domain.backups import MANUAL, Backup
from ..domain.errors import Unavailable
from ..domain.lazy import lazy_module, lazy_pattern
from .database import Database
from .whole_files import draft_path, make_private, put_in_place, sweep

if TYPE_CHECKING:
    import shutil

    from . import Store
else:  # 3 ms, for the rare change of a backup
    shutil = lazy_module("shutil")

FOLDER = "backups"
_NAME = lazy_pattern(
    r"(?P<store>.+?)-(?P<stamp>\d{8}-\d{6})(?:-(?P<count>\d+))?(?:-(?P<reason>[a-z][a-z-]*))?\.(?:db|wal)"
)
_STAMP = "%Y%m%d-%H%M%S"


class BackupFiles:
    def __init__(
        self, database: Database, folder: Path, name: str, open_copy: Callable[[Path], Store]
    ) -> None:
        self._database = database
        self._folder = folder
        self._name = name
        self._open_copy = open_copy

    def find(self) -> list[Backup]:
        """The backups of this store, oldest first."""
        return find_backups(self._folder, self._name)

    def make(self, at: datetime, reason: str) -> None:
        """One more among the others, if it is sound."""
        sweep(self._folder)
        self._database.backup(backup_path(self._folder, self._name, at, reason), is_checked=True)

    def change(self, path: Path, change: Callable[[Store], object]) -> None:
        """Open a backup as a store, change it and replace the original file. If the change fails, the backup stays untouched."""
        new = draft_path(path)
        try:
            make_private(new)
            shutil.copyfile(path, new)
            with closing(self._open_copy(new)) as copy:
                change(copy)
            put_in_place(new, path)
        except OSError as error:
            raise Unavailable(f"{path} cannot be changed: {error.strerror}.") from error
        finally:
            for left in new.parent.glob(f"{new.name}*"):
                left.unlink(missing_ok=True)


def backup_path(folder: Path, store: str, at: datetime, reason: str, *, suffix: str = ".db") -> Path:
    """A name that is free. A second one in the same second is counted."""
    because = f"-{reason}" if reason else ""
    stamp = at.astimezone(UTC).strftime(_STAMP)
    for count in ("", *(f"-{number}" for number in range(2, 1000))):
        path = folder / f"{store}-{stamp}{count}{because}{suffix}"
        if not path.exists():
            return path
    raise AssertionError("a thousand backups in one second")


def store_of(path: Path) -> str | None:
    """The store that a backup was made of, by its name; None if it is not named as we name them."""
    match = _NAME.fullmatch(path.name)
    return match["store"] if match else None


def find_backups(folder: Path, store: str) -> list[Backup]:
    """The backups of a store, oldest first."""
    backups = []
    for path in folder.glob(f"{store}-*") if folder.is_dir() else ():
        match = _NAME.fullmatch(path.name)
        if match and match["store"] == store:
            made_at = datetime.strptime(match["stamp"], _STAMP).replace(tzinfo=UTC)
            backups.append(Backup(path, made_at, match["reason"] or MANUAL, path.stat().st_size))
    return sorted(backups, key=lambda backup: (backup.made_at, backup.path.name))


def advice(folder: Path, store: str) -> str:
    """A hint for the user on how to recover a lost store."""
    whole = [backup for backup in find_backups(folder, store) if backup.is_store]
    if not whole:
        return f"There is no backup in {folder}; `backstory restore FILE` takes any copy of a store."
    more = f"; {len(whole) - 1} older ones are in {folder}" if len(whole) > 1 else ""
    return f"`backstory restore '{whole[-1].path}'` brings back the last backup{more}."
