"""Delete items: a single one permanently, or several at once, which can be restored for 30 days.

The keys of restorable items are recorded for context_diff and context_watch. Permanently deleted items leave no key,
except for watchers that are waiting at that moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from ...core import GuestPart
from ...domain.erasure import Receipt
from ...domain.filters import Filter, Order, Page
from ...domain.links import ChangeKind, MemoryChange
from ...domain.records import Memory
from ...store import Store

NOTED_FOR = timedelta(days=30)
ENDED_FOR = timedelta(days=1)
"""For this long, polling an ended watcher reports why it ended."""


class Deletions(GuestPart):
    def for_good(self, key: str, session: str) -> Receipt:
        """Erase the items of a session under a key, with their history."""
        items = self.named((key,), session)

        def note() -> None:
            if self.engine.store.changes.is_watched(self.engine.now()):
                self._note(items, is_erased=True)

        return self.core.deletion.by_key(key, session, note)

    def together(self, choose: Callable[[], list[Memory]]) -> tuple[list[Memory], datetime]:
        """Delete all selected items or, if anything fails, none. `choose` is called inside the transaction.

        Returns the items, and until when they can be restored."""
        selection: list[Memory] = []

        def take() -> list[Memory]:
            selection.extend(choose())
            archived = self._archived(Filter(ids=tuple(memory.id for memory in selection) or ("",)))
            self.engine.store.archive.restore_memories([memory.id for memory in archived])
            self._note(selection)
            return selection

        until = self.core.forgetting.set_aside(take)
        return selection, until

    def named(self, keys: Sequence[str], session: str) -> list[Memory]:
        """Return the items of a session with these keys, including archived ones.

        An item without a key is named by its id."""
        by_key = self._all(Filter(threads=(session,), keys=tuple(keys)))
        by_id = self._all(Filter(threads=(session,), ids=tuple(keys)))
        return [*by_key, *(memory for memory in by_id if memory.key is None)]

    def matching(self, pattern: str, session: str) -> list[Memory]:
        return self._all(Filter(threads=(session,), key_glob=pattern))

    def _all(self, where: Filter) -> list[Memory]:
        return [*self.core.memories.find(where, Page(order=Order.OLDEST)), *self._archived(where)]

    def _archived(self, where: Filter) -> list[Memory]:
        return [each.memory for each in self.engine.store.archive.find_memories(self.own(where))]

    def _note(self, memories: Sequence[Memory], *, is_erased: bool = False) -> None:
        now = self.engine.now()
        prune_changes(self.engine.store, now)
        deletions = (_deletion(memory, now)._replace(is_erased=is_erased) for memory in memories)
        self.engine.store.changes.note_deletions(deletions)


def prune_changes(store: Store, now: datetime) -> None:
    """Delete records that are no longer needed. Call it inside a transaction."""
    if store.changes.prune(now, ended_before=now - ENDED_FOR, deleted_before=now - NOTED_FOR):
        store.residue.note(("memory_change",))


def _deletion(memory: Memory, now: datetime) -> MemoryChange:
    return MemoryChange(
        sequence=0,
        kind=ChangeKind.DELETE,
        memory=memory.id,
        changed_at=now,
        surface=memory.surface,
        session=memory.session,
        key=memory.key or memory.id,
        category=memory.category,
        priority=memory.priority.value,
        channel=memory.channel,
        private=memory.private,
    )
