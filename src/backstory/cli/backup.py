"""`backstory backup`: a whole, consistent copy of the store, made while servers go on working."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path

from ..app import backups_folder, open_store, store_path
from ..domain.backups import MANUAL
from ..domain.errors import InvalidInput
from ..domain.when import utc_now
from ..settings import Settings
from ..store.backups import backup_path
from .report import Report, size


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", nargs="?", type=Path, help="where to (default: backups/ in the data directory)"
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    source = store_path(settings)
    target: Path = options.file or backup_path(backups_folder(settings), source.stem, utc_now(), MANUAL)
    _check(source, target, is_given=options.file is not None)
    with closing(open_store(settings)) as store:
        store.backup(target)
    count = target.stat().st_size
    return Report({"file": str(target), "bytes": count}, f"{target} ({size(count)})")


def _check(source: Path, target: Path, *, is_given: bool) -> None:
    """A mistyped path makes neither a store nor a folder."""
    if target.exists():
        raise InvalidInput(f"{target} exists already.", hint="Choose another name; nothing was written.")
    if is_given and not target.parent.is_dir():
        raise InvalidInput(
            f"There is no folder {target.parent}.", hint="Make it, or choose another; nothing was written."
        )
    if not source.exists():
        raise InvalidInput(f"There is no store at {source}.", hint="Check --home; nothing was written.")
