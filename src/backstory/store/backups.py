"""The backups of a store that is a file: made while it is used, found by their names, changed when something is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..domain.backups import Backup
from ..domain.errors import Unavailable
from .backup_files import backup_path, find_backups
from .database import Database
from .whole_files import make_private, put_in_place, sweep, unfinished

if TYPE_CHECKING:
    from . import Store


class BackupFiles:
    def __init__(
        self, database: Database, folder: Path, name: str, open_copy: Callable[[Path], Store]
    ) -> None:
        self._database = database
        self._folder = folder
        self._name = name
        self._open_copy = open_copy

    def find(self) -> list[Backup]:
        """The oldest first."""
        return find_backups(self._folder, self._name)

    def make(self, at: datetime, reason: str) -> None:
        """One more among the others."""
        sweep(self._folder)
        self._database.backup(backup_path(self._folder, self._name, at, reason))

    def change(self, path: Path, change: Callable[[Store], object]) -> None:
        """Open a backup as a store, change it and put it back. If that fails, the backup is as it was."""
        import shutil  # not for start-up

        new = unfinished(path)
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
