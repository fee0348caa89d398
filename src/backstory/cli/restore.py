"""`backstory restore`: replace the store by a backup.

The backup is copied, opened and checked first, and never changed. Running servers continue with the restored store;
everything they had acknowledged is in the copy of the former store.
"""

from __future__ import annotations

import argparse
import shutil
from contextlib import closing
from pathlib import Path

from ..app import STORE, backups_folder, backups_folder_exists, find_spaces, store_path
from ..core import Engine
from ..core.team.spaces import Spaces
from ..domain.census import Census
from ..domain.errors import Incompatible, InvalidInput, NotFound, Unavailable
from ..domain.lines import counted
from ..settings import Settings
from ..store.backups import store_of
from ..store.sqlite import SqliteStore
from ..store.sqlite.header import MAGIC
from ..store.sqlite.log import drop_log, log_of
from ..store.sqlite.restore import replace_store
from ..store.whole_files import draft_path, make_private, sweep
from .report import Report

OURS = b"CREATE VIRTUAL TABLE entry_text USING fts5"
CHUNK = 1 << 20
UNCHANGED = "Nothing was changed."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="a backup; `backstory status` lists the latest, and all with --json",
    )
    parser.add_argument(
        "--space", metavar="NAME", help="team server: restore this store, for example user-alice or team"
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    file: Path = options.file
    space: str = options.space or ""
    live = store_path(settings, space)
    _check_space(settings, space, file)
    _check_ours(file)
    sweep(live.parent)
    incoming = draft_path(live)
    try:
        census = _copy_checked(file, incoming)
        if not space:
            census = _without_left_spaces(settings, incoming) or census
        former = replace_store(
            live, incoming, backups_folder(settings, space), busy_timeout_s=settings.busy_timeout_s
        )
    finally:
        incoming.unlink(missing_ok=True)
        drop_log(incoming)
    body = {"restored": str(file), "kept": former and str(former), "holds": census._asdict()}
    memories, conversations = (
        counted(census.memories, "memory", "memories"),
        counted(census.conversations, "conversation"),
    )
    lines = [f"Restored {memories} and {conversations} from {file}."]
    if former:
        lines.append(f"The previous store is saved as {former}.")
    return Report(body, "\n".join(lines))


def _copy_checked(file: Path, copy: Path) -> Census:
    """Copy a backup, migrate it and check it. Returns its contents."""
    try:
        make_private(copy)
        shutil.copyfile(file, copy)
    except OSError as error:
        raise Unavailable(f"{file} cannot be copied: {error.strerror}.", hint=UNCHANGED) from error
    try:
        with closing(SqliteStore(copy, is_copy=True)) as store:
            problems = store.problems()
            census = store.census()
    except Incompatible:
        raise
    except Unavailable as error:
        raise InvalidInput(f"{file} is damaged.", hint=UNCHANGED) from error
    if problems:
        raise InvalidInput(f"{file} is damaged: {problems[0]}.", hint=UNCHANGED)
    return census


def _without_left_spaces(settings: Settings, copy: Path) -> Census | None:
    """Delete the copies of spaces that the user has left since the backup.

    Returns the remaining contents if there were any."""
    with closing(Engine(settings, SqliteStore(copy, is_copy=True), None)) as engine:
        if not Spaces(engine).remove_left():
            return None
        engine.store.residue.overwrite()
        return engine.store.census()


def _check_space(settings: Settings, space: str, file: Path) -> None:
    """Refuse a space that never existed, which is a mistyped name, and a tenant's backup as the user's own store."""
    live = store_path(settings, space)
    was_there = live.exists() or backups_folder_exists(settings, space)
    if space and (Path(space).name != space or not was_there):
        known = ", ".join(filter(None, find_spaces(settings))) or "none"
        raise NotFound("space", space, hint=f"There are: {known}. {UNCHANGED}")
    store_name = store_of(file)
    if not space and store_name not in (None, live.stem, Path(STORE).stem):
        raise InvalidInput(
            f"{file} is a backup of {store_name}, not of {live.name}.",
            hint=f"Use --space {store_name}, or give the file another name. {UNCHANGED}",
        )


def _check_ours(file: Path) -> None:
    """Refuse files that `backstory backup` did not write, before SQLite opens them."""
    log = log_of(file)
    if log.exists() and log.stat().st_size:
        raise InvalidInput(
            f"{file} is in use: part of it is in {log.name}.",
            hint="Make a complete copy of it with `backstory backup`, and restore that.",
        )
    try:
        with file.open("rb") as opened:
            is_ours = opened.read(len(MAGIC)) == MAGIC and _holds(file, OURS)
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
