"""Keep what a file tells of conversations, once for each turn, whichever files tell it. `states` has the rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from ...domain.filters import ConversationFilter
from ...domain.records import Conversation, Message, Trust
from ...domain.sources import source_path
from ...domain.when import to_ms
from ...readers import Piece, Role
from ...store import Store
from ..projects.identity import Identities
from ..subjects import OPENING, subject_of
from .pieces import conversation_id, merged, message_ids, messages_of, times_of, traces_of
from .states import TRANSITIONS, Action, FileEvent, State
from .witnesses import NOBODY, Witnesses, number_of


class PieceOutcome(NamedTuple):
    conversation: str | None = None
    """None when nothing was kept: it was forgotten, or a better witness told of it."""
    turns: int = 0
    redacted: int = 0
    skipped: Mapping[str, int] = MappingProxyType({})


class SourceFiles:
    """The files of one assistant: those that are there, and all that were ever read."""

    def __init__(self, living: Collection[str], known: Collection[str]) -> None:
        self._living = living
        self._all = {*living, *known}

    @cached_property
    def paths(self) -> Mapping[int, str]:
        """By their numbers, which nobody asks for when nothing is new."""
        return {number_of(path): path for path in self._all}

    @cached_property
    def living(self) -> frozenset[int]:
        return frozenset(map(number_of, self._living))

    def file_of(self, conversation: Conversation) -> str:
        """The file that a conversation's source is, or is in."""
        return source_path(conversation.source, self._all) or conversation.source

    def owner_of(self, conversation: Conversation) -> int:
        """The number of its file; NOBODY when that is not there."""
        number = number_of(self.file_of(conversation))
        return number if number in self.living and not conversation.is_gone else NOBODY


class Keeper:
    """Of what one assistant's files tell. What changes the store belongs inside a transaction, here and below."""

    def __init__(self, store: Store, reader: str, identities: Identities, files: SourceFiles) -> None:
        self.store = store
        self.reader = reader
        self.identities = identities
        self.files = files

    def vanish(self, paths: Sequence[str]) -> None:
        """Take nothing back. What another file tells too is that one's from now on."""
        self.store.sync.mark_gone(paths)
        numbers = [number for path in paths for number in (number_of(path), -number_of(path))]
        for id in self.store.witnesses.conversations(numbers):
            stored = self.store.witnesses.of(id)
            witnesses = Witnesses(stored)
            self.restart(witnesses.yield_to_living(self.files.living))
            save(self.store, id, _pairs(stored), witnesses.pairs())
            others = sorted(witnesses.files() & self.files.living)
            known = self.find(id)
            if others and known is not None and known.is_gone:
                path = self.files.paths[others[0]]
                self.store.conversations.add(known._replace(source=path, is_gone=False), [], [])

    def restart(self, files: Collection[int]) -> None:
        """How far these vanished files were read is of no use any more: what they told is told by others."""
        for number in files & self.files.paths.keys():
            self.store.sync.restart(self.files.paths[number])

    def find(self, id: str) -> Conversation | None:
        return next(iter(self.store.conversations.get([id])), None)

    def find_archived(self, id: str) -> Conversation | None:
        found = self.store.archive.find_conversations(ConversationFilter(ids=(id,)))
        return found[0].conversation if found else None

    def told_by(self, path: str) -> list[str]:
        """The conversations of which a file told something."""
        own = [
            conversation.id
            for conversation in self.store.conversations.find(ConversationFilter(sources=(path,)))
        ]
        number = number_of(path)
        return sorted({*own, *self.store.witnesses.conversations([number, -number])})


