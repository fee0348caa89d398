"""What an importer is, and where a store is that its user named by a file or by a folder."""

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
    """Of what it imports, as the user types it; what is imported is filed under it."""
    title: str
    """For people."""
    read: Callable[[Path], Iterator[Record]]
    """Of a store as `locate` gave it. Raises Unreadable for one that is not what it should be; what was read by then
    stays."""
    locate: Callable[[Path], Path]
    """The store that a file or folder is or holds."""
    find: Callable[[Places], Iterable[Path]]
    """Where this user's stores may be; what is not there is no error."""
    folder: Callable[[Path], Path | None]
    """Whose project a record belongs to that names none; None where it belongs to no project."""
    realm: Callable[[Path], str]
    """What sets this store's places apart from those of other stores of the program."""

    def kinds(self, path: Path) -> Mapping[str, int]:
        """How many records of each kind a store holds."""
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
    """An importer of what lies in one file, which is called as one of `names` (or globs) says. Where rows are only
    numbered, or have no ids at all, the project that the store lies in sets them apart."""

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
    """The file itself, or the one in the folder that has one of the names, the first name first."""
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
    """Of a file, or of all in a folder."""
    if path.is_file():
        return path.stat().st_size
    files = (os.path.join(top, name) for top, _, names in os.walk(path) for name in names)
    return sum(os.path.getsize(file) for file in files if os.path.isfile(file))


def existing_path(path: Path) -> Path:
    """A file or folder that is there, without links."""
    if not path.exists():
        raise InvalidInput(f"There is no file {path}.", hint="Nothing was imported.")
    return path.resolve()
