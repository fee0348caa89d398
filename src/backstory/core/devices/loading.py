"""Memories and conversations of this store, live or archived, as devices see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...domain.filters import ConversationFilter, Filter, Page
from ...domain.records import Conversation, Former, Memory, Message, Trace
from ...domain.statements import MessageSaying
from ...domain.when import from_ms, to_ms
from ...store import Store

LIVE = "live"
ARCHIVED = "archived"
SET_ASIDE = "forgotten:"
"""Before the time in milliseconds: forgotten, and not erased yet."""


class LoadedMemory(NamedTuple):
    memory: Memory
    history: Sequence[Former]
    state: str


class LoadedConversation(NamedTuple):
    conversation: Conversation
    state: str


def load_memory(store: Store, id: str) -> LoadedMemory | None:
    where = Filter(ids=(id,))
    for memory in store.memories.find(where, Page(limit=1)):
        return LoadedMemory(memory, store.memories.former(id), LIVE)
    for memory, history in store.archive.find_memories(where, with_forgotten=True):
        at = store.devices.forgotten_at(id)
        return LoadedMemory(memory, history, ARCHIVED if at is None else f"{SET_ASIDE}{to_ms(at)}")
    return None


def load_conversation(store: Store, id: str) -> LoadedConversation | None:
    for conversation in store.conversations.get([id]):
        return LoadedConversation(conversation, LIVE)
    for archived in store.archive.find_conversations(ConversationFilter(ids=(id,))):
        return LoadedConversation(archived.conversation, ARCHIVED)
    return None


def load_messages(
    store: Store, loaded: LoadedConversation
) -> tuple[list[Message], list[Trace], list[MessageSaying]]:
    id = loaded.conversation.id
    if loaded.state != LIVE:
        # Archived messages are packed, and only the archive can read them.
        return store.archive.contents(id)
    return store.messages.of(id), store.traces.of(id), store.sayings.of(id)


def set_memory_state(store: Store, loaded: LoadedMemory, state: str) -> None:
    """Move a memory between the live ones, the archive, and those that are set aside."""
    if loaded.state == state:
        return
    id = loaded.memory.id
    if loaded.state != LIVE:
        store.archive.restore_memories([id])
    if state != LIVE:
        at = from_ms(int(state.removeprefix(SET_ASIDE))) if state.startswith(SET_ASIDE) else None
        store.archive.put_memories([loaded.memory], forgotten_at=at)
        store.answers.delete_all()  # they may quote it
        store.injections.delete({loaded.memory.project})


def set_conversation_state(store: Store, loaded: LoadedConversation, state: str) -> None:
    if loaded.state == state:
        return
    if state == LIVE:
        store.archive.restore_conversations([loaded.conversation.id])
    else:
        store.archive.put_conversation(loaded.conversation.id)
