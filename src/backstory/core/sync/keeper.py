"""The stored conversations of one assistant: the state of each, and the files that contain it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from ...domain.filters import ConversationFilter
from ...domain.handoffs import SessionHandoff
from ...domain.records import Conversation
from ...domain.sources import source_path
from ...readers import ConversationHeader
from ...store import Store
from ..projects.identity import Identities
from .pieces import conversation_id
from .states import TRANSITIONS, Action, FileEvent, State
from .transactions import ShortTransactions
from .witness_rows import WitnessRows
from .witnesses import NOBODY, number_of


class SourceFiles:
    """The files of one assistant: those that exist, and all that were ever read."""

    def __init__(self, living: Collection[str], known: Collection[str]) -> None:
        self._living = living
        self._all = {*living, *known}

    @cached_property
    def paths(self) -> Mapping[int, str]:
        """Paths by file number. Computed on demand, because a sync without news does not need them."""
        return {number_of(path): path for path in self._all}

    @cached_property
    def living(self) -> frozenset[int]:
        return frozenset(map(number_of, self._living))

    def file_of(self, conversation: Conversation) -> str:
        """The file that a conversation's source is, or is in."""
        return source_path(conversation.source, self._all) or conversation.source

    def owner_of(self, conversation: Conversation) -> int:
        """The number of the file that a conversation belongs to, or NOBODY if that file does not exist."""
        number = number_of(self.file_of(conversation))
        return number if number in self.living and not conversation.is_gone else NOBODY


class StoredConversation(NamedTuple):
    """A conversation as it is in the store when a file with its content is read."""

    id: str
    state: State
    known: Conversation | None = None
    archived: Conversation | None = None

    @property
    def conversation(self) -> Conversation | None:
        return self.known or self.archived


class Keeper:
    """Reads and changes the stored conversations of one assistant. Methods that write must run inside a transaction."""

    def __init__(
        self,
        store: Store,
        reader: str,
        identities: Identities,
        files: SourceFiles,
        transactions: ShortTransactions,
    ) -> None:
        self.store = store
        self.reader = reader
        self.identities = identities
        self.files = files
        self.transactions = transactions
        # Loaded after the search for files: our own sessions are recorded before their files exist.
        self.handoffs = {handoff.conversation: handoff for handoff in store.handoffs.all()}

    def handoff_of(self, id: str, header: ConversationHeader) -> SessionHandoff | None:
        """The handoff of a session that we wrote, if it is one.

        The session's other id is recorded too, because later files may contain only that id."""
        if id not in self.handoffs and header.written_as:
            written = self.handoffs.get(conversation_id(self.reader, header.written_as))
            if written is not None:
                self.handoffs[id] = written._replace(conversation=id, paths=())
                self.store.handoffs.put(self.handoffs[id])
        return self.handoffs.get(id)

    def find(self, id: str) -> Conversation | None:
        return next(iter(self.store.conversations.get([id])), None)

    def look_up(self, id: str) -> StoredConversation:
        # One query for the most common case: most conversations are new.
        if not self.store.sync.knows(id):
            return StoredConversation(id, State.NEW)
        if self.store.sync.forgotten([id]):
            return StoredConversation(id, State.FORGOTTEN)
        if (known := self.find(id)) is not None:
            return StoredConversation(id, State.GONE if known.is_gone else State.KNOWN, known)
        (archived,) = self.store.archive.find_conversations(ConversationFilter(ids=(id,)))
        return StoredConversation(id, State.ARCHIVED, archived=archived.conversation)

    def vanish(self, paths: Sequence[str]) -> None:
        """Mark files as vanished. No content is deleted; content that another file also contains now belongs to that file.

        The files themselves are marked last, so that an interrupted call is repeated."""
        # Negative numbers: messages that wait to be read again from a rewritten file.
        numbers = [number for path in paths for number in (number_of(path), -number_of(path))]
        rows = WitnessRows(self.store, self.transactions)
        for id in self.store.witnesses.conversations(numbers):
            if (known := self.find(id)) is not None:
                self._hand_over(known, rows, paths)
        self._mark(FileEvent.VANISHED, paths)
        self.store.sync.set_sources_gone(paths, True)

    def _hand_over(self, known: Conversation, rows: WitnessRows, paths: Collection[str]) -> None:
        def yielded() -> tuple[set[int], list[int]]:
            witnesses = rows.of(known.id, self.files.owner_of(known))
            former = witnesses.yield_to_living(self.files.living)
            return former, sorted(witnesses.files() & self.files.living)

        former, others = rows.aside(known.id, yielded)
        self.restart(former)
        rows.spread(known.id)
        # The first other file by number becomes the owner.
        if others and (known.is_gone or source_path(known.source, paths) is not None):
            known = known._replace(source=self.files.paths[others[0]], is_gone=False)
            self.store.conversations.add(known, [], [])
        rows.flush(known.id, self.files.owner_of(known))
        # Free the memory before the next conversation.
        rows.discard(known.id)

    def reappear(self, path: str) -> None:
        """Mark an unchanged file, and the conversations that belong to it, as present again."""
        self._mark(FileEvent.REAPPEARED, [path])
        self.store.sync.set_sources_gone([path], False)

    def _mark(self, event: FileEvent, paths: Collection[str]) -> None:
        is_gone = event is FileEvent.VANISHED
        for id in self.store.sync.conversations_in(paths, is_gone=not is_gone):
            stored = self.look_up(id)
            self.mark(stored, TRANSITIONS[stored.state, event])
            self.transactions.spend(1)
            self.transactions.rest()

    def mark(self, stored: StoredConversation, action: Action) -> None:
        """Mark a conversation as missing from its source, or as present again."""
        is_gone = {Action.MARK_GONE: True, Action.MARK_BACK: False}[action]
        assert stored.conversation is not None
        assert stored.conversation.is_gone is not is_gone
        self.store.sync.set_gone([stored.id], is_gone)

    def restart(self, files: Collection[int]) -> None:
        """Reset the cursors of these vanished files: other files contain all of their content."""
        for number in files & self.files.paths.keys():
            self.store.sync.restart(self.files.paths[number])

    def conversations_of(self, path: str) -> list[str]:
        """The conversations with content from a file."""
        own = [
            conversation.id
            for conversation in self.store.conversations.find(ConversationFilter(sources=(path,)))
        ]
        number = number_of(path)
        return sorted({*own, *self.store.witnesses.conversations([number, -number])})
