"""Figures over a whole store that pages show: cached until something is stored, and computed at most once a minute."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from ..core import Core, Engine
from ..core.contents import census_of, version_of
from ..domain.census import Census
from ..domain.paths import distinct_names

T = TypeVar("T")

FRESH_S = 60.0
MAX_UNCHANGED_S = 900.0
"""The age of a figure over a store in which nothing changed: some of them count back from the present."""
MAX_CACHED_FIGURES = 500  # of one engine


class _Figure(NamedTuple):
    value: Any
    made_at_s: float
    version: Hashable | None
    """The version of the store before it was read."""


_figures: WeakKeyDictionary[Engine, dict[Hashable, _Figure]] = WeakKeyDictionary()


def figure(core: Core, name: Hashable, make: Callable[[], T]) -> T:
    """Return the result of `make` for this caller's project, cached for a minute, or longer if nothing was stored since.
    Safe for threads: two concurrent calls both compute it."""
    figures = _figures.setdefault(core.engine, {})
    key = (name, core.caller.project, core.caller.session)
    version = version_of(core.engine)
    cached = figures.get(key)
    if cached is not None and _is_valid(cached, version):
        result: T = cached.value
        return result
    now_s = time.monotonic()
    value = make()
    if len(figures) >= MAX_CACHED_FIGURES:
        figures.clear()
    figures[key] = _Figure(value, now_s, version)
    return value


def _is_valid(cached: _Figure, version: Hashable | None) -> bool:
    age_s = time.monotonic() - cached.made_at_s
    is_unchanged = version is not None and cached.version == version
    return age_s < (MAX_UNCHANGED_S if is_unchanged else FRESH_S)


def busy_hours(core: Core) -> list[tuple[int, int]]:
    """The number of messages and memories in each active hour since 1970."""
    return figure(core, "hours", core.chronicle.busy_hours)


def short_project_names(core: Core) -> dict[str, str]:
    """The name of each project on the pages. Projects with the same name get distinct ones."""
    return figure(core, "project names", lambda: distinct_names(filter(None, core.browsing.known_projects())))


def census(core: Core) -> Census:
    """Counts of the records of the whole store."""
    return figure(core, "census", lambda: census_of(core.engine))


def renew(core: Core) -> None:
    """Discard the cached figures after a change."""
    _figures.pop(core.engine, None)
