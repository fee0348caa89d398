"""Forget a memory of any surface: it is hidden everywhere, can be restored for a month, and is then erased.

Permanent deletion erases it immediately. Conversations belong to other programs and are forgotten on the command
line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from ...domain.erasure import Receipt
from ...domain.errors import InvalidInput, NotAllowed
from ...domain.filters import Filter
from ...domain.records import Memory
from ..archive import Archive
from ..brief.files import BriefFiles
from ..browsing import Browsing
from ..client_memories.feeding import withdraw
from ..engine import Caller, Engine
from ..part import CallContext, CorePart
from .erasure import Erasure
from .removal import ForgetRequest

RESTORABLE_FOR = timedelta(days=30)


class Forgotten(NamedTuple):
    memory: Memory
    until: datetime | None
    """The time until which it can be restored; None if it is erased."""
    notices: tuple[str, ...] = ()


class Forgetting(CorePart):
    def __init__(self, context: CallContext, browsing: Browsing) -> None:
        super().__init__(context)
        self._browsing = browsing

    def memory(self, id: str) -> Memory:
        """The memory with this id. Raises NotFound, and InvalidInput for a conversation."""
        target = self._browsing.find(id)
        if isinstance(target, Memory):
            return target
        raise InvalidInput(
            f"{id!r} is a conversation; nothing was forgotten.",
            hint=f"The user can remove it in a terminal: backstory forget {target.conversation.id}",
            field="id",
        )

    def forget(self, id: str, *, for_good: bool = False) -> Forgotten:
        memory = self.memory(id)
        if for_good:
            receipt = erase(self.engine, (memory.id,))
            return Forgotten(memory, None, tuple(receipt.notices))
        # it may be gone, or say something else, since it was looked at
        until = self.set_aside(lambda: [self.memory(memory.id)])
        return Forgotten(memory, until)

    def set_aside(self, choose: Callable[[], Sequence[Memory]]) -> datetime:
        """Hide memories in one transaction, which calls `choose` to select them.

        Returns the time until which they can be restored."""
        store, now = self.engine.store, self.engine.now()
        briefs = BriefFiles(self.engine.settings.home)
        with store.transaction():
            memories = choose()
            if not memories:
                return now + RESTORABLE_FOR
            store.archive.put_memories(memories, forgotten_at=now)
            store.answers.delete_all()  # they may quote one
            store.injections.delete({memory.project for memory in memories})
            briefs.clear()  # inside the transaction: nobody who waits for it may store receipts of these briefs
        briefs.clear()  # again, for briefs that were rendered meanwhile
        withdraw(self.engine.settings.home)
        return now + RESTORABLE_FOR

    def restorable(self, limit: int) -> list[Memory]:
        """Up to `limit` of the forgotten memories that can be restored."""
        archive = self.engine.store.archive
        ids = tuple(archive.forgotten_before(self.engine.now() + timedelta(days=1))[:limit])
        if not ids:
            return []
        archived = archive.find_memories(self.caller.visible(Filter(ids=ids)), with_forgotten=True)
        return [each.memory for each in archived]

    def restore(self, id: str) -> list[Memory]:
        """Restore a forgotten memory, even one that is private to a session, given its id. Empty if there is none.

        Raises NotAllowed if its key was saved again meanwhile."""
        archived = self.engine.store.archive.find_memories(Filter(ids=(id,)), with_forgotten=True)
        for memory, _ in archived:
            owner = Caller(project=memory.project, session=memory.session)
            if not Archive(self.context._replace(caller=owner, surface=memory.surface)).restore((memory.id,)):
                raise NotAllowed(
                    f"The key {memory.key!r} was saved anew in the same session.",
                    hint="Delete that memory first.",
                )
        return [memory for memory, _ in archived]


def erase(engine: Engine, ids: tuple[str, ...]) -> Receipt:
    return Erasure(engine).forget(ForgetRequest(memories=Filter(ids=ids)))


def erase_expired(engine: Engine) -> int:
    """Erase memories whose grace period is over. Returns their number."""
    ids = engine.store.archive.forgotten_before(engine.now() - RESTORABLE_FOR)
    if ids:
        erase(engine, tuple(ids))
    return len(ids)
