"""Stored conversations: files that people read and edit, and that the store indexes for search.

The tree of files is authoritative: everything in it is listed and fetched, regardless of who created it. The store adds
conversations that are too large for a file: those of more than a megabyte are complete only there."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ...core import GuestPart
from ...core.projects.origin import is_by_others
from ...core.secrets import redactor
from ...core.subjects import OPENING, subject_of
from ...domain.errors import BackstoryError, InvalidInput, NotFound, StorageFull
from ...domain.filters import ConversationFilter
from ...domain.neutral import neutral
from ...domain.records import Conversation, Trust
from ...domain.topics import LONGEST_TOPIC, folder_name, slug, topic_of
from . import places
from .fullfile import SessionHeader, SessionReading, write_full
from .places import SessionFile, SessionsPlace
from .reading import SessionHead, derived_id, read_head, read_session, session_id
from .rows import messages_of, turns_in
from .summaryfile import write_summary
from .turns import SPEAKERS, USER, SessionTurn, first_part, plain_turn, read_conversation, size_of

MB = 1 << 20
MAX_SESSION_BYTES = 10 * MB
IN_FILES = 1 * MB


class SavedSession(NamedTuple):
    """A session that was just stored, with warnings for its user."""

    folder: Path
    header: SessionHeader
    is_empty: bool
    is_cut: bool
    is_unnamed: bool
    """True if no topic could be derived from it."""


class StoredSession(NamedTuple):
    found: SessionFile
    head: SessionHead
    trust: Trust = Trust.OWN

    @property
    def day(self) -> str:
        return self.found.day or f"{self.head.date:%Y-%m-%d}"


class StoredSessionPage(NamedTuple):
    sessions: list[StoredSession]
    total: int


class SessionText(NamedTuple):
    session: StoredSession
    turns: list[SessionTurn]


class StoredSessions(GuestPart):
    file_bytes = IN_FILES
    """Maximum number of bytes of a conversation in its file."""

    def place(self, requested: str | None) -> SessionsPlace:
        return places.sessions_place(requested, self.engine.settings.sessions_dir, self.caller.directory)

    def keep(
        self, conversation: str | Sequence[Any], topic: str | None, place: SessionsPlace
    ) -> SavedSession:
        """Store a conversation under a name that is unique for its day."""
        turns = read_conversation(conversation, MAX_SESSION_BYTES)
        self.engine.check_room()
        size = size_of(conversation, turns)
        is_empty = not any(turn.text.strip() for turn in turns)
        header, name, is_unnamed = self._named(turns, topic)
        header = header._replace(whole_size=size if size > self.file_bytes else 0)
        excerpt = first_part(conversation, turns, self.file_bytes) if header.whole_size else turns
        folder = self.write(place, header, name, turns, excerpt)
        self.engine.embed_soon()
        return SavedSession(folder, header, is_empty, bool(header.whole_size), is_unnamed and not is_empty)

    def listing(
        self, place: SessionsPlace, day: str | None, *, limit: int, offset: int = 0
    ) -> StoredSessionPage:
        """Return the sessions of one day or of all days, newest first, and their total number."""
        loose = [_listed(file) for file in places.found_on(place, "")]
        days = {each for each in places.days(place) if each} | {each.day for each in loose}
        sessions: list[StoredSession] = []
        total = 0
        for each in sorted(days if day is None else {day}, reverse=True):
            dated = places.found_on(place, each)
            undated = [session for session in loose if session.day == each]
            passed = max(offset - total, 0)
            total += len(dated) + len(undated)
            if len(sessions) < limit and offset < total:
                newest = sorted([*map(_listed, dated), *undated], key=by_age, reverse=True)
                sessions += newest[passed : passed + limit - len(sessions)]
        return StoredSessionPage(self._see([(session, None) for session in sessions]), total)

    def fetch(self, place: SessionsPlace, name: str, day: str | None) -> SessionText:
        """Return a session by its name, else by its topic. If several days have it, the newest one."""
        wanted, inner_day = read_name(name)
        day = day or inner_day
        days = [each for each in places.days(place) if day in (None, each) or not each]
        tree = [file for each in days for file in places.found_on(place, each)]
        named = places.choose(tree, wanted) or places.choose(tree, folder_name(wanted))
        chosen = [each for each in map(_listed, named) if day in (None, each.day)]
        if not chosen:
            raise NotFound("session", name)
        session = max(chosen, key=by_age)
        reading = read_session(session.found)
        (session,) = self._see([(session, reading)])
        if session.trust is not Trust.OWN:  # a foreign file may claim the id of any session
            return SessionText(session, [plain_turn(turn.role, neutral(turn.text)) for turn in reading.turns])
        return SessionText(session, self._whole(session.head.id, reading) or reading.turns)

    def _named(self, turns: Sequence[SessionTurn], topic: str | None) -> tuple[SessionHeader, str, bool]:
        now = self.engine.now()
        title = " ".join((topic or "")[:LONGEST_TOPIC].split())
        if not title:
            title = topic_of([*_asked(turns), *(turn.text for turn in turns)])
        name = folder_name(title)
        fallback = f"session-{now:%Y%m%d-%H%M%S}"
        header = SessionHeader(
            self.engine.new_id(), title if name else fallback, slug(title) or fallback, now
        )
        return header, name or fallback, not name

    def conversation(self, header: SessionHeader, turns: Sequence[SessionTurn]) -> Conversation:
        return Conversation(
            id=header.id,
            title=header.title,
            project=self.caller.project,
            surface=self.surface,
            created_at=header.date,
            updated_at=header.date,
            directory=self.caller.directory,
            subject=subject_of(header.title, _asked(turns)[:OPENING]),
        )

    def write(
        self,
        place: SessionsPlace,
        header: SessionHeader,
        name: str,
        turns: Sequence[SessionTurn],
        excerpt: Sequence[SessionTurn],
    ) -> Path:
        """Write the conversation to the tree, as far as it fits, and completely to the store: both or neither."""
        files = {places.SUMMARY: write_summary(header, excerpt), places.FULL: write_full(header, excerpt)}
        conversation = self.conversation(header, turns)
        store = self.engine.store

        def record(folder: Path) -> None:
            known = conversation._replace(source=str(folder / places.FULL))
            store.conversations.put(known, messages_of(known, turns))

        folder: Path | None = None
        try:
            with store.transaction():
                folder = places.save(place, f"{header.date:%Y-%m-%d}", name, files, header.date, record)
        except BackstoryError:
            if folder is not None:  # the commit failed
                places.remove(folder)
            raise
        return folder

    def _whole(self, id: str, reading: SessionReading) -> list[SessionTurn] | None:
        """Return the stored turns of a session whose file contains only its beginning and was not edited; otherwise
        None."""
        if not (reading.is_cut and reading.is_as_written):
            return None
        store = self.engine.store
        return turns_in(store.messages.of(id) or store.archive.messages(id)) or None

    def _see(self, seen: Sequence[tuple[StoredSession, SessionReading | None]]) -> list[StoredSession]:
        """Index new and changed sessions, and determine the author of each.

        A full store does not prevent listing the tree."""
        identified = [_identified(session, reading) for session, reading in seen]
        known = self._known([each for id, _, _ in identified for each in (id, self._foreign_id(id))])
        judged = [self._judged(id, session, reading, known) for id, session, reading in identified]
        fresh = [
            (id, session, reading)
            for (id, session), (_, _, reading) in zip(judged, identified, strict=True)
            if _is_news(session, known.get(id))
        ]
        if fresh:
            with suppress(StorageFull):
                self.engine.check_room()
                with self.engine.store.transaction():
                    for id, session, reading in fresh:
                        # editing an archived session restores it
                        self.engine.store.archive.restore_conversations([id])
                        content = reading or read_session(session.found)
                        self._drop_rival(id, session, content, known)
                        self._index(id, session, content, known.get(id))
                self.engine.embed_soon()
        return [session for _, session in judged]

    def _judged(
        self,
        id: str,
        session: StoredSession,
        reading: SessionReading | None,
        known: Mapping[str, Conversation],
    ) -> tuple[str, StoredSession]:
        """Return the session with its trust, and the id that belongs to it.

        Git is asked only about new and changed files."""
        foreign = self._foreign_id(id)
        for each in (foreign, id):
            if each in known and _is_unchanged(session, known[each]):
                return each, session._replace(trust=known[each].trust)
        is_foreign = is_by_others(session.found.file)
        if is_foreign is None:
            is_foreign = not self._is_ours(id, session, reading, known)
        trust = Trust.PROJECT if is_foreign else Trust.OWN
        return (foreign if trust is Trust.PROJECT else id), session._replace(trust=trust)

    def _is_ours(
        self,
        id: str,
        session: StoredSession,
        reading: SessionReading | None,
        known: Mapping[str, Conversation],
    ) -> bool:
        """True if the store has the session as the user's: at the same path, where it may have been edited, or word for
        word, after the tree was moved."""
        if id not in known or known[id].trust is not Trust.OWN:
            return False
        if known[id].source == str(session.found.file):
            return True
        store = self.engine.store
        stored = turns_in(store.messages.of(id) or store.archive.messages(id))
        turns = (reading or read_session(session.found)).turns
        return bool(turns) and stored[: len(turns)] == turns

    def _without_secrets(self, turns: Sequence[SessionTurn]) -> list[SessionTurn]:
        """Redact turns that came with a repository, like other assistants' histories.

        The user's own are stored unchanged."""
        redacted, _ = redactor(self.engine.settings.redaction).redact_all([turn.text for turn in turns])
        return [plain_turn(turn.role, text) for turn, text in zip(turns, redacted, strict=True)]

    def _drop_rival(
        self, id: str, session: StoredSession, reading: SessionReading, known: Mapping[str, Conversation]
    ) -> None:
        """Delete the record of the same file under its other trust, if all its texts are still in the file."""
        texts = {turn.text for turn in reading.turns}
        store, file = self.engine.store, str(session.found.file)
        rivals = [each.id for each in known.values() if each.source == file and each.id != id]
        store.conversations.delete(
            [each for each in rivals if texts.issuperset(message.text for message in store.messages.of(each))]
        )

    def _foreign_id(self, id: str) -> str:
        """Return the id of a session that came with the repository.

        A file may claim any id and must not replace another session."""
        return derived_id(Trust.PROJECT, self.caller.project, id)

    def _known(self, ids: Sequence[str]) -> dict[str, Conversation]:
        """Return the live and archived conversations with these ids."""
        if not ids:
            return {}
        store = self.engine.store
        archived = store.archive.find_conversations(ConversationFilter(ids=tuple(ids)))
        known = {each.conversation.id: each.conversation for each in archived}
        return known | {each.id: each for each in store.conversations.get(ids)}

    def _index(
        self, id: str, session: StoredSession, reading: SessionReading, known: Conversation | None
    ) -> None:
        store, head = self.engine.store, session.head
        title = head.topic
        if session.trust is not Trust.OWN:
            reading = reading._replace(turns=self._without_secrets(reading.turns))
            title = redactor(self.engine.settings.redaction).redact(title).text
        conversation = known or Conversation(
            id=id,
            title=title,
            project=self.caller.project,
            surface=self.surface,
            created_at=head.date,
            updated_at=head.modified,
            directory=self.caller.directory,
        )
        conversation = conversation._replace(
            source=str(session.found.file),
            updated_at=head.modified,
            trust=session.trust,
            subject=subject_of(conversation.title, _asked(reading.turns)[:OPENING]),
        )
        if known is None or not reading.is_cut:
            store.conversations.put(conversation, messages_of(conversation, reading.turns))
            return
        # the complete messages; the file contains only a part
        store.conversations.put(conversation, store.messages.of(id))
        if not reading.is_as_written:
            edited = conversation._replace(id=f"{id}:edited")
            store.conversations.put(edited, messages_of(edited, reading.turns))


