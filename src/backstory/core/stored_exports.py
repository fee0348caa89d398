"""Exports of remote callers: stored in the tenant's store, which all replicas share."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import count
from pathlib import PurePosixPath

from ..domain.errors import InvalidInput, NotAllowed, NotFound
from ..domain.exports import StoredExport
from .engine import Engine


def export_name(path: str, field: str) -> str:
    """The name of an export in the store, which a caller gives as a relative path."""
    spelled = path.replace("\\", "/")
    if ".." in spelled.split("/"):
        raise NotAllowed(f'{field} must not contain "..".', hint="Use the real path.", field=field)
    name = PurePosixPath(spelled).as_posix()
    if not path.strip() or "\0" in path or name == ".":
        raise InvalidInput(f"{field} is not the path of a file.", hint="Such as notes.json.", field=field)
    return name


def save(engine: Engine, name: str, text: Iterable[str], quoted: Collection[str]) -> StoredExport:
    """Store an export under a name, replacing the former one."""
    whole = "".join(text)
    export = StoredExport(name, whole, len(whole.encode()), tuple(sorted(set(quoted))), engine.now())
    engine.check_room()
    engine.store.exports.put(export)
    return export


def save_new(
    engine: Engine, stem: str, suffix: str, text: Iterable[str], quoted: Collection[str]
) -> StoredExport:
    """Store an export under a name that is free: one that is taken gets a number."""
    with engine.store.transaction():  # in which no other replica takes the name
        names = (f"{stem}{suffix}" if number == 1 else f"{stem}-{number}{suffix}" for number in count(1))
        name = next(name for name in names if not engine.store.exports.has(name))
        return save(engine, name, text, quoted)


def read(engine: Engine, name: str) -> str:
    export = engine.store.exports.get(name)
    if export is None:
        raise NotFound("file", name, hint="Use the name that the export returned.")
    return export.text
