"""The tool surfaces, one module each. A surface translates; it never decides.

To add one: create a module here with a `surface = Surface(...)` and decorate its tools.
Nothing else changes: server, command line, docs and tests read the registry.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Mapping

from ..domain.errors import InvalidInput
from ..tools import Surface, Tool


def load_surfaces(names: Iterable[str] = ()) -> dict[str, Surface]:
    """The named surfaces, or all. Modules are named after their surface: `memory-keeper` is memory_keeper."""
    known = sorted(_names())
    wanted = list(names) or known
    for name in wanted:
        if name not in known:
            raise InvalidInput(
                f"There is no surface {name!r}.", hint=f"Known: {', '.join(known)}.", field="surfaces"
            )
    return {name: _load(name) for name in wanted}


def _names() -> Iterator[str]:
    """Read from the directory: pkgutil would import `inspect` for it, which costs a start 5 ms."""
    for entry in os.scandir(__path__[0]):
        if not entry.name.startswith("_"):
            yield entry.name.removesuffix(".py").replace("_", "-")


def _load(name: str) -> Surface:
    surface = importlib.import_module(f"{__name__}.{name.replace('-', '_')}").surface
    assert isinstance(surface, Surface)
    return surface


def all_tools(surfaces: Mapping[str, Surface]) -> dict[str, Tool]:
    return {name: tool for surface in surfaces.values() for name, tool in surface.tools.items()}
