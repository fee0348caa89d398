"""What the archive gives back: memories with their former values, and conversations."""

from __future__ import annotations

from typing import NamedTuple

from .records import Conversation, Former, Memory


class ArchivedMemory(NamedTuple):
    memory: Memory
    history: tuple[Former, ...]


class ArchivedConversation(NamedTuple):
    conversation: Conversation
    said: int
    """Messages of user and assistant."""


class PackSize(NamedTuple):
    """`original` bytes of values with all their fields and history became `packed` bytes, index included."""

    items: int
    original: int
    packed: int
