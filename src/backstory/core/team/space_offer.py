"""The memories of a space as a team server offers them to a member's laptop."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...domain.filters import Filter, Kind, Page
from ...domain.metadata import marks_of
from ...domain.records import Memory
from ...domain.scopes import Scope
from ...domain.when import to_ms
from ..part import CorePart
from .space_wire import MAX_ANSWER_CHARS, SharedMemory, bucket_digests, bucket_of

READ_AT_ONCE = 20
"""Memories; one may have many megabytes."""
UNKNOWN_AUTHOR = "somebody"
"""The author of memories that were saved before authors were recorded."""


class SpaceOffer(CorePart):
    """No answer contains proposals or memories that are private to a session."""

    def digests(self) -> list[str]:
        return bucket_digests(self._stamps())

    def stamps(self, buckets: Collection[int]) -> dict[str, str]:
        """The stamps of the memories in some buckets, by id."""
        return {id: stamp for id, stamp in self._stamps() if bucket_of(id) in buckets}

    def memories(self, ids: Sequence[str]) -> list[SharedMemory]:
        """The memories with these ids that the caller may still see; only some of them if their texts are long."""
        self.caller.check_scope(Scope.READ)
        memories: list[SharedMemory] = []
        chars = 0
        for start in range(0, len(ids), READ_AT_ONCE):
            for each in self._some(ids[start : start + READ_AT_ONCE]):
                memories.append(each)
                chars += len(each.text)
                if chars > MAX_ANSWER_CHARS:
                    return memories
        return memories

    def _some(self, ids: Sequence[str]) -> list[SharedMemory]:
        where = self.caller.visible(Filter(ids=tuple(ids), kinds=(Kind.MEMORY,)))
        memories = self.engine.store.memories.find(where, Page())
        known = self.engine.store.contributions.get(memory.id for memory in memories)
        person = self.caller.author.person if self.caller.author else ""
        authors = {id: "" if each.author == person else each.author_name for id, each in known.items()}
        return [self._shared(each, authors.get(each.id, UNKNOWN_AUTHOR)) for each in memories]

    def _stamps(self) -> list[tuple[str, str]]:
        self.caller.check_scope(Scope.READ)
        where = self.caller.visible(Filter(kinds=(Kind.MEMORY,)))
        return [(id, str(at_ms)) for id, at_ms in self.engine.store.memories.stamps(where)]

    def _shared(self, memory: Memory, author: str) -> SharedMemory:
        updated_ms = to_ms(memory.updated_at)
        return SharedMemory(
            id=memory.id,
            stamp=str(updated_ms),
            text=memory.text,
            category=memory.category,
            # a caller that names no project saves under the space's own
            project="" if memory.project == self.caller.project else memory.project,
            key=memory.key,
            tags=memory.tags,
            files=tuple(mark.path for mark in marks_of(memory.metadata)),
            created_ms=to_ms(memory.created_at),
            updated_ms=updated_ms,
            author=author,
        )
