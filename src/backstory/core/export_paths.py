"""Paths of exports: below the export directory, or where the user chose. No path leads outside.

`..` is refused, and so is a symbolic link out of the export directory, or out of the directory of an absolute path.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import NamedTuple

from ..domain.errors import (
    InvalidInput,
    NotAllowed,
    NotFound,
    StorageFull,
    Unavailable,
    Unreadable,
)
from ..store.whole_files import drafted, replace_file, sync, write_whole

LARGEST_MB = 200
"""A larger file is not read: it would take some gigabytes of memory."""


class ExportPlace(NamedTuple):
    path: Path
    shown: str
    """The form of the path that may be shown to the caller."""


def locate(exports: Path, text: str, field: str) -> Path:
    """Resolve a path given by the caller."""
    if not text.strip() or "\0" in text:
        raise InvalidInput(f"{field} is not a path.", field=field)
    if ".." in text.replace("\\", "/").split("/"):
        raise NotAllowed(f'{field} must not contain "..".', hint="Use the real path.", field=field)
    path = exports / (Path(text).expanduser() if text.startswith("~/") else text)
    is_export = path.is_relative_to(exports)
    base = exports if is_export else path.parent
    try:
        real = path.resolve()
        is_inside = real.is_relative_to(base.resolve())
        is_ring = os.path.islink(real)  # from Python 3.13 on; before, resolve() raises
    except (OSError, RuntimeError):
        is_ring = True
    if is_ring:
        raise NotAllowed(f"{text} cannot be followed.", field=field)
    if not is_inside:
        raise NotAllowed(
            f"{text} is a symbolic link out of {'the export directory' if is_export else base}.",
            hint="Use the real path.",
            field=field,
        )
    return real


def write(place: ExportPlace, text: Iterable[str], exports: Path, openings: Iterable[str]) -> int:
    """Write a file atomically and return its size. It replaces only files that begin with one of the openings."""
    target = place.path
    try:
        if target == exports.resolve():
            raise InvalidInput(
                f"{place.shown} is the export directory itself.",
                hint="Name a file in it.",
                field="path",
            )
        if target.is_relative_to(exports.resolve()):
            exports.mkdir(mode=0o700, parents=True, exist_ok=True)
            _make_folders(target.parent, exports)
        _check_target(place, openings)
        return write_whole(target, text)
    except PermissionError as error:
        raise NotAllowed(
            f"{place.shown} cannot be written: permission denied.", hint="Check its owner and mode."
        ) from error
    except OSError as error:
        raise _in_our_words(error, place) from error


def _make_folders(folder: Path, exports: Path) -> None:
    """mkdir gives its mode to the last folder only."""
    base = exports.resolve()
    for parent in [*reversed(folder.relative_to(base).parents), folder.relative_to(base)]:
        (base / parent).mkdir(mode=0o700, exist_ok=True)


def _check_target(place: ExportPlace, openings: Iterable[str]) -> None:
    target = place.path
    if not target.parent.is_dir():
        raise InvalidInput(
            f"There is no directory {Path(place.shown).parent}.", hint="Make it first.", field="path"
        )
    if not os.path.lexists(target):
        return
    if not target.is_file():
        raise InvalidInput(f"{place.shown} is not a file.", field="path")
    with target.open("rb") as file:
        start = file.read(max(len(opening.encode()) for opening in openings))
    if not any(start.startswith(opening.encode()) for opening in openings):
        raise NotAllowed(
            f"{place.shown} exists and is not an export of Backstory.",
            hint="It was not changed; choose another path.",
            field="path",
        )


def write_new(folder: Path, stem: str, suffix: str, text: Iterable[str]) -> Path:
    """Write a new file atomically and return its path. Existing files are not replaced: a name in use gets a number."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with drafted(folder / f"{stem}{suffix}", text) as draft:
            target = _reserve(folder, stem, suffix)
            replace_file(draft, target)
        sync(folder)
        return target
    except PermissionError as error:
        raise NotAllowed(
            f"{folder} cannot be written to: permission denied.", hint="Check its owner and mode."
        ) from error
    except OSError as error:
        raise _in_our_words(error, ExportPlace(folder, str(folder))) from error


def _reserve(folder: Path, stem: str, suffix: str) -> Path:
    """An empty file of a name that was free. Neither a link nor a file of another process is ever opened."""
    for number in count(1):
        target = folder / (f"{stem}{suffix}" if number == 1 else f"{stem}-{number}{suffix}")
        try:
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            continue
        return target
    raise AssertionError("numbers do not end")


def _in_our_words(error: OSError, place: ExportPlace) -> StorageFull | InvalidInput | Unavailable:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFull(
            f"There is no space left for {place.shown}.", hint="Free some space and try again."
        )
    if error.errno in (errno.ENAMETOOLONG, errno.EINVAL, errno.ENOTDIR):
        return InvalidInput(f"{place.path.name[:80]} cannot be a file here: {error.strerror}.")
    return Unavailable(f"{place.shown} cannot be used: {error.strerror}.")


def read(place: ExportPlace) -> str:
    """The text of a file, checked for size and encoding."""
    path, name = place
    try:
        if not path.exists():
            raise NotFound("file", name, hint="A relative path is looked up below the export directory.")
        if not path.is_file():
            raise InvalidInput(f"{name} is not a file.", field="path")
        if path.stat().st_size > LARGEST_MB * 1_000_000:
            raise InvalidInput(
                f"{name} is larger than {LARGEST_MB} MB.", hint="Nothing was imported.", field="path"
            )
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"{name} is not UTF-8 text, at byte {error.start}.") from error
    except PermissionError as error:
        raise NotAllowed(f"{name} cannot be read: permission denied.") from error
    except OSError as error:
        raise _in_our_words(error, place) from error
