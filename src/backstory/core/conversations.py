"""Keep transcripts, and list those that are there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ..domain.filters import ConversationFilter
from ..domain.records import Conversation, Message
from .browsing import ConversationList
from .facet import Facet
from .projects.related import chosen_projects

if TYPE_CHECKING:
    from .browsing import ConversationList


class Conversations(Facet):
    def keep(self, conversation: Conversation, messages: Sequence[Message]) -> None:
        """Store a transcript whole, in place of what was known of it."""
        self.engine.store.conversations.put(conversation, messages)
        self.engine.embed_soon()

    def recent(
        self,
        *,
        project: str | None = None,
        assistant: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 10,
    ) -> ConversationList:
        """The last added to first; of the caller's project, another one by name or path, or all for EVERY_PROJECT."""
        from .browsing import ConversationList
        from .lookup import known_source

        projects = chosen_projects(project, self.caller.project, self.engine.store.conversations.projects)
        if project is not None and projects is None:
            return ConversationList([], 0)
        which = ConversationFilter(
            surfaces=() if assistant is None else (known_source(self.engine, assistant),),
            projects=projects or (),
            updated_after=since,
            updated_before=until,
        )
        return self.core.browsing.conversations(which, limit=limit)
