"""Keep transcripts, and list those that are there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from ..domain.errors import InvalidInput
from ..domain.filters import ConversationFilter
from ..domain.records import Conversation, Message
from .engine import Caller, Engine

MAJOR = ("main", "fork", "prompt-log")
"""Kinds of conversations that a person had; a subagent's belongs to the one that started it."""


class ListedConversation(NamedTuple):
    conversation: Conversation
    messages: int
    """Of user and assistant."""


class ConversationListing(NamedTuple):
    conversations: list[ListedConversation]
    total: int


class Conversations(NamedTuple):
    engine: Engine
    caller: Caller
    surface: str

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
    ) -> ConversationListing:
        """The last added to first; of the caller's project, another one by name or path, or all for EVERY_PROJECT."""
        from .projects.related import chosen_projects  # compiles patterns

        projects = chosen_projects(project, self.caller.project, self.engine.store.conversations.projects)
        if project is not None and projects is None:
            return ConversationListing([], 0)
        which = ConversationFilter(
            surfaces=() if assistant is None else (self._known_assistant(assistant),),
            projects=projects or (),
            kinds=MAJOR,
            updated_after=since,
            updated_before=until,
        )
        which = self.caller.visible_conversations(which)
        store = self.engine.store.conversations
        found = store.find(which, limit=limit)
        counts = store.count_messages([each.id for each in found])
        listed = [ListedConversation(each, counts.get(each.id, 0)) for each in found]
        return ConversationListing(listed, store.count(which))

    def _known_assistant(self, name: str) -> str:
        from ..readers import reader_names

        tallies = self.engine.store.conversations.tally(ConversationFilter())
        known = sorted({*reader_names(), *(tally.surface for tally in tallies)})
        wanted = "-".join(name.lower().replace("_", " ").split())
        if wanted not in known:
            raise InvalidInput(
                f"There is no assistant {name!r}.", hint=f"Known: {', '.join(known)}.", field="assistant"
            )
        return wanted
