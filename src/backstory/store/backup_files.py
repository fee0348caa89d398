"""Backups of a store as files of one folder: their names say of which store, of when and why."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from ..domain.backups import MANUAL, Backup

FOLDER = "backups"
_NAME = re.compile(
    r"(?P<store>.+?)-(?P<stamp>\d{8}-\d{6})(?:-(?P<count>\d+))?(?:-(?P<reason>[a-z][a-z-]*))?\.(?:db|wal)"
)
_STAMP = "%Y%m%d-%H%M%S"


def backup_path(folder: Path, store: str, at: datetime, reason: str, *, suffix: str = ".db") -> Path:
    """A name that is free. A second one in the same second is counted."""
    because = f"-{reason}" if reason else ""
    stamp = at.astimezone(UTC).strftime(_STAMP)
    for count in ("", *(f"-{number}" for number in range(2, 1000))):
        path = folder / f"{store}-{stamp}{count}{because}{suffix}"
        if not path.exists():
            return path
    raise AssertionError("a thousand backups in one second")


def find_backups(folder: Path, store: str) -> list[Backup]:
    """Those of a store, the oldest first."""
    found = []
    for path in folder.glob(f"{store}-*") if folder.is_dir() else ():
        match = _NAME.fullmatch(path.name)
        if match and match["store"] == store:
            made_at = datetime.strptime(match["stamp"], _STAMP).replace(tzinfo=UTC)
            found.append(Backup(path, made_at, match["reason"] or MANUAL, path.stat().st_size))
    return sorted(found, key=lambda backup: (backup.made_at, backup.path.name))


def advice(folder: Path, store: str) -> str:
    """What to do about a store that is lost."""
    whole = [backup for backup in find_backups(folder, store) if backup.is_store]
    if not whole:
        return f"There is no backup in {folder}; `backstory restore FILE` takes any copy of a store."
    more = f"; {len(whole) - 1} older ones are in {folder}" if len(whole) > 1 else ""
    return f"`backstory restore '{whole[-1].path}'` brings back the last backup{more}."
