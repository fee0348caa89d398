"""Save the content of foreign files, each turn once even if several files contain it. `states` has the rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from ...domain.records import Conversation, Message, Trust
from ...domain.when import to_ms
from ...readers import PLACE, ConversationKind, Piece, Role, reader_names
from ..subjects import OPENING, subject_of
from .keeper import Keeper, StoredConversation
from .pieces import (
    calls_of,
    conversation_id,
    is_beginning,
    is_excerpt,
    is_same_turn,
    merged,
    message_ids,
    messages_of,
    possible_ids,
    runs_of,
    sayings_of,
    split_piece,
    stored_result,
    times_of,
    traces_of,
    without_copies,
)
from .states import TRANSITIONS, Action, FileEvent, State
from .witness_rows import ROWS_AT_ONCE, WitnessRows, portions
from .witnesses import NOBODY, Witnesses, number_of

KNOWN_FROM_ITS_LOG = "known from its assistant's own log"


class PieceOutcome(NamedTuple):
    conversation: str | None = None
    """None if nothing was saved: the conversation was forgotten, or a better source is stored."""
    turns: int = 0
    redacted: int = 0
    private: int = 0
    excluded: int = 0
    skipped: Mapping[str, int] = MappingProxyType({})


class FileKeeper:
    """Saves the content of one file, from where reading starts to its end."""

    def __init__(
        self, keeper: Keeper, path: str, retold: Collection[str], trust: Trust, *, is_back: bool
    ) -> None:
        self._keeper = keeper
        self._store = keeper.store
        self._files = keeper.files
        self._transactions = keeper.transactions
        self._path = path
        self._number = number_of(path)
        self._trust = trust
        self._is_back = is_back
        self._rows = WitnessRows(self._store, self._transactions)
        self._with_former: dict[str, bool] = {}
        self._last: dict[str, int] = {}
        """For each conversation with loaded witnesses, the place of the last message that the file contains."""
        # A rewritten file whose reading was interrupted continues here.
        self._renewed = set(self._store.witnesses.conversations([-self._number]))
        self.retold = set(retold)
        """Conversations that the file contained before it was rewritten or vanished, and that were not read from it since."""

    def keep(self, piece: Piece, modified_ms: int) -> PieceOutcome:
        """Save a piece. A long one is committed in several parts."""
        # Some files repeat sessions that another reader imports from their own log.
        if self._is_copy(piece.header.session):
            return PieceOutcome(skipped={KNOWN_FROM_ITS_LOG: 1})
        id = conversation_id(self._keeper.reader, piece.header.native_id)
        if (handoff := self._keeper.handoff_of(id, piece.header)) is not None:
            source = self._keeper.find(handoff.source)
            piece = without_copies(piece, handoff, "" if source is None else source.title)
        event: FileEvent | None = None
        for part in split_piece(piece):
            stored = self._keeper.look_up(id)
            # Only the first part carries the event; the others continue it.
            event = FileEvent.TOLD if event else self._event(stored, piece, modified_ms)
            if event is None or not self._apply(event, stored, part, modified_ms):
                return PieceOutcome(skipped=piece.skipped)
            self._transactions.rest()
        # The piece contains the whole conversation, so nothing more will follow for it.
        if piece.is_whole and id in self._renewed:
            self._end(id)
        return PieceOutcome(id, len(piece.turns), skipped=piece.skipped)

    def _is_copy(self, session: str) -> bool:
        """True if another reader knows the session, or knew it until it was forgotten."""
        others = (name for name in reader_names() if session and name != self._keeper.reader)
        return any(self._store.sync.knows(conversation_id(name, session)) for name in others)

    def end(self, *, is_whole: bool) -> None:
        """Finish the file: delete content that it had before it was rewritten and no longer has.

        `is_whole` is true if it was read from its beginning; a file that came back has then shown all of its
        content."""
        if self._is_back:
            for id in sorted(self._renewed | self.retold if is_whole else self._renewed):
                self._send(FileEvent.LEFT_OUT, id)
            self._renewed.clear()
            self.retold.clear()
        for id in sorted(self._renewed):
            self._end(id)
        self.flush()
        for id in self._rows.loaded():
            if (known := self._keeper.find(id)) is not None:
                self._rows.drop_needless(id, self._files.owner_of(known))

    def flush(self) -> None:
        """Store the witnesses that are known by now."""
        for id in self._rows.loaded():
            known = self._keeper.find(id)
            if known is None:  # archived or forgotten meanwhile, together with its rows
                self._rows.discard(id)
            else:
                self._rows.flush(id, self._files.owner_of(known))
            if not self._rows.is_loaded(id):
                self._last.pop(id, None)

    def _event(self, stored: StoredConversation, piece: Piece, modified_ms: int) -> FileEvent | None:
        """The event of the state table that a piece represents; None if it has no effect."""
        conversation = stored.conversation
        if piece.is_name:
            return FileEvent.NAMED
        if piece.is_gone:
            # Only the owner's loss counts: another file may have had a copy.
            is_owner = conversation is None or number_of(self._files.file_of(conversation)) == self._number
            return FileEvent.VANISHED if is_owner and not (conversation and conversation.is_gone) else None
        if conversation is None:
            # Encrypted conversations have no turns either, but are listed as unread.
            is_silent = not piece.turns and piece.header.completeness == "full"
            return FileEvent.SILENT if is_silent else FileEvent.TOLD
        # `standing` ranks sources, for example a log of prompts below a full transcript.
        if conversation.standing > piece.header.standing:
            return FileEvent.WORSE
        if conversation.standing < piece.header.standing:
            return FileEvent.BETTER
        # Nothing is newer, so the conversation stays in the archive.
        if stored.archived and max(times_of(piece, modified_ms)) <= to_ms(conversation.updated_at):
            return FileEvent.REPEATED
        if stored.known and (stored.id in self.retold or piece.is_whole):
            return FileEvent.RETURNED if self._is_back else FileEvent.REWRITTEN
        return FileEvent.TOLD

    def _apply(self, event: FileEvent, stored: StoredConversation, piece: Piece, modified_ms: int) -> bool:
        """Perform the action of the state table. Returns whether anything was saved. Each action asserts its preconditions."""
        known, action = stored.known, TRANSITIONS[stored.state, event]
        match action:
            case Action.IGNORE:
                # Usage is counted even if the content is not stored again.
                if event is FileEvent.REPEATED:
                    self._count(stored.id, piece)
                elif event is FileEvent.SILENT and stored.state is State.NEW and piece.header.parent:
                    self._count_for_parent(piece.header.parent, piece)
                return False
            case Action.MARK_GONE | Action.MARK_BACK:
                self._keeper.mark(stored, action)
                return False
            case Action.RENAME:
                assert known is not None
                return self._rename(known, piece)
            case Action.ADD:
                assert stored.conversation is None
                self._insert(piece, modified_ms)
            case Action.SUPERSEDE:
                assert stored.conversation is not None
                self._supersede(stored)
                self._insert(piece, modified_ms)
            case Action.RESTORE:
                assert stored.archived is not None
                self._store.archive.restore_conversations([stored.id])
                self._merge(stored.archived, piece, modified_ms, action)
            case Action.MERGE | Action.RENEW | Action.RELEASE:
                assert known is not None
                self._merge(known, piece, modified_ms, action)
            case _:
                raise AssertionError(action)
        # It was read again, so `end` must not release it.
        self.retold.discard(stored.id)
        return True

    def _send(self, event: FileEvent, id: str) -> None:
        """Handle an event of a live conversation that brings no content."""
        stored = self._keeper.look_up(id)
        if stored.known is None:
            return
        match TRANSITIONS[stored.state, event]:
            case Action.IGNORE:
                pass
            case Action.SETTLE:
                self._settle(stored.known)
            case Action.RELEASE:
                self._witnesses_of(stored.known, Action.RELEASE)
            case action:
                raise AssertionError(action)

    def _end(self, id: str) -> None:
        self._send(FileEvent.ENDED, id)
        self._renewed.discard(id)

    def _insert(self, piece: Piece, modified_ms: int) -> None:
        row = self._merged(piece, None, modified_ms)
        asked = [turn.text for turn in piece.turns if turn.role is Role.USER and turn.text]
        row = row._replace(subject=subject_of(row.title, asked[:OPENING]))
        self._add(row, piece, messages_of(row, piece.turns, {}, -1, row.created_at))

    def _supersede(self, stored: StoredConversation) -> None:
        """Delete the content of the worse source.

        Until the better one is stored, the conversation still belongs to the worse, so that an interrupted call is
        repeated."""
        if stored.archived is not None:
            self._store.archive.restore_conversations([stored.id])
        # In portions, so that deleting a long conversation does not block other writers.
        for some in portions(self._store.messages.places(stored.id), ROWS_AT_ONCE):
            self._drop(stored.id, some)
            self._transactions.rest()
        self._rows.discard(stored.id)

    def _merge(self, known: Conversation, piece: Piece, modified_ms: int, action: Action) -> None:
        is_plain = action is Action.MERGE and self._is_alone(known)
        witnesses = None if is_plain else self._witnesses_of(known, action)
        # A file that alone contained the conversation replaces title, times and all other fields.
        is_anew = (
            action is Action.RENEW
            and witnesses is not None
            and self._files.owner_of(known) == self._number
            and self._rows.aside(known.id, lambda: witnesses.are_only_by(-self._number))
        )
        row = self._row(piece, known, modified_ms, is_anew=is_anew)
        self._put(row, piece, witnesses)
        # The former file vanished and this one takes over; if it returns, it is read from its start.
        if row.source != known.source and self._files.owner_of(known) == NOBODY:
            self._keeper.restart({number_of(self._files.file_of(known))} - {self._number})
        self._store.conversations.add(row._replace(subject=self._subject(row)), [], [])

    def _is_alone(self, known: Conversation) -> bool:
        """True if the current file alone contains the whole conversation and continues it."""
        return (
            self._files.owner_of(known) == self._number
            and not self._rows.is_loaded(known.id)
            and not self._store.witnesses.has_rows(known.id)
        )

    def _witnesses_of(self, known: Conversation, action: Action) -> Witnesses:
        """The witnesses of a conversation, after the action was applied to the current file."""
        is_loaded = self._rows.is_loaded(known.id)
        if is_loaded and action is Action.MERGE:
            return self._rows.of(known.id, self._files.owner_of(known))

        def prepared() -> Witnesses:
            witnesses = self._rows.of(known.id, self._files.owner_of(known))
            if action is Action.RENEW:
                witnesses.renew(self._number)
            elif action is Action.RELEASE:
                witnesses.release(self._number)
            self._last[known.id] = witnesses.last_place(self._number)
            return witnesses

        # Loading a long conversation takes too long for a transaction.
        witnesses = self._rows.aside(known.id, prepared)
        if action is Action.RENEW:
            self._renewed.add(known.id)
        # Before messages are saved: without rows they would count as the owner's.
        self._rows.spread(known.id)
        return witnesses

    def _row(
        self, piece: Piece, known: Conversation, modified_ms: int, *, is_anew: bool = False
    ) -> Conversation:
        """The conversation's row after this piece.

        Title and other fields come from the file with the end of the conversation; other files only affect the
        times."""
        before = known.project if known.directory == piece.header.directory else ""
        row = self._merged(piece, None if is_anew else known, modified_ms, before)
        if is_anew:
            return row
        owner = self._files.owner_of(known)
        # Positive if the stored conversation has later messages than this piece.
        behind_ms = to_ms(known.updated_at) - max(times_of(piece, modified_ms))
        if owner == self._number or behind_ms < 0 or (behind_ms == 0 and owner == NOBODY):
            return row
        former = known._replace(created_at=row.created_at, updated_at=row.updated_at)
        return former._replace(source=row.source, is_gone=False) if owner == NOBODY else former

    def _merged(
        self, piece: Piece, known: Conversation | None, modified_ms: int, before: str = ""
    ) -> Conversation:
        project = self._keeper.identities.project_of(piece.header.directory, before)
        row = merged(
            self._keeper.reader, piece, known, project=project, modified_ms=modified_ms, trust=self._trust
        )
        handoff = self._keeper.handoffs.get(row.id)
        return row if handoff is None else row._replace(kind=ConversationKind.FORK, parent=handoff.source)

    def _put(self, row: Conversation, piece: Piece, witnesses: Witnesses | None) -> None:
        """Write the messages of a piece. `witnesses` is None if the file alone contains the conversation."""
        # First, so that all following look-ups use the current ids.
        self._adopt(row.id, piece, witnesses)
        candidates = possible_ids(row.id, piece)
        places = self._store.messages.places(row.id, sorted(candidates))
        if witnesses is None:
            there, last = places, self._store.messages.last_place(row.id)
        else:
            there = {id: seq for id, seq in places.items() if witnesses.is_told(id, self._files.living)}
            last = self._last[row.id]
        messages = messages_of(row, piece.turns, there, last, self._time_at(row, piece, last))
        new_places = {message.id: message.seq for message in messages}
        # A turn that lost its thinking or its calls leaves ids that the file no longer contains.
        lost = candidates - new_places.keys()
        if witnesses is None:
            self._drop(row.id, sorted(lost & places.keys()))
            news = self._news(messages, places.keys())
        else:
            self._drop(row.id, witnesses.retract(lost, self._number))
            # Messages that only this rewritten file had may become shorter; others only become longer.
            own = {id for id in places if witnesses.is_only_by(id, -self._number)}
            copied = {id for id in places if not witnesses.has_told(id, self._number)}
            news = self._news(messages, places.keys() - own, copied)
            self._keeper.restart(witnesses.tell(new_places, self._number, self._files.living))
            self._last[row.id] = max((last, *new_places.values()))
        self._add(row, piece, news)

    def _adopt(self, id: str, piece: Piece, witnesses: Witnesses | None) -> None:
        """Rename messages that are stored under the ids that an earlier version gave them."""
        former = {
            before: (now, turn)
            for turn in piece.turns
            if turn.former_id
            for before, now in zip(message_ids(id, turn.former_id), message_ids(id, turn.id), strict=True)
        }
        if not former or not self._has_former(id, list(former)):
            return
        there = self._store.messages.named(list(former))
        taken = self._store.messages.places(id, [former[before][0] for before in there])
        renamed = {
            before: former[before][0]
            for before, message in there.items()
            # Never overwrite a message that already has the new id.
            if former[before][0] not in taken and is_same_turn(message, former[before][1])
        }
        self._store.messages.rename(renamed)
        if witnesses is not None:
            for before, now in renamed.items():
                witnesses.adopt(before, now)

    def _has_former(self, id: str, former: Sequence[str]) -> bool:
        """True if a conversation may still have messages with former ids.

        Checking each turn would double the cost of a read, so the first piece decides."""
        if id not in self._with_former:
            # Former ids share their beginning up to PLACE, so one range query finds any of them.
            beginning, mark, _ = former[0].removeprefix(f"{id}/").partition(PLACE)
            self._with_former[id] = (
                self._store.messages.has_named(f"{id}/{beginning}{mark}")
                if mark
                else bool(self._store.messages.places(id, former))
            )
        return self._with_former[id]

    def _time_at(self, row: Conversation, piece: Piece, place: int) -> datetime:
        """The time of the message that the piece continues."""
        is_asked = not piece.is_whole and bool(piece.turns) and piece.turns[0].at_ms is None and place >= 0
        messages = self._store.messages.of(row.id, range(place, place + 1)) if is_asked else []
        return max((message.created_at for message in messages), default=row.created_at)

    def _news(
        self, messages: Sequence[Message], ids: Collection[str], copied: Collection[str] = ()
    ) -> list[Message]:
        """The messages with new content.

        A message is not new if it is only the beginning of the stored text with its id, or, for messages copied from
        another file, a subset of its lines: a copy may lack a line that was cut."""
        texts = self._store.messages.texts(sorted(ids))
        return [
            each
            for each in messages
            if not is_beginning(each.text, whole := texts.get(each.id, ""))
            and not (each.id in copied and is_excerpt(each.text, whole))
        ]

    def _add(self, row: Conversation, piece: Piece, messages: Sequence[Message]) -> None:
        ids = {message.id for message in messages}
        traces = [trace for turn in piece.turns for trace in traces_of(row.id, turn) if trace.message in ids]
        sayings = [each for turn in piece.turns for each in sayings_of(row.id, turn) if each.message in ids]
        calls = [call for turn in piece.turns for call in calls_of(row.id, turn) if call.message in ids]
        runs = [each for turn in piece.turns for each in runs_of(row.id, turn) if each.message in ids]
        self._store.conversations.add(row, messages, traces, sayings, calls, runs)
        if piece.late_results:
            late = {id: stored_result(result) for id, result in piece.late_results.items()}
            self._store.results.add_late(row.id, {id: result for id, result in late.items() if result})
        self._count(row.id, piece)
        rows = len(messages) + len(traces) + len(sayings) + len(calls) + len(runs) + len(piece.usage)
        self._transactions.spend(rows, sum(len(each.text) for each in messages))

    def _count(self, id: str, piece: Piece) -> None:
        """Store the usage of models, which stays when the conversation is archived."""
        if piece.usage:
            messages = {call.turn: message_ids(id, call.turn) for call in piece.usage if call.turn}
            self._store.usage.put(id, self._keeper.reader, piece.usage, messages)

    def _count_for_parent(self, native_id: str, piece: Piece) -> None:
        """Store the usage of a subagent without messages as usage of its parent conversation."""
        parent = conversation_id(self._keeper.reader, native_id)
        if not self._store.sync.forgotten([parent]):
            self._count(parent, piece)

    def _settle(self, known: Conversation) -> None:
        witnesses = self._witnesses_of(known, Action.SETTLE)
        is_changed = False
        waiting = self._rows.aside(known.id, lambda: witnesses.waiting(self._number))
        for some in portions(waiting, ROWS_AT_ONCE):
            dropped = witnesses.retract(some, -self._number)
            # The first user messages, and with them the subject, may be among them.
            is_changed |= bool(dropped)
            self._drop(known.id, dropped)
            self._transactions.spend(len(some))
            self._transactions.rest()
        if is_changed:
            self._store.conversations.add(known._replace(subject=self._subject(known)), [], [])

    def _drop(self, id: str, messages: Sequence[str]) -> None:
        if messages:
            self._store.conversations.delete_messages(id, messages)
            self._transactions.spend(len(messages))

    def _rename(self, known: Conversation, piece: Piece) -> bool:
        if piece.header.title in ("", known.title):
            return False
        row = known._replace(title=piece.header.title)
        self._store.conversations.add(row._replace(subject=self._subject(row)), [], [])
        return True

    def _subject(self, row: Conversation) -> str:
        return subject_of(row.title, self._store.messages.opening(row.id, OPENING))
