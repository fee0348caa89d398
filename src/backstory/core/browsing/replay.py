"""Replay a conversation part by part: what was said, what was done there, what the user asked, and whom it belongs to."""

from __future__ import annotations

from typing import NamedTuple

from ...domain.census import ConversationTally
from ...domain.errors import NotFound
from ...domain.filters import ConversationFilter
from ...domain.records import Conversation, Message, Trace
from ..facet import Facet

LONGEST_PROMPT = 160  # characters that tell one from another


class ReplayPart(NamedTuple):
    """A stretch of a conversation."""

    places: range
    """`seq` of the first, and one after the last that it may hold."""
    end: int
    """One after the last place of the whole conversation."""
    messages: list[Message]
    traces: dict[str, list[Trace]]
    """What was done, by message."""


class Replay(Facet):
    def conversation(self, id: str) -> Conversation:
        """The one of exactly this id."""
        found = self._find(ConversationFilter(ids=(id,)))
        if not found:
            raise NotFound("conversation", id)
        return found[0]

    def part(self, conversation: Conversation, start: int, size: int) -> ReplayPart:
        """So many places from `start` on; a negative one counts from the end."""
        store = self.engine.store
        end = store.messages.last_place(conversation.id) + 1
        start = max(end + start, 0) if start < 0 else start
        places = range(start, start + size)
        traces: dict[str, list[Trace]] = {}
        for trace in store.traces.of(conversation.id, places):
            traces.setdefault(trace.message, []).append(trace)
        return ReplayPart(places, end, store.messages.of(conversation.id, places), traces)

    def prompts(self, conversation: Conversation) -> list[tuple[int, str]]:
        """The `seq` of all that the user said, and how it begins."""
        return self.engine.store.messages.prompts(conversation.id, LONGEST_PROMPT)

    def relatives(self, conversation: Conversation) -> tuple[list[Conversation], list[Conversation]]:
        """What started it, and what it started."""
        above = self._find(ConversationFilter(ids=(conversation.parent,))) if conversation.parent else []
        return above, self._find(ConversationFilter(parents=(conversation.id,)))[::-1]

    def tally(self, which: ConversationFilter) -> list[ConversationTally]:
        """How many conversations of each assistant in each project, the last added to first."""
        return self.engine.store.conversations.tally(self.caller.visible_conversations(which))

    def _find(self, which: ConversationFilter) -> list[Conversation]:
        return self.engine.store.conversations.find(self.caller.visible_conversations(which))
