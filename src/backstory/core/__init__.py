"""What the product does, said once. Surfaces translate to and from these; they add no behaviour."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .calls import Call
from .conversations import Conversations
from .engine import Caller, Engine
from .events import Events
from .finding import Finding
from .journal import Journal
from .memories import Memories
from .sessions import Sessions

if TYPE_CHECKING:
    from .archive import Archive
    from .branches import Branches
    from .files import Files
    from .graph import Graph
    from .insight import Insight
    from .snapshots import Snapshots
    from .transfer import Transfer

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
    def sessions(self) -> Sessions:
        return Sessions(self.engine, self.caller, self.surface)

    @property
    def finding(self) -> Finding:
        return Finding(self.engine, self.caller, self.surface)

    @property
    def conversations(self) -> Conversations:
        return Conversations(self.engine, self.caller, self.surface)

    @property
    def journal(self) -> Journal:
        return Journal(self.engine, self.caller, self.surface)

    @property
    def events(self) -> Events:
        return Events(self.engine, self.caller, self.surface)

    @property
    def insight(self) -> Insight:
        from .insight import Insight  # what it counts with is not for start-up

        return Insight(self.engine, self.caller, self.surface, self.call)

    @property
    def transfer(self) -> Transfer:
        from .transfer import Transfer  # files are read and written seldom, and not at start-up

        return Transfer(self.engine, self.caller, self.surface)

    @property
    def graph(self) -> Graph:
        from .graph import Graph  # most connections never ask it

        return Graph(self.engine, self.caller, self.surface, self.call)

    @property
    def archive(self) -> Archive:
        from .archive import Archive  # this and the next three: not for start-up

        return Archive(self.engine, self.caller, self.surface)

    @property
    def branches(self) -> Branches:
        from .branches import Branches

        return Branches(self.engine, self.caller, self.surface)

    @property
    def files(self) -> Files:
        from .files import Files

        return Files(self.engine, self.caller, self.surface)

    @property
    def snapshots(self) -> Snapshots:
        from .snapshots import Snapshots

        return Snapshots(self.engine, self.caller, self.surface)
