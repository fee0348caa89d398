"""Keep transcripts and find what was said in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..domain.filters import Filter, Kind
from ..domain.records import Conversation, Message
from .engine import Caller, Engine

if TYPE_CHECKING:
    from ..search.hybrid import Found


class Conversations(NamedTuple):
    engine: Engine
    caller: Caller
    surface: str

    def keep(self, conversation: Conversation, messages: Sequence[Message]) -> None:
        """Store a transcript whole, in place of what was known of it."""
        self.engine.store.conversations.put(conversation, messages)
        self.engine.embed_soon()

    def search(self, query: str, limit: int, *, projects: tuple[str, ...] = ()) -> Found:
        where = self.caller.visible(Filter(kinds=(Kind.MESSAGE,), projects=projects))
        return self.engine.search.find(query, where, limit, project=self.caller.project)
