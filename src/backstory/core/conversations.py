"""Keep transcripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..domain.records import Conversation, Message
from .engine import Caller, Engine


class Conversations(NamedTuple):
    engine: Engine
    caller: Caller
    surface: str

    def keep(self, conversation: Conversation, messages: Sequence[Message]) -> None:
        """Store a transcript whole, in place of what was known of it."""
        self.engine.store.conversations.put(conversation, messages)
        self.engine.embed_soon()
