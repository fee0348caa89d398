"""Forget in one store, be it the live one or a backup: out of its tables, its archive, its events and its cursors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from ...domain.filters import ConversationFilter, Filter
from ...domain.records import Conversation
from ...store import Store
from ...store.tables import Forgettable, with_words_of
from ..derived import QUOTED_CHARS, Derivation, FileRewrite, ForgottenMemories
from ..sync.cursors import without
from ..sync.transactions import ShortTransactions
from ..sync.witness_rows import LONG_CONVERSATION, ROWS_AT_ONCE, portions


class ForgetRequest(NamedTuple):
    """The records to forget.

    Conversations never come back with a sync. Memories are removed live and archived, with their histories.
    Checkpoints are meant to preserve later deletions, so they are changed only on request."""

    conversations: Sequence[str] = ()
    memories: Filter | None = None
    with_checkpoints: bool = False


class RemovalResult(NamedTuple):
    counts: Mapping[str, int]
    """Numbers of removed records by place, without zeros."""
    files: Sequence[FileRewrite] = ()


class Removal:
    def __init__(self, store: Store, now: datetime, derivations: Iterable[Derivation]) -> None:
        self.store = store
        self.now = now
        self.derivations = derivations

    def forget(self, request: ForgetRequest) -> RemovalResult:
        """Forget the records in one transaction, except the messages of long conversations, which are deleted before.

        The store's residue overwrites their bytes afterwards."""
        files: list[FileRewrite] = []
        messages = sum(self.store.messages.count(request.conversations).values())
        self._empty_long(request.conversations)
        counts: dict[str, int] = {}
        with self.store.transaction():
            projects = self._projects(request)
            if request.conversations:
                counts |= {"messages": messages} | self._forget_conversations(request.conversations)
            if request.memories is not None:
                quotable = self._quotable(request.memories)
                ids = list(dict.fromkeys([*request.memories.ids, *(id for id, _ in quotable)]))
                counts |= self._forget_memories(request.memories, ids, request.with_checkpoints)
                forgotten = ForgottenMemories(frozenset(ids), [text for _, text in quotable])
                for derivation in self.derivations:
                    change = derivation.forget(self.store, forgotten)
                    counts[derivation.name] = change.records
                    files += change.files
            if not any(counts.values()):
                return RemovalResult({})
            counts |= {
                "cached answers": self.store.answers.delete_all(),
                "injected briefs": self.store.injections.delete(projects),
            }
        return RemovalResult({place: count for place, count in counts.items() if count}, files)

    def _empty_long(self, ids: Sequence[str]) -> None:
        """Delete the messages of long conversations in short transactions, so that other writers do not wait long.

        After an interruption no sync extends the conversation, and it can be forgotten again."""
        store = self.store
        for id in ids:
            if store.messages.last_place(id) < LONG_CONVERSATION:
                continue
            messages = list(store.messages.places(id))
            with ShortTransactions(store) as transactions:
                store.sync.bury([id], self.now)
                for some in portions(messages, ROWS_AT_ONCE):
                    store.conversations.delete_messages(id, some)
                    store.residue.note(with_words_of([Forgettable.CONVERSATIONS]))
                    transactions.spend(len(some))
                    transactions.rest()

    def _projects(self, request: ForgetRequest) -> set[str]:
        """The projects whose briefs may quote forgotten records."""
        which = ConversationFilter(ids=tuple(request.conversations))
        conversations = all_conversations(self.store, which) if request.conversations else []
        projects = {conversation.project for conversation in conversations}
        if request.memories is not None:
            archived = self.store.archive.find_memories(request.memories, with_forgotten=True)
            projects |= {each.memory.project for each in archived}
            projects.update(self.store.memories.projects_of(request.memories))
        return projects

    def _quotable(self, where: Filter) -> list[tuple[str, str]]:
        """The beginnings of all current and former values of the memories, with their ids."""
        archived = [
            (each.memory.id, value)
            for each in self.store.archive.find_memories(where, with_forgotten=True)
            for value in (each.memory.text, *(former.text for former in each.history))
        ]
        return [*self.store.memories.openings(where, QUOTED_CHARS), *archived]

    def _forget_memories(self, where: Filter, ids: Sequence[str], with_checkpoints: bool) -> dict[str, int]:
        store = self.store
        removed = {
            "former values": sum(store.memories.count_former(where).values()),
            "memories": store.memories.delete(where),
            "archived memories": store.archive.delete_memories(where),
            "events": store.sessions.delete_events(ids),
            "checkpoints": store.checkpoints.remove(ids) if with_checkpoints else 0,
            "stored exports": store.exports.forget(ids),
        }
        store.imports.forget(ids)
        if with_checkpoints:
            store.devices.reach_checkpoints(ids)
        if any(removed.values()):
            checkpoints = [Forgettable.CHECKPOINTS] if with_checkpoints else []
            store.residue.note(with_words_of([Forgettable.MEMORIES, *checkpoints]))
        return removed

    def _forget_conversations(self, ids: Sequence[str]) -> dict[str, int]:
        store, conversations = self.store, all_conversations(self.store, ConversationFilter(ids=tuple(ids)))
        removed = {
            "conversations": store.sync.forget(ids, self.now),
            "handoffs to other assistants": store.handoffs.clear(ids),
            "stored exports": store.exports.forget(ids),
            "cursors": self._clear_cursors(
                ids, {conversation.title for conversation in conversations} - {""}
            ),
        }
        if any(removed.values()):
            store.residue.note(with_words_of([Forgettable.CONVERSATIONS]))
        return removed

    def _clear_cursors(self, ids: Sequence[str], titles: Collection[str]) -> int:
        store = self.store
        cleared = 0
        for source in store.sync.sources().values():
            present = without(source, set(ids), titles)
            if present != source:
                store.sync.put(present)
                cleared += 1
        return cleared


def all_conversations(store: Store, which: ConversationFilter) -> list[Conversation]:
    """The live ones, and those of the archive."""
    archived = store.archive.find_conversations(which)
    return [*store.conversations.find(which), *(each.conversation for each in archived)]
