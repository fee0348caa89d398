"""Retention: old records move to the archive and can be restored.

The age of a conversation is that of its last message, the age of a reflection that of its last change. All other
memories were saved by the user and stay.
"""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from ...domain.categories import REFLECTION
from ...domain.filters import ConversationFilter, Filter, Kind, Page
from ...domain.records import Conversation, Memory
from ..backups import BEFORE_ARCHIVE, Backups
from ..calls import Call
from ..engine import Engine
from ..freshness import DAY_MS

LEASE = "retention"
MOST_DAYS = 700_000  # times begin in the year 1
AT_ONCE = 200  # memories of one transaction


class Old(NamedTuple):
    conversations: list[str]
    memories: list[Memory]


class Retention:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def find(self, days: float) -> Old:
        """Records older than `days`, except those a person restored from the archive."""
        store = self.engine.store
        before = self.engine.now() - timedelta(days=min(days, MOST_DAYS))
        stays = store.archive.exemptions()
        conversations = store.conversations.outlines(ConversationFilter(updated_before=before))
        where = Filter(kinds=(Kind.MEMORY,), categories=(REFLECTION,), created_before=before)
        return Old(
            sorted(conversation.id for conversation in conversations if conversation.id not in stays),
            [
                memory
                for memory in store.memories.find(where, Page())
                # with a key it is an item that a caller filed under that category
                if memory.updated_at < before and memory.key is None and memory.id not in stays
            ],
        )

    def archive(self, old: Old, call: Call) -> None:
        """Archive each conversation in its own transaction, so that other writers do not wait long.

        Raises Cancelled in between."""
        store, total = self.engine.store, len(old.conversations)
        if not old.memories and not old.conversations:
            return
        Backups(self.engine).make(BEFORE_ARCHIVE)
        for start in range(0, len(old.memories), AT_ONCE):
            call.raise_if_cancelled()
            store.archive.put_memories(old.memories[start : start + AT_ONCE])
        for number, id in enumerate(old.conversations, 1):
            call.raise_if_cancelled()
            store.archive.put_conversation(id)
            call.progress(number, total, "Archiving conversations")
        self.engine.make_room()

    def archive_daily(self, call: Call) -> None:
        """Apply the retention setting once a day, in the first process to get the lease."""
        days, store = self.engine.settings.retention_days, self.engine.store
        holder = self.engine.new_id()
        if days is None or not store.leases.take(LEASE, holder, for_ms=DAY_MS):
            return
        try:
            self.archive(self.find(days), call)
        except BaseException:
            # after a success the lease is not released: it expires after a day
            store.leases.drop(LEASE, holder)
            raise

    def restore(self, id: str) -> list[Conversation]:
        """Restore an archived conversation with its children, and exempt it from retention."""
        store = self.engine.store
        with store.transaction():
            self.engine.check_room()
            conversations = [
                conversation.conversation
                for which in (ConversationFilter(ids=(id,)), ConversationFilter(parents=(id,)))
                for conversation in store.archive.find_conversations(which)
            ]
            ids = [conversation.id for conversation in conversations]
            store.archive.restore_conversations(ids)
            store.archive.exempt(ids, self.engine.now())
        self.engine.embed_soon()
        return conversations
