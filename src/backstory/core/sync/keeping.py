"""Keep what a piece tells, once for each turn, whoever told it before."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ...domain.filters import ConversationFilter
from ...domain.records import Conversation, Trust
from ...domain.sources import source_path
from ...domain.when import to_ms
from ...readers import Piece, Role
from ...store import Store
from ..projects.identity import Identities
from ..secrets import Redactor
from .pieces import (
    conversation_id,
    merged,
    message_ids,
    messages_of,
    placed,
    times_of,
    traces_of,
    without_secrets,
)
from .subjects import OPENING, subject_of


class Kept(NamedTuple):
    conversation: str | None = None
    """None when nothing was kept: it was forgotten, or a better witness told of it."""
    turns: int = 0
    redacted: int = 0
    skipped: Mapping[str, int] = MappingProxyType({})


class Keeping:
    """What one assistant's sources tell, into the store. Call `keep` inside a transaction."""

    def __init__(
        self, store: Store, reader: str, redactor: Redactor, identities: Identities, living: frozenset[str]
    ) -> None:
        self._store = store
        self._reader = reader
        self._redactor = redactor
        self._identities = identities
        self._living = living

    def keep(self, piece: Piece, *, modified_ms: int, is_renewed: bool, trust: Trust) -> Kept:
        """`is_renewed`: its source is read anew, and this is the first it tells of the conversation this time."""
        id = conversation_id(self._reader, piece.header.native_id)
        known = next(iter(self._store.conversations.get([id])), None)
        if piece.is_name:
            return self._rename(known, piece)
        archived = None if known is not None else self._archived(id)
        witness = known or archived
        is_outdone = witness is not None and witness.standing > piece.header.standing
        if is_outdone or self._store.sync.forgotten([id]):
            return Kept(skipped=piece.skipped)
        if archived is not None:
            if max(times_of(piece, modified_ms)) <= to_ms(archived.updated_at):
                return Kept(skipped=piece.skipped)
            self._store.archive.restore_conversations([id])  # it goes on
            known = archived
        if known is None and not piece.turns and piece.header.completeness == "full":
            return Kept(skipped=piece.skipped)
        piece, redacted = without_secrets(piece, self._redactor)
        if known is not None and ((is_renewed and not piece.is_whole) or self._is_superseded(known, piece)):
            self._store.conversations.delete_messages(id)
            known = None
        project = self._identities.project_of(piece.header.directory)
        row = merged(self._reader, piece, known, project=project, modified_ms=modified_ms, trust=trust)
        if known is not None and known.source != row.source:
            # another file is the conversation's own, and knows best what to call it
            row = known._replace(created_at=row.created_at, updated_at=row.updated_at)
        self._put(row, piece, is_known=known is not None)
        return Kept(id, len(piece.turns), redacted, piece.skipped)

    def _rename(self, known: Conversation | None, piece: Piece) -> Kept:
        piece, redacted = without_secrets(piece, self._redactor)
        title = piece.header.title
        if known is None or title in ("", known.title):
            return Kept(skipped=piece.skipped)
        row = known._replace(title=title)
        self._store.conversations.add(row._replace(subject=self._subject(row)), [], [])
        return Kept(known.id, redacted=redacted, skipped=piece.skipped)

    def _archived(self, id: str) -> Conversation | None:
        found = self._store.archive.find_conversations(ConversationFilter(ids=(id,)))
        return found[0].conversation if found else None

    def _is_superseded(self, known: Conversation, piece: Piece) -> bool:
        """By a better witness, or by a file that took the place of one that is gone."""
        told = piece.header
        is_orphan = known.source != told.source and source_path(known.source, self._living) is None
        return known.standing < told.standing or is_orphan

    def _put(self, row: Conversation, piece: Piece, *, is_known: bool) -> None:
        there: dict[str, int] = {}
        if is_known:
            candidates = {id for turn in piece.turns for id in message_ids(row.id, turn)}
            there = self._store.conversations.places(row.id, None if piece.is_whole else sorted(candidates))
        is_new = piece.is_whole or not is_known
        last = -1 if is_new else self._store.conversations.last_place(row.id)
        places = list(placed(row.id, piece.turns, {} if is_new else there, last))
        messages = [message for turn, seq in places for message in messages_of(row, turn, seq)]
        if leftover := there.keys() - {message.id for message in messages}:
            self._store.conversations.delete_messages(row.id, sorted(leftover))
        traces = [trace for turn in piece.turns for trace in traces_of(row.id, turn)]
        if not is_known:
            asked = [turn.text for turn in piece.turns if turn.role is Role.USER and turn.text]
            row = row._replace(subject=subject_of(row.title, asked[:OPENING]))
        self._store.conversations.add(row, messages, traces)
        if is_known:
            self._store.conversations.add(row._replace(subject=self._subject(row)), [], [])

    def _subject(self, row: Conversation) -> str:
        return subject_of(row.title, self._store.conversations.opening(row.id, OPENING))
