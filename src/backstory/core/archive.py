"""The archive: old memories leave the live store and its indexes, whole, and can be found, read and restored."""

from __future__ import annotations

import json
from datetime import datetime
from typing import NamedTuple

from ..domain.filters import ConversationFilter, Filter, Kind, Order, Page
from ..domain.records import Conversation, Former, Memory, PackSize
from .part import CorePart


class CompressionResult(NamedTuple):
    moved: list[Memory]
    """Memories that were archived, oldest first."""
    packed: PackSize
    preserved: int
    """The number of memories in scope that are still live."""


class Archive(CorePart):
    def find(self, key: str, session: str | None) -> list[Memory]:
        """Archived memories with a key, in one session or all, that the caller may see."""
        return self._find(Filter(keys=(key,), threads=() if session is None else (session,)))

    def find_named(self, name: str) -> list[Memory]:
        """Memories with this key, or else the one with this id."""
        return self.find(name, None) or self._find(Filter(ids=(name,)))

    def all(self) -> list[Memory]:
        """All memories that can be restored, including forgotten ones."""
        return self._find(Filter(), with_forgotten=True)

    def conversations(self) -> list[Conversation]:
        """All archived conversations."""
        archived = self.engine.store.archive.find_conversations(ConversationFilter())
        return [each.conversation for each in archived]

    def _find(self, where: Filter, *, with_forgotten: bool = False) -> list[Memory]:
        memories = self.engine.store.archive.find_memories(self.own(where), with_forgotten=with_forgotten)
        return [archived.memory for archived in memories]

    def history(self, memory: Memory) -> list[Former]:
        """The former values of an archived memory, oldest first. Private values are visible to their own session only."""
        memories = self.engine.store.archive.find_memories(self.own(Filter(ids=(memory.id,))))
        return self.caller.visible_former(memory, (former for each in memories for former in each.history))

    def restore(self, ids: tuple[str, ...]) -> list[Memory]:
        """Restore archived memories, and return those that were restored.

        One whose key was saved again in its session stays archived: the newer value is not overwritten."""
        store = self.engine.store
        with store.transaction():
            self.engine.check_room()
            memories = self._find(Filter(ids=ids), with_forgotten=True) if ids else []
            free = [memory for memory in memories if not self._is_taken(memory)]
            restored = [memory.id for memory in free]
            store.archive.restore_memories(restored)
            store.archive.exempt(restored, self.engine.now())
        self.engine.embed_soon()
        return free

    def compress(
        self, older_than: datetime, *, keep: tuple[str, ...], target_bytes: float | None, session: str | None
    ) -> CompressionResult:
        """Archive memories that were last changed before a time, oldest first, until the live ones fit the target size.

        Memories without a key stay: they could not be retrieved by name afterwards."""
        store = self.engine.store
        scope = self.own(Filter(kinds=(Kind.MEMORY,), threads=() if session is None else (session,)))
        with store.transaction():
            old = store.memories.find(
                scope._replace(created_before=older_than), Page(order=Order.UPDATED_OLDEST)
            )
            moved = [
                memory
                for memory in old
                if memory.updated_at < older_than and memory.key is not None and memory.category not in keep
            ]
            if target_bytes is not None:
                live = sum(map(_bytes, store.memories.find(scope, Page())))
                moved = _until_it_fits(moved, live, target_bytes)
            packed = store.archive.put_memories(moved)
            store.checkpoints.drop_unused_blobs()  # contents that cached files no longer have
            self.engine.make_room()
            return CompressionResult(moved, packed, store.entries.count(scope))

    def _is_taken(self, memory: Memory) -> bool:
        if memory.key is None:
            return False
        threads = () if memory.session is None else (memory.session,)
        return (
            self.engine.store.entries.count(
                Filter(surfaces=(self.surface,), threads=threads, keys=(memory.key,))
            )
            > 0
        )


def _until_it_fits(memories: list[Memory], live: int, target: float) -> list[Memory]:
    chosen: list[Memory] = []
    for memory in memories:
        if live <= target:
            break
        chosen.append(memory)
        live -= _bytes(memory)
    return chosen


def _bytes(memory: Memory) -> int:
    parts = (memory.key or "", memory.text, json.dumps(dict(memory.metadata), ensure_ascii=False))
    return sum(len(part.encode()) for part in parts)
