"""The base of the parts of core: each is created for one caller, one surface and one call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..domain.filters import EVERYTHING, Filter
from ..domain.records import Entry
from .calls import Call
from .engine import Caller, Engine


class CallContext(NamedTuple):
    """The caller, the surface and the call."""

    engine: Engine
    caller: Caller
    surface: str = "backstory"
    call: Call = Call()


class CorePart:
    """A part of core. Other parts that it needs are parameters of its constructor, so that imports show dependencies."""

    def __init__(self, context: CallContext) -> None:
        self.context = context
        self.engine, self.caller, self.surface, self.call = context

    def load(self, entries: Iterable[int]) -> dict[int, Entry]:
        """The records of these entries that the caller may see by now: a hit may have been made private since it was found."""
        return self.engine.store.entries.load(entries, self.caller.visible(EVERYTHING))

    def own(self, where: Filter) -> Filter:
        """Limit a filter to records of this surface that the caller may see."""
        return self.caller.visible(where)._replace(surfaces=(self.surface,))
