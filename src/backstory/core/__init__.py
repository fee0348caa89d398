"""What the product does, said once. Surfaces translate to and from these; they add no behaviour."""

from __future__ import annotations

from typing import NamedTuple

from .calls import Call
from .conversations import Conversations
from .engine import Caller, Engine
from .memories import Memories

__all__ = ["Caller", "Core", "Engine"]


class Core(NamedTuple):
    """The product as one caller sees it, through one surface and for one call.

    Listing, replacing and deleting act only on what the same surface made; search finds everything."""

    engine: Engine
    caller: Caller
    surface: str = "backstory"
    call: Call = Call()

    def during(self, call: Call) -> Core:
        return self._replace(call=call)

    def through(self, surface: str) -> Core:
        return self._replace(surface=surface)

    @property
    def memories(self) -> Memories:
        return Memories(self.engine, self.caller, self.surface)

    @property
    def conversations(self) -> Conversations:
        return Conversations(self.engine, self.caller, self.surface)
