"""What the parts of core have in common: each is for one caller, one surface and one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..domain.filters import Filter
    from . import Core


class Facet:
    """Takes all that it needs from the one Core, and other parts through it."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.engine, self.caller, self.surface, self.call = core

    def own(self, where: Filter) -> Filter:
        """What this surface made, as far as the caller may see it."""
        return self.caller.visible(where)._replace(surfaces=(self.surface,))
