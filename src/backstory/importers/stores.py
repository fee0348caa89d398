"""The interface of importers, and the location of a store that the user names by a file or folder."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ..core.projects import project_root
from ..domain.errors import InvalidInput, Unreadable
from ..readers import Places
from .contents import ForeignCheckpoint, ForeignFile, ForeignLink, ForeignSession, Record, UnplacedRecords


class Importer(NamedTuple):
    name: str
    """The name of the program, as the user types it. Imported records are filed under it."""
    title: str
    """The name that people read."""
    read: Callable[[Path], Iterator[Record]]
    """Read a store at a path returned by `locate`.

    Raises Unreadable for an invalid one; records read before that remain."""
    locate: Callable[[Path], Path]
    """Return the store that a file or folder is or contains."""
    find: Callable[[Places], Iterable[Path]]
    """Yield possible locations of this user's stores. They need not exist."""
    folder: Callable[[Path], Path | None]
    """Return the project folder for records that name no project; None if they belong to no project."""
    realm: Callable[[Path], str]
    """Return a prefix that separates this store's places from those of other stores of the program."""

    def kinds(self, path: Path) -> Mapping[str, int]:
        """Count the records of each kind in a store."""
        counts: Counter[str] = Counter()
        for record in self.read(self.locate(path)):
            counts[kind_of(record)] += record.times if isinstance(record, UnplacedRecords) else 1
        return counts


def store_importer(
    name: str,
    title: str,
    *,
    read: Callable[[Path], Iterator[Record]],
    find: Callable[[Places], Iterable[Path]],
    names: tuple[str, ...],
    has_own_ids: bool = True,
) -> Importer:
    """Create an importer for stores in a single file with one of these names or globs.

    If rows are only numbered, or have no ids at all, the project that contains the store makes their ids unique."""

    def folder(path: Path) -> Path:
        return path if path.is_dir() else path.parent

    def realm(path: Path) -> str:
        return "" if has_own_ids else str(project_root(folder(path)))

    return Importer(name, title, read, lambda path: locate(path, names), find, folder, realm)


def kind_of(record: Record) -> str:
    if isinstance(record, ForeignSession):
        return "sessions"
    if isinstance(record, ForeignFile):
        return "cached files"
    if isinstance(record, ForeignLink):
        return "relations"
    return "checkpoints" if isinstance(record, ForeignCheckpoint) else record.kind


def locate(path: Path, names: tuple[str, ...]) -> Path:
    """Return the file itself, or the file in the folder with one of the names. Earlier names take precedence."""
    path = existing_path(path)
    if not path.is_dir():
        return path
    for name in names:
        files = sorted(file for file in path.glob(name) if file.is_file())
        if len(files) > 1:
            listed = ", ".join(file.name for file in files)
            raise InvalidInput(f"{path} has several: {listed}.", hint="Name one; nothing was imported.")
        if files:
            return files[0]
    raise Unreadable(f"{path} has no {' or '.join(names)}.", hint="Name the file; nothing was imported.")


def size_of(path: Path) -> int:
    """Return the size of a file, or of all files in a folder."""
    if path.is_file():
        return path.stat().st_size
    files = (os.path.join(top, name) for top, _, names in os.walk(path) for name in names)
    return sum(os.path.getsize(file) for file in files if os.path.isfile(file))


def existing_path(path: Path) -> Path:
    """Return the path with links resolved. Raises InvalidInput if it does not exist."""
    if not path.exists():
        raise InvalidInput(f"There is no file {path}.", hint="Nothing was imported.")
    return path.resolve()