class FileKeeper:
    """What one file tells, from where its reading begins to its end."""

    def __init__(
        self, keeper: Keeper, path: str, retold: Collection[str], trust: Trust, *, is_back: bool
    ) -> None:
        self._keeper = keeper
        self._store = keeper.store
        self._files = keeper.files
        self._path = path
        self._number = number_of(path)
        self._trust = trust
        self._is_back = is_back
        self._witnesses: dict[str, Witnesses] = {}
        self._stored: dict[str, set[tuple[str, int]]] = {}
        self._renewed = set(self._store.witnesses.conversations([-self._number]))
        self.retold = set(retold)
        """Conversations that the file told before it was rewritten or vanished, and has not told of since."""

    def keep(self, piece: Piece, modified_ms: int) -> PieceOutcome:
        id = conversation_id(self._keeper.reader, piece.header.native_id)
        is_known = self._store.sync.knows(id)
        known = self._keeper.find(id) if is_known else None
        archived = self._keeper.find_archived(id) if is_known and known is None else None
        # what to do is a table (`states`): here it is only found out which row and column apply
        state = self._state(id, known, archived) if is_known else State.NEW
        event = self._event(id, piece, known or archived, state, modified_ms)
        step = TRANSITIONS[state][event]
        if event is FileEvent.VANISHED and known is not None and self._files.owner_of(known) == self._number:
            self._store.conversations.add(known._replace(is_gone=step.state is State.GONE), [], [])
        if step.action is Action.IGNORE:
            return PieceOutcome(skipped=piece.skipped)
        if step.action is Action.RENAME and known is not None:
            return self._rename(known, piece)
        if archived is not None:
            self._store.archive.restore_conversations([id])
            known = archived
        if step.action is Action.SUPERSEDE:
            self._store.conversations.delete_messages(id)
            self._witnesses.pop(id, None)
            known = None
        self._merge(known, piece, modified_ms, step.action)
        self.retold.discard(id)
        # a whole piece told all there is, and was settled at once; else the end of the file settles it
        if step.state is State.RENEWED and not piece.is_whole:
            self._renewed.add(id)
        return PieceOutcome(id, len(piece.turns), skipped=piece.skipped)

    def end(self, *, is_whole: bool) -> None:
        """The file was read to its end: what it told before it was rewritten, and not since, goes. `is_whole`: from its
        beginning, so that a file which came back told all that is its own."""
        for id in sorted(self._renewed):
            known = self._keeper.find(id)
            if known is not None:
                self._settle(known)
        self._renewed.clear()
        if self._is_back:
            for id in sorted(self.retold) if is_whole else ():
                if (known := self._keeper.find(id)) is not None:
                    self._release(known)
            self.retold.clear()
        self.flush()

    def flush(self) -> None:
        """Store who told what, as far as it is known by now."""
        for id, witnesses in self._witnesses.items():
            known = self._keeper.find(id)
            # of most conversations one file tells all, which its source says already: no rows for these
            is_simple = known is not None and witnesses.are_only_by(self._files.owner_of(known))
            save(self._store, id, self._stored[id], set() if is_simple else witnesses.pairs())
        self._witnesses.clear()

    def _state(self, id: str, known: Conversation | None, archived: Conversation | None) -> State:
        if self._store.sync.forgotten([id]):
            return State.FORGOTTEN
        if known is None:
            return State.NEW if archived is None else State.ARCHIVED
        if known.is_gone:
            return State.GONE
        return State.RENEWED if id in self._renewed else State.KNOWN

    def _event(
        self, id: str, piece: Piece, kept: Conversation | None, state: State, modified_ms: int
    ) -> FileEvent:
        if piece.is_name:
            return FileEvent.NAMED
        if piece.is_gone:
            return FileEvent.VANISHED
        if kept is not None and kept.standing > piece.header.standing:
            return FileEvent.WORSE
        until_ms = max(times_of(piece, modified_ms))
        if state is State.ARCHIVED and kept is not None and until_ms <= to_ms(kept.updated_at):
            return FileEvent.REPEATED
        if kept is not None and kept.standing < piece.header.standing:
            return FileEvent.BETTER
        if kept is None and not piece.turns and piece.header.completeness == "full":
            return FileEvent.SILENT
        if id in self.retold or piece.is_whole:
            return FileEvent.RETURNED if self._is_back else FileEvent.REWRITTEN
        return FileEvent.TOLD

    def _merge(self, known: Conversation | None, piece: Piece, modified_ms: int, action: Action) -> None:
        if known is None:
            row = self._merged(piece, None, modified_ms)
            asked = [turn.text for turn in piece.turns if turn.role is Role.USER and turn.text]
            row = row._replace(subject=subject_of(row.title, asked[:OPENING]))
            self._add(row, piece, messages_of(row, piece.turns, {}, -1, row.created_at))
            return
        witnesses = self._witnesses_of(known, is_needed=action is not Action.MERGE)
        is_anew = False
        if witnesses is None:
            row = self._row(piece, known, modified_ms)
            self._put_alone(row, piece)
        else:
            if action is Action.RENEW:
                witnesses.renew(self._number)
                is_anew = self._files.owner_of(known) == self._number and witnesses.are_only_by(-self._number)
            elif action is Action.RELEASE:
                witnesses.release(self._number)
            row = self._row(piece, known, modified_ms, is_anew=is_anew)
            self._put(row, piece, witnesses)
            if piece.is_whole:
                self._drop(row.id, witnesses.settle(self._number))
        if row.source != known.source and self._files.owner_of(known) == NOBODY:
            self._keeper.restart({number_of(self._files.file_of(known))} - {self._number})
        self._store.conversations.add(row._replace(subject=self._subject(row)), [], [])

    def _witnesses_of(self, known: Conversation, *, is_needed: bool) -> Witnesses | None:
        """None where the file at hand tells all there is, alone, and goes on."""
        id = known.id
        if id not in self._witnesses:
            stored = self._store.witnesses.of(id)
            owner = self._files.owner_of(known)
            if not is_needed and not stored and owner == self._number:
                return None
            messages = self._store.messages.places(id)
            self._witnesses[id] = Witnesses({message: stored.get(message, {owner}) for message in messages})
            self._stored[id] = _pairs(stored)
        return self._witnesses[id]

    def _row(
        self, piece: Piece, known: Conversation, modified_ms: int, *, is_anew: bool = False
    ) -> Conversation:
        """The conversation is called as the file says that tells the end of it; of others only the times count."""
        before = known.project if known.directory == piece.header.directory else ""
        row = self._merged(piece, None if is_anew else known, modified_ms, before)
        if is_anew:
            return row
        owner = self._files.owner_of(known)
        behind_ms = to_ms(known.updated_at) - max(times_of(piece, modified_ms))
        if owner == self._number or behind_ms < 0 or (behind_ms == 0 and owner == NOBODY):
            return row
        kept = known._replace(created_at=row.created_at, updated_at=row.updated_at)
        return kept._replace(source=row.source, is_gone=False) if owner == NOBODY else kept

    def _merged(
        self, piece: Piece, known: Conversation | None, modified_ms: int, before: str = ""
    ) -> Conversation:
        project = self._keeper.identities.project_of(piece.header.directory, before)
        return merged(
            self._keeper.reader, piece, known, project=project, modified_ms=modified_ms, trust=self._trust
        )

    def _put_alone(self, row: Conversation, piece: Piece) -> None:
        there = self._store.messages.places(row.id, sorted(_candidates(row.id, piece)))
        last = self._store.messages.last_place(row.id)
        messages = messages_of(row, piece.turns, there, last, self._time_at(row, piece, last))
        self._drop(row.id, sorted(there.keys() - {message.id for message in messages}))
        self._add(row, piece, self._news(messages, there.keys()))

    def _put(self, row: Conversation, piece: Piece, witnesses: Witnesses) -> None:
        living, number = self._files.living, self._number
        places = self._store.messages.places(row.id)
        there = {id: seq for id, seq in places.items() if witnesses.is_told(id, living)}
        last = max((seq for id, seq in places.items() if witnesses.is_told_by(id, number)), default=-1)
        messages = messages_of(row, piece.turns, there, last, self._time_at(row, piece, last))
        ids = {message.id for message in messages}
        # a turn that lost its thinking or its calls has ids which the file no longer tells
        self._drop(row.id, witnesses.retract(_candidates(row.id, piece) - ids, number))
        others = {id for id in ids & places.keys() if not witnesses.is_only_by(id, -number)}
        news = self._news(messages, others)
        self._keeper.restart(witnesses.tell(ids, number, living))
        self._add(row, piece, news)

    def _time_at(self, row: Conversation, piece: Piece, place: int) -> datetime:
        """When that was said after which the piece goes on."""
        is_asked = not piece.is_whole and bool(piece.turns) and piece.turns[0].at_ms is None and place >= 0
        said = self._store.messages.of(row.id, range(place, place + 1)) if is_asked else []
        return max((message.created_at for message in said), default=row.created_at)

    def _news(self, messages: Sequence[Message], ids: Collection[str]) -> list[Message]:
        """Those that are not just the beginning of what is kept under one of these ids."""
        texts = self._store.messages.texts(sorted(ids))
        return [each for each in messages if not _is_beginning(each.text, texts.get(each.id, ""))]

    def _add(self, row: Conversation, piece: Piece, messages: Sequence[Message]) -> None:
        ids = {message.id for message in messages}
        traces = [trace for turn in piece.turns for trace in traces_of(row.id, turn) if trace.message in ids]
        self._store.conversations.add(row, messages, traces)

    def _settle(self, known: Conversation) -> None:
        witnesses = self._witnesses_of(known, is_needed=True)
        assert witnesses is not None
        if dropped := witnesses.settle(self._number):
            self._drop(known.id, dropped)
            self._store.conversations.add(known._replace(subject=self._subject(known)), [], [])

    def _release(self, known: Conversation) -> None:
        witnesses = self._witnesses_of(known, is_needed=True)
        assert witnesses is not None
        witnesses.release(self._number)

    def _drop(self, id: str, messages: Sequence[str]) -> None:
        if messages:
            self._store.conversations.delete_messages(id, messages)

    def _rename(self, known: Conversation, piece: Piece) -> PieceOutcome:
        if piece.header.title in ("", known.title):
            return PieceOutcome(skipped=piece.skipped)
        row = known._replace(title=piece.header.title)
        self._store.conversations.add(row._replace(subject=self._subject(row)), [], [])
        return PieceOutcome(known.id, skipped=piece.skipped)

    def _subject(self, row: Conversation) -> str:
        return subject_of(row.title, self._store.messages.opening(row.id, OPENING))


def save(store: Store, id: str, before: set[tuple[str, int]], now: set[tuple[str, int]]) -> None:
    """Who told what of a conversation, where it changed."""
    if before and not now:
        store.witnesses.drop(id)
    elif before != now:
        store.witnesses.change(id, sorted(now - before), sorted(before - now))


def _pairs(stored: Mapping[str, Collection[int]]) -> set[tuple[str, int]]:
    return {(message, file) for message, files in stored.items() for file in files}


def _candidates(conversation: str, piece: Piece) -> set[str]:
    """The ids of all messages that the turns of a piece may have, or had."""
    return {id for turn in piece.turns for id in message_ids(conversation, turn)}


def _is_beginning(text: str, kept: str) -> bool:
    return len(text) < len(kept) and kept.startswith(text)
