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
    from .answers import Answers
    from .archive import Archive
    from .branches import Branches
    from .brief import Briefing
    from .browsing import Browsing
    from .checkpoints import Checkpoints
    from .chronicle import Chronicle
    from .conversation_export import ConversationExport
    from .deletion import Deletion
    from .files import Files
    from .forgetting import Forgetting
    from .graph import Graph
    from .insight import Insight
    from .pages import Pages
    from .recall import Recall
    from .recollection import Recollecting
    from .reflections import Reflections
    from .remembering import Remembering
    from .replay import Replay
    from .searching import Searching
    from .transcripts import Transcripts
    from .transfer import Transfer
    from .working import Working

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
    def recall(self) -> Recall:
        from .recall import Recall  # most connections never ask it

        return Recall(self.engine, self.caller)

    @property
    def conversation_export(self) -> ConversationExport:
        from .conversation_export import ConversationExport  # seldom needed

        return ConversationExport(self.engine, self.caller, self.call)

    @property
    def journal(self) -> Journal:
        return Journal(self.engine, self.caller, self.surface)

    @property
    def events(self) -> Events:
        return Events(self.engine, self.caller, self.surface)

    @property
    def answers(self) -> Answers:
        from .answers import Answers  # this and the next: most connections never ask

        return Answers(self.engine, self.caller)

    @property
    def reflections(self) -> Reflections:
        from .reflections import Reflections

        return Reflections(self.engine, self.caller, self.surface)

    @property
    def searching(self) -> Searching:
        from .searching import Searching

        return Searching(self.engine, self.caller)

    @property
    def briefing(self) -> Briefing:
        from .brief import Briefing

        return Briefing(self.engine, self.caller)

    @property
    def pages(self) -> Pages:
        from .pages import Pages

        return Pages(self.engine, self.caller)

    @property
    def remembering(self) -> Remembering:
        from .remembering import Remembering

        return Remembering(self.engine, self.caller, self.surface)

    @property
    def forgetting(self) -> Forgetting:
        from .forgetting import Forgetting

        return Forgetting(self.engine, self.caller)

    @property
    def recollecting(self) -> Recollecting:
        from .recollection import Recollecting

        return Recollecting(self.engine, self.caller)

    @property
    def browsing(self) -> Browsing:
        from .browsing import Browsing

        return Browsing(self.engine, self.caller)

    @property
    def chronicle(self) -> Chronicle:
        from .chronicle import Chronicle  # runs git

        return Chronicle(self.engine, self.caller)

    @property
    def replay(self) -> Replay:
        from .replay import Replay  # most connections never ask it

        return Replay(self.engine, self.caller)

    @property
    def insight(self) -> Insight:
        from .insight import Insight  # what it counts with is not for start-up

        return Insight(self.engine, self.caller, self.surface, self.call)

    @property
    def transfer(self) -> Transfer:
        from .transfer import Transfer  # files are read and written seldom, and not at start-up

        return Transfer(self.engine, self.caller, self.surface)

    @property
    def transcripts(self) -> Transcripts:
        from .transcripts import Transcripts  # its patterns are not for start-up

        return Transcripts(self.engine, self.caller, self.surface)

    @property
    def graph(self) -> Graph:
        from .graph import Graph  # most connections never ask it

        return Graph(self.engine, self.caller, self.surface, self.call)

    @property
    def archive(self) -> Archive:
        from .archive import Archive  # this and the next four: not for start-up

        return Archive(self.engine, self.caller, self.surface)

    @property
    def deletion(self) -> Deletion:
        from .deletion import Deletion

        return Deletion(self.engine, self.caller, self.surface)

    @property
    def branches(self) -> Branches:
        from .branches import Branches

        return Branches(self.engine, self.caller, self.surface)

    @property
    def files(self) -> Files:
        from .files import Files

        return Files(self.engine, self.caller, self.surface)

    @property
    def checkpoints(self) -> Checkpoints:
        from .checkpoints import Checkpoints

        return Checkpoints(self.engine, self.caller, self.surface)

    @property
    def working(self) -> Working:
        from .working import Working  # looks at files and runs git, which is not for start-up

        return Working(self.engine, self.caller, self.surface, self.call)
