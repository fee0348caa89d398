"""What the parts of core have in common: each is made for one caller, one surface and one call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..domain.filters import EVERYTHING, Filter
from ..domain.records import Entry
from .calls import Call
from .engine import Caller, Engine


class CallContext(NamedTuple):
    """Who asks, through which surface, and during which call."""

    engine: Engine
    caller: Caller
    surface: str = "backstory"
    call: Call = Call()


class CorePart:
    """A part of core. Other parts that it needs are parameters of its constructor, so that imports show who depends on whom."""

    def __init__(self, context: CallContext) -> None:
        self.context = context
        self.engine, self.caller, self.surface, self.call = context

    def load(self, entries: Iterable[int]) -> dict[int, Entry]:
        """The records of these entries that the caller may see by now: a hit may have been made private since it was found."""
        return self.engine.store.entries.load(entries, self.caller.visible(EVERYTHING))

    def own(self, where: Filter) -> Filter:
        """Limit a filter to what this surface made and the caller may see."""
        return self.caller.visible(where)._replace(surfaces=(self.surface,))
