"""The records that a person selected to be forgotten, live or archived."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ...domain.filters import ConversationFilter, Filter, Page
from ...domain.records import Conversation, Memory
from ..engine import Engine
from ..exclusion import Exclusion
from .erasure import Erasure
from .removal import ForgetRequest, all_conversations


class Selection(NamedTuple):
    conversations: list[Conversation]
    memories: list[Memory]
    messages: int
    elsewhere: list[str]
    """Ids of records that are at most in checkpoints or backups."""
    stored: int = 0
    """Conversations that the flags mean too, but that tools stored on purpose: they stay."""

    def __bool__(self) -> bool:
        return bool(self.conversations or self.memories or self.elsewhere)

    def request(self, *, with_checkpoints: bool) -> ForgetRequest:
        conversations = [conversation.id for conversation in self.conversations]
        # the id of a conversation begins with the name of its assistant
        conversations += [id for id in self.elsewhere if ":" in id]
        memories = [memory.id for memory in self.memories] + [id for id in self.elsewhere if ":" not in id]
        return ForgetRequest(
            conversations, Filter(ids=tuple(memories)) if memories else None, with_checkpoints
        )


def select(
    engine: Engine, which: ConversationFilter, memory_ids: Sequence[str], own_surfaces: Sequence[str]
) -> Selection:
    """The conversations that a filter matches, with their subagents, and the memories with these ids.

    `own_surfaces` are those whose matching conversations are only counted. `elsewhere` has the ids of which the store has
    nothing."""
    store = engine.store
    memories: list[Memory] = []
    if memory_ids:
        where = Filter(ids=tuple(memory_ids))
        archived = [each.memory for each in store.archive.find_memories(where, with_forgotten=True)]
        memories = [*store.memories.find(where, Page()), *archived]
    named = all_conversations(store, which)
    known = {conversation.id for conversation in named} | {memory.id for memory in memories}
    conversations = Erasure(engine).with_subagents(named)
    ids = tuple(conversation.id for conversation in conversations)
    put_away = store.archive.find_conversations(ConversationFilter(ids=ids)) if ids else []
    messages = sum(store.messages.count(ids).values()) + sum(each.said for each in put_away)
    own = which._replace(surfaces=tuple(own_surfaces))
    stored = len(all_conversations(store, own)) if own_surfaces else 0
    return Selection(conversations, memories, messages, sorted(set(which.ids) - known), stored)


def select_excluded(engine: Engine, rules: Sequence[str]) -> Selection:
    """Everything that is stored of the projects and files that exclusion rules match."""
    store, exclusion = engine.store, Exclusion(rules)
    conversations = [
        each
        for each in all_conversations(store, ConversationFilter())
        if exclusion.excludes_project(each.project)
        or exclusion.excludes_project(each.directory)
        or (each.source and exclusion.excludes_source(Path(each.source)))
    ]
    conversations = Erasure(engine).with_subagents(conversations)
    projects = tuple(filter(exclusion.excludes_project, store.entries.projects()))
    live = store.memories.find(Filter(projects=projects), Page()) if projects else []
    archived = [
        each.memory
        for each in store.archive.find_memories(Filter(), with_forgotten=True)
        if exclusion.excludes_project(each.memory.project)
    ]
    messages = sum(store.messages.count([each.id for each in conversations]).values())
    return Selection(conversations, [*live, *archived], messages, [])


def projects_of_conversations(engine: Engine) -> set[str]:
    """The projects of all conversations, including those that only the archive contains."""
    store = engine.store
    archived = store.archive.find_conversations(ConversationFilter())
    return {*store.conversations.projects(), *(each.conversation.project for each in archived)}
