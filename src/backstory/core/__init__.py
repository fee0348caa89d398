"""What the product does, said once. Surfaces translate to and from these; they add no behaviour."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from .calls import Call
from .engine import Caller, Engine

if TYPE_CHECKING:
    from .answers import Answers
    from .blame import Blame
    from .brief import Briefing
    from .browsing import Browsing
    from .browsing.chronicle import Chronicle
    from .browsing.export import ConversationExport
    from .browsing.pages import Pages
    from .browsing.replay import Replay
    from .forgetting import Forgetting
    from .forgetting.archive import Archive
    from .forgetting.deletion import Deletion
    from .graph import Graph
    from .memories import Memories
    from .memories.remembering import Remembering
    from .memories.retrieval import Retrieval
    from .reasons import Reasoning
    from .search import Searching
    from .search.lookup import Lookup
    from .search.previews import Previews
    from .sessions import Sessions
    from .sessions.branches import Branches
    from .sessions.checkpoints import Checkpoints
    from .sessions.events import Events
    from .state import ProjectStates

__all__ = ["Caller", "Core", "Engine"]

_PACKAGES = {
    "browsing": ("chronicle", "export", "pages", "replay"),
    "forgetting": ("archive", "deletion"),
    "memories": ("remembering", "retrieval"),
    "search": ("lookup", "previews"),
    "sessions": ("branches", "checkpoints", "events"),
}
_MODULES = {part: f"{package}.{part}" for package, parts in _PACKAGES.items() for part in parts}
_MODULES["briefing"] = "brief"
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
    deletion: Deletion
    events: Events
    export: ConversationExport
    forgetting: Forgetting
    graph: Graph
    lookup: Lookup
    memories: Memories
    pages: Pages
    previews: Previews
    reasons: Reasoning
    remembering: Remembering
    replay: Replay
    retrieval: Retrieval
    search: Searching
    sessions: Sessions
    state: ProjectStates

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
