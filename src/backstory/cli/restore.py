"""`backstory restore`: put a backup in the place of the store.

The file is copied, opened and checked before anything else happens, and never changed. What it holds then
replaces the present store in one transaction: a server that runs meanwhile sees the old store or the new one,
never a mixture, and a restore that is killed half way leaves the old one.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from ..app import open_store, store_path
from ..domain.errors import Incompatible, InvalidInput, Unavailable
from ..settings import Settings
from ..store import Store
from .backup import new_backup
from .report import Report, counted

SQLITE = b"SQLite format 3\0"
OURS = b"CREATE VIRTUAL TABLE entry_text USING fts5"
CHUNK = 1 << 20
UNCHANGED = "Nothing was changed."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a file that `backstory backup` wrote")


def run(options: argparse.Namespace, settings: Settings) -> Report:
    file: Path = options.file
    live = store_path(settings)
    _check_ours(file)
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="restore-", dir=settings.home) as folder:
        incoming = _checked_copy(file, Path(folder) / "store.db", settings)
        try:
            kept = _replace_present(live, incoming, settings)
            census = incoming.census()
        finally:
            incoming.close()
    body = {"restored": str(file), "kept": kept and str(kept), "holds": census._asdict()}
    lines = [f"Restored {counted(census.memories, 'memory', 'memories')} from {file}."]
    if kept:
        lines.append(f"What was there before is in {kept}.")
    lines.append("Restart assistants that are open: their servers know the vectors of the old store.")
    return Report(body, "\n".join(lines))


def _checked_copy(file: Path, copy: Path, settings: Settings) -> Store:
    try:
        shutil.copyfile(file, copy)
    except OSError as error:
        raise Unavailable(f"{file} cannot be copied: {error.strerror}.", hint=UNCHANGED) from error
    try:
        store = open_store(settings.changed(database_url=f"sqlite:///{copy}"))
        problems = store.problems()
    except Incompatible:
        raise
    except Unavailable as error:
        raise InvalidInput(f"{file} is damaged.", hint=UNCHANGED) from error
    if problems:
        store.close()
        raise InvalidInput(f"{file} is damaged: {problems[0]}.", hint=UNCHANGED)
    return store


def _replace_present(live: Path, incoming: Store, settings: Settings) -> Path | None:
    """Put the incoming store in the place of the present one; where that one was kept."""
    kept = None
    if live.exists():
        kept = new_backup(settings, "before-restore")
        present = open_store(settings)
        try:
            present.backup(kept)
        finally:
            present.close()
    incoming.backup(live)
    return kept


def _check_ours(file: Path) -> None:
    """Refuse what `backstory backup` did not write, before SQLite is asked to open it."""
    log = file.with_name(f"{file.name}-wal")
    if log.exists() and log.stat().st_size:
        raise InvalidInput(
            f"{file} is in use: part of it is in {log.name}.",
            hint="Make a whole copy of it with `backstory backup`, and restore that.",
        )
    try:
        with file.open("rb") as opened:
            is_ours = opened.read(len(SQLITE)) == SQLITE and _holds(file, OURS)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}.", hint=UNCHANGED) from error
    if not is_ours:
        raise InvalidInput(f"{file} is not a store of Backstory.", hint=UNCHANGED)


def _holds(file: Path, marker: bytes) -> bool:
    with file.open("rb") as opened:
        tail = b""
        while chunk := opened.read(CHUNK):
            if marker in tail + chunk:
                return True
            tail = chunk[-len(marker) :]
    return False
