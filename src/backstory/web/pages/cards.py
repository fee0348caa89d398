"""Conversations and memories as every page names them."""

from __future__ import annotations

from ...domain.records import Conversation
from ...domain.when import iso
from ..view import Json


def conversation_card(conversation: Conversation, messages: int | None = None) -> Json:
    return {
        "id": conversation.id,
        "title": conversation.name,
        "assistant": conversation.surface,
        "project": conversation.project,
        "kind": conversation.kind,
        "created_at": iso(conversation.created_at),
        "updated_at": iso(conversation.updated_at),
        "messages": messages,
        "trust": conversation.trust.value,
    }
