"""Sessions: stretches of work that memories belong to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from ...domain.errors import InvalidInput, NotFound
from ...domain.filters import Filter
from ...domain.records import Session
from ...domain.scopes import Scope
from ...store import Store
from ..part import CorePart
from ..projects import git_branch, project_root, work_tree

UNNAMED = "Unnamed session"
GENERAL = "general"
LONGEST_CHANNEL = 20
TRUNKS = ("main", "master")  # branches that say nothing about the work
_CHANNEL_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")


class Sessions(CorePart):
    def current(self) -> Session:
        """The connection's session; the first call makes one. Two servers never share one by accident. A restored
        store may not have it: then another begins."""
        with self.locked():
            known = self.caller.session and self.engine.store.sessions.get(self.caller.session)
            return known or self.start(UNNAMED)

    def view(self) -> Session:
        """The connection's session for reading. If there is none yet, an empty one that is not stored."""
        if self.caller.session is not None:
            return self.get(self.caller.session)
        now = self.engine.now()
        return Session("", UNNAMED, self.caller.project, self.surface, now, now, channel=GENERAL)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """A lock under which no other call of the connection starts or ends its session.

        Take it before a transaction, never inside one: the end of a session waits for the database while it has this
        lock."""
        if self.engine.store.in_transaction:
            raise RuntimeError("A session is asked for before a transaction begins, not inside it.")
        with self.caller.session_lock:
            yield

    def get(self, id: str) -> Session:
        session = self.engine.store.sessions.get(id)
        if session is None:
            raise NotFound("session", id)
        return session

    def is_own(self, session: Session) -> bool:
        """True if the surface created the session, works in it or saved in it.

        Surfaces of one connection share its session."""
        saved = self.caller.visible(Filter(surfaces=(self.surface,), threads=(session.id,)))
        is_known = session.surface == self.surface or session.id == self.caller.session
        return is_known or self.engine.store.entries.count(saved) > 0

    def start(
        self, name: str, *, description: str = "", channel: str = GENERAL, parent: str | None = None
    ) -> Session:
        """A new session, which becomes the connection's."""
        self.caller.check_scope(Scope.WRITE)  # also reading tools come here, for a caller that has none yet
        now = self.engine.now()
        session = Session(
            id=self.engine.new_id(),
            name=name,
            project=self.caller.project,
            surface=self.surface,
            created_at=now,
            updated_at=now,
            channel=channel,
            description=description,
            parent=parent,
        )
        self.engine.store.sessions.put(session)
        self.caller.session = session.id
        return session

    def begin(
        self, name: str, *, description: str, channel: str, continued: str | None, directory: str | None
    ) -> Session:
        """Start work: in a directory, which becomes the connection's project, and after a former session."""
        parent = None if continued is None else self.get(continued).id
        branch = None if directory is None else self._enter(directory)
        channels = [channel_name(text) for text in (channel, branch, name) if text]
        chosen = next(filter(None, channels), GENERAL)
        return self.start(name or UNNAMED, description=description, channel=chosen, parent=parent)

    def work_in(self, directory: str) -> Session:
        """Continue in another directory; a relative one is resolved from the connection's own.

        Later memories belong to its project; earlier ones stay where they are."""
        if not directory.strip():
            raise InvalidInput("directory is empty.", hint="Pass the project's directory.", field="directory")
        if self.caller.is_local:
            place = _directory(os.path.join(self.caller.directory, os.path.expanduser(directory)))
            if not place.is_dir():
                raise NotFound("directory", directory, hint="Nothing was changed; check the path.")
            directory = str(place)
        session = self.current()
        self._enter(directory)
        session = session._replace(project=self.caller.project, updated_at=self.engine.now())
        self.engine.store.sessions.put(session)
        return session

    def _enter(self, directory: str) -> str | None:
        """Switch the connection to a directory, and return its branch.

        On another machine the directory is only a name. A directory that does not exist names the project, while the
        connection continues to work where it is."""
        if not self.caller.is_local:
            self.caller.directory = self.caller.project = directory
            return None
        place = _directory(directory)
        if os.path.isdir(place):
            self.caller.directory = str(work_tree(place))
        self.caller.project = str(project_root(place))
        return _branch(place)

    def recent(
        self, limit: int, *, after: datetime | None, before: datetime | None
    ) -> tuple[list[tuple[Session, int]], int]:
        """The newest sessions made in that time, each with the number of its memories that the caller may see, and the
        total number of sessions that match."""
        sessions = self.engine.store.sessions.find(self.surface, after=after, before=before)
        page = sessions[:limit]
        mine = Filter(surfaces=(self.surface,), threads=tuple(session.id for session in page))
        counts = self.engine.store.memories.count_by_session(self.caller.visible(mine)) if page else {}
        return [(session, counts.get(session.id, 0)) for session in page], len(sessions)


def channel_name(text: str) -> str:
    """The normalised name of a channel: `Feature/Login page` becomes `feature-login-page`. May be ""."""
    letters = (letter if letter in _CHANNEL_LETTERS else " " for letter in text[:1_000].lower())
    return "-".join("".join(letters).split())[:LONGEST_CHANNEL].strip("-")


def _branch(directory: Path) -> str | None:
    branch = git_branch(directory)
    return None if branch in TRUNKS else branch


def _directory(text: str) -> Path:
    try:
        return Path(text).expanduser().resolve()
    except (OSError, ValueError, RuntimeError):
        raise InvalidInput(f"{text!r} is not a directory.", field="directory") from None


def lineage(store: Store, session: str | None) -> list[str]:
    """A session and those it was continued or branched from, the nearest first."""
    line: list[str] = []
    while session is not None and session not in line:
        line.append(session)
        known = store.sessions.get(session)
        session = known.parent if known else None
    return line
