"""A session with all that the caller may see of it, read from the store.

Private memories of a session leave it only with the session's own connection; this holds for its items, for what
they said before and for the copies in its checkpoints alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...domain.filters import Filter, Order, Page
from ...domain.records import Former, Memory, Session
from ..facet import Facet
from ..merging import MemoryCopy
from .bundle import CheckpointCopy, FileCopy, SessionCopy

if TYPE_CHECKING:
    from ...domain.checkpoints import CachedFile, Checkpoint


class Departure(Facet):
    def part(self, session: Session) -> SessionCopy:
        memories, store = self.core.memories, self.engine.store
        found = memories.find(Filter(threads=(session.id,)), Page(order=Order.OLDEST))
        archived = store.archive.find_memories(self.own(Filter(threads=(session.id,))))
        taken = reversed(store.checkpoints.find(self.surface, session=session.id))
        return SessionCopy(
            session,
            items=tuple(self._item(memory, store.memories.former(memory.id)) for memory in found),
            files=self._files(store.files.find(session.id)),
            checkpoints=tuple(map(self._checkpoint, taken)),
            archived=tuple(self._item(each.memory, each.history) for each in archived),
        )

    def _item(self, memory: Memory, history: Sequence[Former]) -> MemoryCopy:
        """A value that was private once stays so, whatever the item is now."""
        return MemoryCopy(memory, tuple(self.caller.visible_former(memory, history)))

    def _checkpoint(self, checkpoint: Checkpoint) -> CheckpointCopy:
        copy = self.engine.store.checkpoints.read(checkpoint)
        own = checkpoint.session == self.caller.session
        return CheckpointCopy(
            checkpoint,
            memories=tuple(memory for memory in copy.memories if own or not memory.private),
            files=self._files(copy.files),
        )

    def _files(self, files: Sequence[CachedFile]) -> tuple[FileCopy, ...]:
        contents = self.engine.store.files.read_blobs([file.hash for file in files])
        return tuple(
            FileCopy(file.path, contents[file.hash], file.cached_at, file.metadata) for file in files
        )
