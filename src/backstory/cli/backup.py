"""`backstory backup`: a whole, consistent copy of the store, made while servers go on working."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..app import open_store
from ..domain.errors import InvalidInput
from ..domain.when import utc_now
from ..settings import Settings
from .report import Report, size, stamp

BACKUPS = "backups"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", type=Path, help="where to (default: backups/ in the data directory)"
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    target: Path = options.file or new_backup(settings, "store")
    if target.exists():
        raise InvalidInput(f"{target} exists already.", hint="Choose another name; nothing was written.")
    store = open_store(settings)
    try:
        store.backup(target)
    finally:
        store.close()
    count = target.stat().st_size
    return Report({"file": str(target), "bytes": count}, f"{target} ({size(count)})")


def new_backup(settings: Settings, name: str) -> Path:
    return settings.home / BACKUPS / f"{name}-{stamp(utc_now())}.db"
