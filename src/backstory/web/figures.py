"""Figures over a whole store that pages show: kept for a minute, or until something is changed on a page."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from ..core import Core, Engine
from ..domain.filters import Filter
from ..domain.paths import distinct_names

T = TypeVar("T")

FRESH_S = 60.0
MAX_CACHED_FIGURES = 500  # of one engine

_kept: WeakKeyDictionary[Engine, dict[Hashable, tuple[float, Any]]] = WeakKeyDictionary()


def figure(core: Core, name: Hashable, make: Callable[[], T]) -> T:
    """Return the result of `make` for this caller's project, cached for a minute. Safe for threads: two concurrent
    calls both compute it."""
    figures = _kept.setdefault(core.engine, {})
    key = (name, core.caller.project, core.caller.session)
    until_s, value = figures.get(key, (0.0, None))
    if time.monotonic() < until_s:
        result: T = value
        return result
    made = make()
    if len(figures) >= MAX_CACHED_FIGURES:
        figures.clear()
    figures[key] = (time.monotonic() + FRESH_S, made)
    return made


def busy_hours(core: Core) -> list[tuple[int, int]]:
    """How much was said and saved in each hour since 1970 in which anything was."""
    everything = core.caller.visible(Filter())
    return figure(core, "hours", lambda: core.engine.store.entries.tally_hours(everything))


def short_project_names(core: Core) -> dict[str, str]:
    """The name of each project on the pages. Projects with the same name get distinct ones."""
    return figure(
        core, "project names", lambda: distinct_names(filter(None, core.engine.store.entries.projects()))
    )


def renew(core: Core) -> None:
    """After a change."""
    _kept.pop(core.engine, None)
