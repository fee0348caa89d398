"""What a page that is open wants to hear of: that something was said meanwhile, here or in the conversation it shows."""

from __future__ import annotations

from ..core import Core
from .asked import Asked
from .view import Json


def news(core: Core, asked: Asked) -> Json:
    told: Json = {"entries": core.engine.store.entries.size_hint()}
    if id := asked.text("conversation"):
        conversation = core.replay.conversation(id)
        told["end"] = core.engine.store.conversations.last_place(conversation.id) + 1
    return told
