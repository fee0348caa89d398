"""Import, on request, the stores of other programs and archives of conversations.

To add an importer, write a module in `programs`, or `importer` in the package of a guest, with `importer =
store_importer(...)`. A reader of export archives is an importer automatically. A foreign store is copied and read,
never changed. Importing it again changes nothing, records that the user deleted here stay deleted, and everything
imported is redacted like all other records."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ..core.calls import Call
from ..core.engine import Engine
from ..domain.discovery import guest_modules, modules_in
from ..domain.errors import BackstoryError, InvalidInput
from ..readers import Places, load_readers
from . import programs
from .archives import archive_importer
from .arrival import Arrival, Choices
from .counts import Outcome
from .memories import ImportSource
from .owners import Owners
from .stores import Importer, size_of

__all__ = ["Choices", "FoundStore", "Importer", "Outcome", "find_stores", "load_importers", "run_import"]


class FoundStore(NamedTuple):
    """A store at one of its program's usual locations."""

    importer: Importer
    path: Path
    size: int
    kinds: Mapping[str, int]
    """Number of records of each kind."""
    problem: str = ""
    """The reason why it cannot be read."""


def load_importers() -> dict[str, Importer]:
    archives = (archive_importer(reader) for reader in load_readers().values() if reader.is_export)
    importers = [*archives, *(importlib.import_module(module).importer for module in _modules())]
    return {importer.name: importer for importer in sorted(importers, key=lambda each: each.name)}


def _modules() -> Iterator[str]:
    """Yield the modules of all programs. A guest's importer is in the guest's own package."""
    yield from (f"{programs.__name__}.{name}" for name in modules_in(programs.__path__))
    yield from guest_modules("importer").values()


def find_stores(places: Places) -> Iterator[FoundStore]:
    """Yield the stores at the usual locations. Nothing is imported."""
    for importer in load_importers().values():
        for path in _existing_stores(importer, places):
            try:
                yield FoundStore(importer, path, size_of(path), importer.kinds(path))
            except BackstoryError as error:
                yield FoundStore(importer, path, size_of(path), {}, str(error))


def run_import(
    engine: Engine,
    name: str,
    path: Path | None,
    places: Places,
    choices: Choices,
    call: Call | None = None,
) -> tuple[Path, Outcome]:
    """Import a store, by default the only one at the usual locations. Return its path and the outcome."""
    known = load_importers()
    if name not in known:
        raise InvalidInput(f"There is no importer {name!r}.", hint=f"Known: {', '.join(known)}.")
    importer = known[name]
    store = importer.locate(_only(importer, places) if path is None else path)
    projects = dict.fromkeys([*engine.store.conversations.projects(), *engine.store.entries.projects()])
    owners = Owners(importer.folder(store), projects, places.platform)
    source = ImportSource(name, str(store), importer.realm(store))
    arrival = Arrival(engine, source, importer.title, owners, choices, call or Call())
    return store, arrival.keep(importer.read(store))


def _only(importer: Importer, places: Places) -> Path:
    stores = _existing_stores(importer, places)
    if not stores:
        raise InvalidInput(
            f"No store of {importer.title} was found in its usual locations.",
            hint=f"Name the file or its folder: backstory import {importer.name} PATH.",
        )
    if len(stores) > 1:
        raise InvalidInput(
            f"{importer.title} has several stores: {', '.join(map(str, stores))}.",
            hint=f"Name one: backstory import {importer.name} PATH.",
        )
    return stores[0]


def _existing_stores(importer: Importer, places: Places) -> list[Path]:
    """Return the existing paths, each once even if several links lead to it."""
    there = [path.resolve() for path in importer.find(places) if path.exists()]
    return list(dict.fromkeys(there))
