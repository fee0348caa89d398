"""What the parts of core have in common: each is for one caller, one surface and one call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..domain.filters import EVERYTHING

if TYPE_CHECKING:
    from ..domain.filters import Filter
    from ..domain.records import Entry
    from . import Core


class Facet:
    """Takes all that it needs from the one Core, and other parts through it."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.engine, self.caller, self.surface, self.call = core

    def loaded(self, entries: Iterable[int]) -> dict[int, Entry]:
        """The records of those that the caller may see by now: what was found may have been made private since."""
        return self.engine.store.entries.load(entries, self.caller.visible(EVERYTHING))

    def own(self, where: Filter) -> Filter:
        """What this surface made, as far as the caller may see it."""
        return self.caller.visible(where)._replace(surfaces=(self.surface,))
