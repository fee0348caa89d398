"""What the product does, said once. Surfaces translate to and from these; they add no behaviour."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from .calls import Call
from .engine import Caller, Engine

if TYPE_CHECKING:
    from .answers import Answers
    from .archive import Archive
    from .blame import Blame
    from .branches import Branches
    from .brief import Briefing
    from .browsing import Browsing
    from .checkpoints import Checkpoints
    from .chronicle import Chronicle
    from .conversation_export import ConversationExport
    from .deletion import Deletion
    from .events import Events
    from .files import FileCache
    from .forgetting import Forgetting
    from .graph import Graph
    from .insight import Insight
    from .journal import Journal
    from .lookup import Lookup
    from .memories import Memories
    from .pages import Pages
    from .previews import Previews
    from .reasons import Reasoning
    from .recall import Recall
    from .reflections import Reflections
    from .remembering import Remembering
    from .replay import Replay
    from .retrieval import Retrieval
    from .searching import Searching
    from .sessions import Sessions
    from .stored_sessions import StoredSessions
    from .transfer import Transfer
    from .working import Working

__all__ = ["Caller", "Core", "Engine"]

_MODULES = {"briefing": "brief"}
"""Where a part is not in the module that is named as it."""


class _Fields(NamedTuple):
    engine: Engine
    caller: Caller
    surface: str = "backstory"
    call: Call = Call()


class Core(_Fields):
    """The product as one caller sees it, through one surface and for one call.

    Listing, replacing and deleting act only on what the same surface made; search finds everything. A part is imported
    when it is first asked for: most connections ask few, and none at start-up. To add one: a module with its class, a
    Facet, and a line here."""

    answers: Answers
    archive: Archive
    blame: Blame
    branches: Branches
    briefing: Briefing
    browsing: Browsing
    checkpoints: Checkpoints
    chronicle: Chronicle
    conversation_export: ConversationExport
    deletion: Deletion
    events: Events
    files: FileCache
    forgetting: Forgetting
    graph: Graph
    insight: Insight
    journal: Journal
    lookup: Lookup
    memories: Memories
    pages: Pages
    previews: Previews
    reasons: Reasoning
    recall: Recall
    reflections: Reflections
    remembering: Remembering
    replay: Replay
    retrieval: Retrieval
    searching: Searching
    sessions: Sessions
    stored_sessions: StoredSessions
    transfer: Transfer
    working: Working

    def close(self) -> None:
        self.engine.close()

    def during(self, call: Call) -> Core:
        return self._replace(call=call)

    def through(self, surface: str) -> Core:
        return self._replace(surface=surface)

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            if (facet := Core.__annotations__.get(name)) is None:
                raise AttributeError(name)
            return getattr(import_module(f".{_MODULES.get(name, name)}", __name__), facet)(self)