def _asked(turns: Sequence[SessionTurn]) -> list[str]:
    return [turn.text for turn in turns if SPEAKERS.get(turn.role.lower()) == USER]


def read_name(name: str) -> tuple[str, str | None]:
    """Return the name and day in `2026-03-01/login/full.md` or any shorter form."""
    parts = name.split("/")
    if len(parts) > 1 and parts[-1] in (places.FULL, places.SUMMARY):
        parts.pop()
    day = parts.pop(0) if len(parts) > 1 and places.is_day(parts[0]) else None
    if len(parts) > 1 or parts[0] in ("", ".", "..") or "\\" in name or "\0" in name:
        raise InvalidInput(
            f"{name!r} is not the name of a session.", hint="List the sessions for their names.", field="name"
        )
    return parts[0], day


def _listed(file: SessionFile) -> StoredSession:
    return StoredSession(file, read_head(file))


def by_age(session: StoredSession) -> tuple[Any, ...]:
    return session.day, session.head.date, session.found.name


def _identified(
    session: StoredSession, reading: SessionReading | None
) -> tuple[str, StoredSession, SessionReading | None]:
    """Determine the id of a session."""
    if session.head.id:
        return session.head.id, session, reading
    reading = reading or read_session(session.found)
    return session_id(session.found, session.head, reading), session, reading


def _is_unchanged(session: StoredSession, known: Conversation) -> bool:
    return known.source == str(session.found.file) and known.updated_at == session.head.modified


def _is_news(session: StoredSession, known: Conversation | None) -> bool:
    if known is None:
        return True
    if known.source == str(session.found.file):
        return not _is_unchanged(session, known)
    # the file was moved here; if the old one still exists, this is a copy
    return not os.path.exists(known.source)
