"""The behaviour of the product, implemented once. Surfaces translate to and from it and add no behaviour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..domain.lazy import lazy_name
from .calls import Call
from .engine import Caller, Engine
from .part import CallContext, CorePart

if TYPE_CHECKING:
    from .answering import StatementAnswers
    from .answers import Answers
    from .archive import Archive
    from .ask import Ask
    from .blame import Blame
    from .brief import Briefing
    from .browsing import Browsing
    from .browsing.chronicle import Chronicle
    from .browsing.export import ConversationExport
    from .browsing.files import TouchedFiles
    from .browsing.replay import Replay
    from .events import Events
    from .failures import Failures
    from .forgetting import Forgetting
    from .forgetting.deletion import Deletion
    from .graph import Graph
    from .handoff import Handoffs
    from .inbox import Inbox
    from .lookup import Lookup
    from .memories import Memories
    from .memories.retrieval import Retrieval
    from .pages import Pages
    from .previews import Previews
    from .proposals import Proposals
    from .remembering import Remembering
    from .sessions import Sessions
    from .sessions.checkpoints import Checkpoints
    from .state import ProjectStates
    from .story import Stories
    from .usage import ModelUsage
else:  # imported on first use: importing all parts takes 150 ms, but a complete save only 100
    StatementAnswers = lazy_name("backstory.core.answering", "StatementAnswers")
    Answers = lazy_name("backstory.core.answers", "Answers")
    Archive = lazy_name("backstory.core.archive", "Archive")
    Ask = lazy_name("backstory.core.ask", "Ask")
    Blame = lazy_name("backstory.core.blame", "Blame")
    Briefing = lazy_name("backstory.core.brief", "Briefing")
    Browsing = lazy_name("backstory.core.browsing", "Browsing")
    Chronicle = lazy_name("backstory.core.browsing.chronicle", "Chronicle")
    ConversationExport = lazy_name("backstory.core.browsing.export", "ConversationExport")
    TouchedFiles = lazy_name("backstory.core.browsing.files", "TouchedFiles")
    Replay = lazy_name("backstory.core.browsing.replay", "Replay")
    Events = lazy_name("backstory.core.events", "Events")
    Failures = lazy_name("backstory.core.failures", "Failures")
    Forgetting = lazy_name("backstory.core.forgetting", "Forgetting")
    Deletion = lazy_name("backstory.core.forgetting.deletion", "Deletion")
    Graph = lazy_name("backstory.core.graph", "Graph")
    Handoffs = lazy_name("backstory.core.handoff", "Handoffs")
    Inbox = lazy_name("backstory.core.inbox", "Inbox")
    Lookup = lazy_name("backstory.core.lookup", "Lookup")
    Memories = lazy_name("backstory.core.memories", "Memories")
    Retrieval = lazy_name("backstory.core.memories.retrieval", "Retrieval")
    Pages = lazy_name("backstory.core.pages", "Pages")
    Previews = lazy_name("backstory.core.previews", "Previews")
    Proposals = lazy_name("backstory.core.proposals", "Proposals")
    Remembering = lazy_name("backstory.core.remembering", "Remembering")
    Sessions = lazy_name("backstory.core.sessions", "Sessions")
    Checkpoints = lazy_name("backstory.core.sessions.checkpoints", "Checkpoints")
    ProjectStates = lazy_name("backstory.core.state", "ProjectStates")
    Stories = lazy_name("backstory.core.story", "Stories")
    ModelUsage = lazy_name("backstory.core.usage", "ModelUsage")

__all__ = ["CallContext", "Caller", "Core", "Engine", "GuestPart"]


class Core(CallContext):
    """The product as seen by one caller, through one surface and for one call.

    Listing, replacing and deleting affect only memories of the same surface; search finds those of all.

    To add a part: a module with its class, its two lines above, and a property here that creates it with the parts
    it needs."""

    def close(self) -> None:
        self.engine.close()

    def during(self, call: Call) -> Core:
        return self._replace(call=call)

    def through(self, surface: str) -> Core:
        return self._replace(surface=surface)

    @property
    def answers(self) -> Answers:
        return Answers(self)

    @property
    def archive(self) -> Archive:
        return Archive(self)

    @property
    def ask(self) -> Ask:
        return Ask(self, self.retrieval)

    @property
    def blame(self) -> Blame:
        return Blame(self)

    @property
    def briefing(self) -> Briefing:
        return Briefing(self, self.state)

    @property
    def browsing(self) -> Browsing:
        return Browsing(self)

    @property
    def checkpoints(self) -> Checkpoints:
        return Checkpoints(self, self.sessions)

    @property
    def chronicle(self) -> Chronicle:
        return Chronicle(self)

    @property
    def deletion(self) -> Deletion:
        return Deletion(self)

    @property
    def events(self) -> Events:
        return Events(self, self.sessions, self.memories)

    @property
    def export(self) -> ConversationExport:
        return ConversationExport(self)

    @property
    def failures(self) -> Failures:
        return Failures(self)

    @property
    def files(self) -> TouchedFiles:
        return TouchedFiles(self)

    @property
    def forgetting(self) -> Forgetting:
        return Forgetting(self, self.browsing)

    @property
    def graph(self) -> Graph:
        return Graph(self)

    @property
    def handoff(self) -> Handoffs:
        return Handoffs(self, self.state, self.browsing)

    @property
    def inbox(self) -> Inbox:
        return Inbox(self, self.state, self.remembering, self.failures)

    @property
    def lookup(self) -> Lookup:
        return Lookup(self, self.ask, self.browsing, self.statement_answers)

    @property
    def memories(self) -> Memories:
        return Memories(self, self.sessions)

    @property
    def pages(self) -> Pages:
        return Pages(self, self.browsing, self.memories, self.lookup)

    @property
    def previews(self) -> Previews:
        return Previews(self)

    @property
    def proposals(self) -> Proposals:
        return Proposals(self, self.memories, lambda: self.forgetting)

    @property
    def remembering(self) -> Remembering:
        return Remembering(self, self.memories, self.browsing, self.ask, self.proposals)

    @property
    def replay(self) -> Replay:
        return Replay(self)

    @property
    def retrieval(self) -> Retrieval:
        return Retrieval(self, self.archive)

    @property
    def sessions(self) -> Sessions:
        return Sessions(self)

    @property
    def state(self) -> ProjectStates:
        return ProjectStates(self)

    @property
    def statement_answers(self) -> StatementAnswers:
        return StatementAnswers(self, lambda: self.state, self.browsing)

    @property
    def stories(self) -> Stories:
        return Stories(self, self.state, self.browsing)

    @property
    def usage(self) -> ModelUsage:
        return ModelUsage(self)


class GuestPart(CorePart):
    """Behaviour of one guest, which may use every part of core."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self.core = core
