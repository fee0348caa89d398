"""Bring in, once and on request, what other programs hand out as a file.

To add one: a module here with `importer = Importer(...)`; a reader of export archives is one by itself. Importing the same
file again changes nothing, and whatever is imported is redacted as everything that is read.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from pkgutil import iter_modules
from typing import NamedTuple

from ...domain.errors import InvalidInput, Unavailable, Unreadable
from ...readers import Places, Reader, load_readers
from ..calls import Call
from ..engine import Engine
from ..sync import Sync

PATIENCE_S = 60.0  # for a server that is reading


class ImportReport(NamedTuple):
    """What an import brought."""

    conversations: int = 0
    """That got something new."""
    turns: int = 0
    memories: int = 0
    redacted: int = 0
    skipped: Mapping[str, int] = {}


class Importer(NamedTuple):
    name: str
    title: str
    """For people."""
    run: Callable[[Engine, Path, Call], ImportReport]
    """Raises Unreadable for a file that is not what it should be; what was read of it by then stays."""


def load_importers() -> dict[str, Importer]:
    archives = (_archive_importer(reader) for reader in load_readers().values() if reader.is_export)
    modules = (importlib.import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    importers = [*archives, *(module.importer for module in modules)]
    return {importer.name: importer for importer in sorted(importers, key=lambda each: each.name)}


def run_import(engine: Engine, name: str, path: Path, call: Call | None = None) -> ImportReport:
    known = load_importers()
    if name not in known:
        raise InvalidInput(f"There is no importer {name!r}.", hint=f"Known: {', '.join(known)}.")
    if not path.exists():
        raise InvalidInput(f"There is no file {path}.", hint="Nothing was imported.")
    return known[name].run(engine, path, call or Call())


def _archive_importer(reader: Reader) -> Importer:
    def run(engine: Engine, path: Path, call: Call) -> ImportReport:
        places = Places(path.parent, {}, sys.platform, roots={reader.name: (path.resolve(),)})
        outcome = Sync(engine).run([reader], places, call=call, patience_s=PATIENCE_S)
        if outcome is None:
            raise Unavailable("Another process has been reading histories all the time.", hint="Try again.")
        told = outcome[reader.name]
        if problem := told.problems.get(str(path.resolve())):
            engine.store.sync.mark_gone(
                [str(path.resolve())]
            )  # it was looked at once, and is no problem of ours
            raise Unreadable(problem)
        if not told.sources:
            raise Unreadable(
                f"{path} has no conversations.json.", hint="Choose the archive as it was downloaded."
            )
        return ImportReport(told.conversations, told.turns, 0, told.redacted, told.skipped)

    return Importer(reader.name, reader.title, run)
