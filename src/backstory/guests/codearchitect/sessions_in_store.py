"""Stored sessions of a team server's callers: conversations in the tenant's store, without files.

Replicas share the database but not their disks, so each of them can list and return a session that another one stored.
A session's `source` is the path that its file would have below a sessions directory, `YYYY-MM-DD/name/full.md`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...domain.errors import NoName, NotFound
from ...domain.filters import ConversationFilter
from ...domain.records import Conversation
from ...domain.topics import folder_name, slug
from . import places
from .fullfile import SessionHeader
from .places import SessionFile, SessionsPlace
from .reading import SessionHead
from .rows import messages_of, turns_in
from .stored_sessions import (
    MAX_SESSION_BYTES,
    SessionText,
    StoredSession,
    StoredSessionPage,
    StoredSessions,
    by_age,
    read_name,
)
from .turns import SessionTurn


class SessionsInStore(StoredSessions):
    file_bytes = MAX_SESSION_BYTES
    """Sessions are never cut, because there is no file with a size limit."""

    def place(self, requested: str | None) -> SessionsPlace:
        if requested is not None:
            self.caller.check_local("sessions_dir", hint="Leave it out: the server stores sessions itself.")
        return SessionsPlace(Path(), Path())

    def listing(
        self, place: SessionsPlace, day: str | None, *, limit: int, offset: int = 0
    ) -> StoredSessionPage:
        """Return the sessions of one day or of all days, newest first, and their total number."""
        sessions = sorted(
            (session for session in self._sessions() if day in (None, session.day)), key=by_age, reverse=True
        )
        page = sessions[offset : offset + limit]
        sizes = self.engine.store.messages.sizes([session.head.id for session in page])
        sized = [
            session._replace(head=session.head._replace(size=sizes.get(session.head.id, 0)))
            for session in page
        ]
        return StoredSessionPage(sized, len(sessions))

    def fetch(self, place: SessionsPlace, name: str, day: str | None) -> SessionText:
        """Return a session by its name, else by its topic. If several days have it, the newest one."""
        wanted, inner_day = read_name(name)
        day = day or inner_day
        sessions = {each.found: each for each in self._sessions() if day in (None, each.day)}
        chosen = places.choose(sessions, wanted) or places.choose(sessions, folder_name(wanted))
        if not chosen:
            raise NotFound("session", name)
        session = max((sessions[each] for each in chosen), key=by_age)
        store, id = self.engine.store, session.head.id
        return SessionText(session, turns_in(store.messages.of(id) or store.archive.messages(id)))

    def write(
        self,
        place: SessionsPlace,
        header: SessionHeader,
        name: str,
        turns: Sequence[SessionTurn],
        excerpt: Sequence[SessionTurn],
    ) -> Path:
        day = f"{header.date:%Y-%m-%d}"
        store = self.engine.store
        with store.transaction():  # prevents other replicas from taking the name
            taken = {each.found.name for each in self._sessions() if each.day == day}
            numbered = (f"{name}-{number}" if number else name for number in range(places.MOST_NAMES + 1))
            free = next((each for each in numbered if each not in taken), None)
            if free is None:
                raise NoName(
                    f"{name} and its {places.MOST_NAMES} numbered names are taken on this day.",
                    hint="Give another topic.",
                    field="topic",
                )
            folder = Path(day, free)
            conversation = self.conversation(header, turns)._replace(source=(folder / places.FULL).as_posix())
            store.conversations.put(conversation, messages_of(conversation, turns))
        return folder

    def _sessions(self) -> list[StoredSession]:
        which = self.caller.visible_conversations(ConversationFilter(surfaces=(self.surface,)))
        store = self.engine.store
        archived = (each.conversation for each in store.archive.find_conversations(which))
        return [
            session
            for conversation in (*store.conversations.find(which), *archived)
            if (session := _session(conversation))
        ]


def _session(conversation: Conversation) -> StoredSession | None:
    """Convert a conversation; None if its source does not name a session.

    Sources from servers that wrote files have a directory before the day, which is dropped."""
    day, name, file = ("", "", *Path(conversation.source).parts)[-3:]
    if file != places.FULL or not places.is_day(day):
        return None
    session_file = SessionFile(name, day, Path(day, name, file))
    topic = slug(conversation.title) or name
    head = SessionHead(conversation.id, topic, conversation.created_at, 0, conversation.updated_at)
    return StoredSession(session_file, head, conversation.trust)
