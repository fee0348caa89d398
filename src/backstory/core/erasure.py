"""Forget for good: out of the store, its archive and its indexes, and out of every copy that we made ourselves.

What another program or a person owns is not touched: the assistants' own files, exports, stored sessions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from ..domain.erasure import Receipt
from ..domain.errors import BackstoryError
from ..domain.filters import ConversationFilter, Filter
from ..domain.records import Conversation
from ..store.residue import OF_CHECKPOINTS, OF_CONVERSATIONS, OF_MEMORIES
from .engine import Engine
from .sync.cursors import without
from .working.handoff import OPENING, Handoff, as_data, from_data, opening, rewrite
from .working.handoff import without as handoff_without
from .working.history import HANDOFF, TOOL

AT_ONCE_BYTES = 30_000_000
"""A smaller store is written anew before the answer; a larger one behind it, where something works there."""


class Rewritten(NamedTuple):
    """A handoff that quoted what is forgotten."""

    path: str | None
    former: Handoff
    present: Handoff

    def rewrite_file(self) -> bool:
        """Whether it is there, and held a line of it."""
        return self.path is not None and rewrite(Path(self.path), self.former, self.present)


class Erasure(NamedTuple):
    engine: Engine

    def forget(
        self,
        *,
        conversations: Sequence[str] = (),
        memories: Filter | None = None,
        with_checkpoints: bool = False,
    ) -> Receipt:
        """Conversations never come back with a sync. Memories go live and archived, with their histories; checkpoints
        are there to keep what is deleted later, so they forget only when that is asked for."""
        store = self.engine.store
        handoffs: list[Rewritten] = []
        removed: dict[str, int] = {}
        with store.transaction():
            if conversations:
                removed |= self._forget_conversations(conversations)
            if memories is not None:
                found = self._quotable(memories)
                ids = list(dict.fromkeys([*memories.ids, *(id for id, _ in found)]))
                removed |= self._forget_memories(memories, ids, with_checkpoints)
                handoffs = self._rewrite_handoffs(set(ids), {opening(text) for _, text in found})
            if not any(removed.values()):
                return Receipt({})
            removed |= {"handoffs": len(handoffs), "cached answers": store.answers.delete_all()}
        files = [each.path for each in handoffs if each.path and each.rewrite_file()]
        return self._receipt(removed, tuple(files))

    def _quotable(self, where: Filter) -> list[tuple[str, str]]:
        """How every value begins that memories have or had, with the memory's id."""
        store = self.engine.store
        archived = [
            (each.memory.id, value)
            for each in store.archive.find_memories(where)
            for value in (each.memory.text, *(former.text for former in each.history))
        ]
        return [*store.memories.openings(where, 2 * OPENING), *archived]

    def _forget_memories(self, where: Filter, ids: Sequence[str], with_checkpoints: bool) -> dict[str, int]:
        store = self.engine.store
        removed = {
            "former values": sum(store.memories.count_former(where).values()),
            "memories": store.memories.delete(where),
            "archived memories": store.archive.delete_memories(where),
            "events": store.sessions.delete_events(ids),
            "checkpoints": store.checkpoints.remove(ids) if with_checkpoints else 0,
        }
        if any(removed.values()):
            store.residue.note((*OF_MEMORIES, *(OF_CHECKPOINTS if with_checkpoints else ())))
        return removed

    def _forget_conversations(self, ids: Sequence[str]) -> dict[str, int]:
        store, which = self.engine.store, ConversationFilter(ids=tuple(ids))
        told = [*store.conversations.find(which), *self._archived(which)]
        removed = {
            "messages": sum(store.conversations.count_messages(ids).values()),
            "conversations": store.sync.forget(ids, self.engine.now()),
            "cursors": self._clear_cursors(ids, {talk.title for talk in told} - {""}),
        }
        store.residue.note(OF_CONVERSATIONS)
        return removed

    def with_subagents(self, conversations: Sequence[Conversation]) -> list[Conversation]:
        """These, and those that were started in them to do a part of their work."""
        found = {talk.id: talk for talk in conversations}
        latest = tuple(found)
        while latest:
            which = ConversationFilter(parents=latest, kinds=("subagent",))
            started = [*self.engine.store.conversations.find(which), *self._archived(which)]
            latest = tuple(talk.id for talk in started if talk.id not in found)
            found |= {talk.id: talk for talk in started}
        return list(found.values())

    def finish(self) -> str:
        """Overwrite the bytes of all that was forgotten; why that cannot be done now, or nothing."""
        try:
            self.engine.store.residue.overwrite()
        except BackstoryError as error:
            return error.message
        return ""

    def _archived(self, which: ConversationFilter) -> list[Conversation]:
        return [each.conversation for each in self.engine.store.archive.find_conversations(which)]

    def _receipt(self, removed: dict[str, int], files: tuple[str, ...]) -> Receipt:
        counted = {place: count for place, count in removed.items() if count}
        background = self.engine.background
        if background is not None and self.engine.store.census().bytes > AT_ONCE_BYTES:
            background.wake()
            return Receipt(counted, files, "that is done in the background.")
        return Receipt(counted, files, self.finish())

    def _rewrite_handoffs(self, ids: Collection[str], openings: Collection[str]) -> list[Rewritten]:
        changed = []
        for event in self.engine.store.sessions.events_of_type(TOOL, HANDOFF):
            former = from_data(event.data)
            present = handoff_without(former, ids, openings)
            if present != former:
                data = {**event.data, **as_data(present)}
                self.engine.store.sessions.change_event(event._replace(data=data))
                changed.append(Rewritten(event.data.get("path"), former, present))
        return changed

    def _clear_cursors(self, ids: Sequence[str], titles: Collection[str]) -> int:
        store = self.engine.store
        cleared = 0
        for source in store.sync.sources().values():
            present = without(source, set(ids), titles)
            if present != source:
                store.sync.put(present)
                cleared += 1
        return cleared
