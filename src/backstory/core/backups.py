"""Automatic backups of the store: one per day, and one before old records are archived.

Only a store that is a file has them; PostgreSQL has its own tools. Forgetting makes none, because it would contain
the forgotten records: it rewrites or removes existing ones.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from ..domain.backups import Backup
from ..domain.errors import InvalidInput, StorageFull

if TYPE_CHECKING:
    from ..store import Store
    from .engine import Engine

DAILY, BEFORE_ARCHIVE = "daily", "before-archive"
DAY = timedelta(days=1)
LEASE, LEASE_MS = "backup", 600_000
BEFORE_KEPT = 3  # of each other reason
LEAST_LEFT_BYTES = 200_000_000  # of the disk, when a backup was made


class Backups:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._store = engine.store
        self._files = engine.store.backups
        self._settings = engine.settings

    def find(self) -> list[Backup]:
        """Automatic backups and files that a person added to the folder, oldest first."""
        return self._files.find() if self._files is not None else []

    def make_daily(self) -> None:
        """Make a backup if the store and its last automatic backup are at least a day old. One process does it."""
        if not self._engine.makes_backups or not self._is_due():
            return
        holder = self._engine.new_id()
        if not self._store.leases.take(LEASE, holder, for_ms=LEASE_MS):
            return
        try:
            if self._is_due():
                self.make(DAILY)
        finally:
            self._store.leases.drop(LEASE, holder)

    def make(self, reason: str) -> None:
        """Unless they are off, or the store is larger than all backups may be."""
        if self._files is None or not self._engine.makes_backups or self.is_too_large():
            return
        self._check_space()
        self._files.make(self._engine.now(), reason)
        for backup in surplus(self.find(), daily=self._settings.backups_kept, most_bytes=self._most_bytes()):
            self.remove(backup)

    def is_too_large(self) -> bool:
        most = self._most_bytes()
        return most is not None and self._store.census().bytes > most

    def rewrite(self, backup: Backup, change: Callable[[Store], object]) -> None:
        """Change the contents of a backup. If that fails, the backup stays untouched."""
        if self._files is None or not backup.is_store:
            raise InvalidInput(f"{backup.path} cannot be changed, only removed.")
        self._files.change(backup.path, change)

    def remove(self, backup: Backup) -> None:
        backup.path.unlink(missing_ok=True)

    def _is_due(self) -> bool:
        last = max((each.made_at for each in self.find() if each.is_automatic), default=self._store.made_at())
        return self._engine.now() - last >= DAY

    def _most_bytes(self) -> float | None:
        limit_mb = self._settings.backups_max_mb
        return None if limit_mb is None else limit_mb * 1_000_000

    def _check_space(self) -> None:
        home = self._settings.home.absolute()
        existing = next(path for path in (home, *home.parents) if path.exists())
        free = shutil.disk_usage(existing).free
        if free < self._store.census().bytes + LEAST_LEFT_BYTES:
            raise StorageFull(
                "The disk has no space for a backup of the store.",
                hint="Free some space, or set BACKSTORY_BACKUPS to off.",
            )


def surplus(backups: list[Backup], *, daily: int, most_bytes: float | None) -> list[Backup]:
    """Automatic backups to delete: all but the last few of each reason, then the oldest until the rest fits `most_bytes`.

    The last backup always stays."""
    automatic = [backup for backup in backups if backup.is_automatic]
    staying = [
        backup
        for backup in automatic
        if backup
        in _of_reason(automatic, backup.reason)[-(daily if backup.reason == DAILY else BEFORE_KEPT) :]
    ]
    while most_bytes is not None and len(staying) > 1 and sum(each.bytes for each in staying) > most_bytes:
        staying.pop(0)
    return [backup for backup in automatic if backup not in staying]


def _of_reason(backups: list[Backup], reason: str) -> list[Backup]:
    return [backup for backup in backups if backup.reason == reason]
