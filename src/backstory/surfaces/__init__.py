"""The registry of tool surfaces: Backstory's own, in this package, and those of the guests.

To add one, create a package in `guests`, or a module here, with `surface = Surface(...)`, and decorate its tools.
Nothing else changes: server, command line, docs and tests read the registry.

The first call waits only for the module that declares its tool (`find_tool`); listing the tools imports all of them."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from ..domain.discovery import guest_modules, modules_in
from ..domain.errors import InvalidInput
from ..front import PREPARED
from ..tools import Surface, Tool
from ..tools.profiles import ProfileChoice, choose

MAX_PREFIX_LENGTH = 20
DECLARATIONS = os.path.join(PREPARED, "declarations.tsv")
"""Table of the module that declares each tool of each surface. scripts/write_docs.py writes it."""


class Surfaces(Mapping[str, Surface]):
    """Surfaces by name, imported on first access. A client waits for `initialize`, which needs only their names."""

    def __init__(self, names: Iterable[str], prefix: str = "", profile: ProfileChoice | None = None) -> None:
        self._names = tuple(names)
        self.prefix = prefix
        self._profile = profile
        self._narrowed: dict[str, Surface] = {}
        self._warnings: list[str] = []

    def __getitem__(self, name: str) -> Surface:
        if name not in self._names:
            raise KeyError(name)
        surface = _load(name).prefixed(self.prefix)
        if self._profile is None or surface.profiles is None:
            return surface
        if name not in self._narrowed:  # read the user's file only once
            profile = choose(self._profile, surface.profiles, surface.tools)
            self._warnings += profile.warnings
            self._narrowed[name] = surface.narrowed(profile.name, profile.tools)
        return self._narrowed[name]

    def declaring(self, tool: str) -> Surface | None:
        """Return the surface of a tool after importing at least the module that declares the tool.

        Returns None if tool names depend on a prefix or a profile. Importing every surface takes 250 ms, and the first
        call of a session would wait for it."""
        name, module = _declarations().get(tool, ("", ""))
        if self.prefix or self._profile or name not in self._names:
            return None
        surface: Surface = importlib.import_module(module).surface
        return surface

    def profile_warnings(self) -> list[str]:
        """Warnings about the chosen profile, if it cannot be served as the user wrote it."""
        if self._profile is not None:
            list(self.values())
        return self._warnings

    def __contains__(self, name: object) -> bool:
        """Check a name without importing the surface, which the inherited method would do."""
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def load_surfaces(
    names: Iterable[str] = (), prefix: str = "", profile: ProfileChoice | None = None
) -> Surfaces:
    """Return the named surfaces, or all of them.

    Modules are named after their surface: `memory-keeper` is memory_keeper. Tools that support a prefix get this one,
    and surfaces with profiles get the tools of the chosen profile."""
    if prefix and not (
        len(prefix) <= MAX_PREFIX_LENGTH and prefix.isascii() and prefix.replace("-", "_").isidentifier()
    ):
        raise InvalidInput(
            f"prefix {prefix!r} cannot begin the name of a tool.",
            hint=f"Use at most {MAX_PREFIX_LENGTH} letters, digits, `_` and `-`, beginning with a letter, such as backstory_.",
            field="prefix",
        )
    known = sorted(_modules())
    wanted = list(names) or known
    for name in wanted:
        if name not in known:
            raise InvalidInput(
                f"There is no surface {name!r}.", hint=f"Known: {', '.join(known)}.", field="surfaces"
            )
    return Surfaces(wanted, prefix, profile)


def _modules() -> dict[str, str]:
    """Map each surface's name to its module, without importing any."""
    modules = {name: f"{__name__}.{name}" for name in modules_in(__path__)} | guest_modules("tools")
    modules["backstory"] += ".chapters"
    return {name.replace("_", "-"): module for name, module in modules.items()}


def _load(name: str) -> Surface:
    surface = importlib.import_module(_modules()[name]).surface
    assert isinstance(surface, Surface)
    return surface


def all_tools(surfaces: Mapping[str, Surface]) -> dict[str, Tool]:
    return {name: tool for surface in surfaces.values() for name, tool in surface.tools.items()}


def callable_tools(surfaces: Mapping[str, Surface]) -> dict[str, Tool]:
    """Return all tools, including unlisted ones."""
    return all_tools(surfaces) | {
        name: tool for surface in surfaces.values() for name, tool in surface.unlisted.items()
    }


def find_tool(surfaces: Mapping[str, Surface], name: str) -> Tool | None:
    """Return the tool with this name, listed or not."""
    surface = surfaces.declaring(name) if isinstance(surfaces, Surfaces) else None
    tools = callable_tools(surfaces) if surface is None else surface.tools | surface.unlisted
    return tools.get(name)


def prefix_of(surfaces: Mapping[str, Surface]) -> str:
    """Return the prefix of tool names on surfaces that support one."""
    return surfaces.prefix if isinstance(surfaces, Surfaces) else ""


@cache
def _declarations() -> dict[str, tuple[str, str]]:
    """Map each tool to its surface and the module that declares it."""
    with open(DECLARATIONS, encoding="utf-8") as file:
        rows = (line.rstrip("\n").split("\t") for line in file)
        return {tool: (surface, module) for tool, surface, module in rows}
