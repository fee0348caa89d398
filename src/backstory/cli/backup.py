"""`backstory backup`: checked, consistent copies of the stores, made while servers keep running."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path

from ..app import backups_folder, find_spaces, open_store, store_path
from ..domain.backups import MANUAL
from ..domain.errors import InvalidInput, NotFound
from ..domain.lines import counted
from ..domain.when import utc_now
from ..settings import Settings
from ..store.backups import backup_path
from .report import Json, Report, size


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        help="output file for a single store (default: backups/ in the data directory, for every store of a team server)",
    )
    parser.add_argument(
        "--space", metavar="NAME", help="team server: only this store, for example user-alice or team"
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    file: Path | None = options.file
    spaces = _spaces(settings, options.space, is_one=file is not None)
    targets = {space: file or _usual_target(settings, space) for space in spaces}
    for target in targets.values():
        _check(target, is_given=file is not None)
    backups = {space: _back_up(settings, space, target) for space, target in targets.items()}
    text = "\n".join(
        f"{each['file']} ({size(each['bytes'])}, {counted(each['rows'], 'row')} checked)"
        for each in backups.values()
    )
    if file is not None or options.space:
        return Report(backups[spaces[0]], text)
    return Report({**backups.pop("", {}), "spaces": backups}, text)


def _spaces(settings: Settings, space: str | None, *, is_one: bool) -> list[str]:
    """The stores to copy: the named one, the user's own, or all there are. A mistyped path makes no store."""
    source = store_path(settings)
    known = find_spaces(settings)
    if space:
        if space not in known:
            raise NotFound("space", space, hint=f"There are: {', '.join(filter(None, known)) or 'none'}.")
        return [space]
    if not known or (is_one and not source.exists()):
        raise InvalidInput(f"There is no store at {source}.", hint="Check --home; nothing was written.")
    return [""] if is_one else known


def _usual_target(settings: Settings, space: str) -> Path:
    return backup_path(backups_folder(settings, space), store_path(settings, space).stem, utc_now(), MANUAL)


def _back_up(settings: Settings, space: str, target: Path) -> Json:
    with closing(open_store(settings, space)) as store:
        rows = store.backup(target)
    return {"file": str(target), "bytes": target.stat().st_size, "rows": rows}


def _check(target: Path, *, is_given: bool) -> None:
    """A mistyped path makes no folder."""
    if target.exists():
        raise InvalidInput(f"{target} exists already.", hint="Choose another name; nothing was written.")
    if is_given and not target.parent.is_dir():
        raise InvalidInput(
            f"There is no folder {target.parent}.",
            hint="Create it, or choose another one; nothing was written.",
        )
