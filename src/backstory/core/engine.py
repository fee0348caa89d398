"""The state that all callers share (Engine), and the state of one caller (Caller).

Locks are taken in this order; never wait for an earlier one while holding a later one:

1. `Caller.session_lock`, by `Sessions.locked`: one call at a time starts or ends a connection's session;
2. the store's transaction, which is the write lock of the whole database, for every process;
3. locks of one object (the parts of an `Engine`, caches of a store): held for a few lines that never wait.

`Sessions.locked` refuses to be entered inside a transaction, so a wrong order fails in every test that reaches it,
and not only in the rare moment in which two calls collide.

The search is imported when it is created: no save needs it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..domain.errors import NotAllowed, StorageFull
from ..domain.filters import ConversationFilter, Filter
from ..domain.lazy import lazy_name
from ..domain.records import Former, Memory
from ..domain.scopes import Scope
from ..domain.team import Author, SpaceAccess, role_of_scope
from ..domain.when import Clock, utc_now
from ..problems import Problems
from ..search.backlog import Backlog
from ..store import Store
from .calls import Cancelled
from .read_paths import ReadPaths
from .summaries import Summarizer

if TYPE_CHECKING:
    from ..search.embed import Embedder
    from ..search.engine import Search
    from ..settings import Settings
    from .calls import Call
    from .derived import Derivation
    from .summaries import Writer
else:  # 10 ms, which a first save does without
    Search = lazy_name("backstory.search.engine", "Search")

T = TypeVar("T")


def new_id() -> str:
    return os.urandom(12).hex()


class Chores(Protocol):
    """Background work: reading other assistants' histories, archiving old records; see background.py."""

    def wake(self) -> None: ...

    def is_first(self) -> bool: ...

    def run_first(self, call: Call) -> object | None: ...

    def run_recent(self, call: Call) -> None: ...

    def read_turn(self, transcript: str) -> None: ...

    def read_recent(self, readers: Sequence[str], project: str, wait_s: float) -> None: ...

    def run_now(self, call: Call) -> object | None: ...

    def close(self) -> None: ...


class Engine:
    """One for each process. Search and summaries are created on first use, because clients start a server
    for each window and often never call it."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        embedder: Embedder | None,
        writer: Writer | None = None,
        *,
        now: Clock = utc_now,
        new_id: Callable[[], str] = new_id,
        background: Callable[[Engine], Chores] | None = None,
        derivations: Callable[[], Sequence[Derivation]] = tuple,
    ) -> None:
        """`derivations` lists the kinds of records that forgetting must clean; it is called when something is forgotten."""
        self.settings = settings
        self.store = store
        self.now = now
        self.new_id = new_id
        self.problems = Problems(settings.home, now)
        self.derivations = derivations
        self.read_paths = ReadPaths()
        self._embedder = embedder
        self._writer = writer
        self._make_background = background
        self._served: list[None] = []
        self._making = threading.RLock()
        self._parts: dict[str, Any] = {}

    @property
    def backlog(self) -> Backlog | None:
        return self._once("backlog", self._make_backlog)

    @property
    def search(self) -> Search:
        return self._once("search", self._make_search)

    @property
    def summarizer(self) -> Summarizer:
        return self._once("summarizer", self._make_summarizer)

    def embed_soon(self) -> None:
        """Schedule embedding after a commit that added texts without vectors."""
        assert not self.store.in_transaction, "the embedder would look before there is anything to see"
        if self.backlog is not None:
            self.backlog.wake()

    @property
    def background(self) -> Chores | None:
        make = self._make_background
        return None if make is None else self._once("background", lambda: make(self))

    def sync_soon(self) -> None:
        """Schedule a sync after an answer, so that the next call finds recent messages of other assistants."""
        if self.background is not None:
            self.background.wake()

    def read_turn(self, transcript: str) -> None:
        """Schedule reading the transcript of another session whose turn has ended."""
        if self.background is not None:
            self.background.read_turn(transcript)

    def read_recent(self, readers: Sequence[str], project: str, wait_s: float) -> None:
        """Read new messages for a session that starts in a project: its hook found changed files of these assistants,
        and waits for `wait_s`."""
        if self.background is not None:
            self.background.read_recent(readers, project, wait_s)

    def sync_now(self, call: Call) -> tuple[str, ...]:
        """Sync before an answer that needs all data. Returns notices about missing data. Raises Cancelled."""
        return () if self.background is None else self._sync(self.background.run_now, call)

    def sync_first(self, call: Call) -> tuple[str, ...]:
        """Sync before an answer from conversations, for a limited time, if none were ever read. Raises Cancelled."""
        background = self.background
        if background is None or not background.is_first():
            return ()
        return self._sync(background.run_first, call)

    def sync_recent(self, call: Call) -> None:
        """Briefly read changed files before an answer of a server, after a pause. Raises Cancelled."""
        if self.background is None or not self.is_serving:
            return
        try:
            self.background.run_recent(call)
        except Cancelled:
            raise
        except Exception as error:  # a failed sync must not prevent an answer from the stored data
            self.problems.failed("sync", error)

    def _sync(self, run: Callable[[Call], object | None], call: Call) -> tuple[str, ...]:
        try:
            is_done = run(call) is not None
        except Cancelled:
            raise
        except Exception as error:  # a failed sync must not prevent an answer from the stored data
            self.problems.failed("sync", error)
            return self.problems.notice("sync")
        if not is_done:
            return ("Histories are being read at the moment; ask again for what is new.",)
        self.problems.succeeded("sync")
        return ()

    def load_soon(self) -> None:
        """Load the model after an answer, so that the next search need not wait for it."""
        if self.backlog is not None:
            self.backlog.load_soon()

    @property
    def makes_backups(self) -> bool:
        return self.store.backups is not None and self.settings.backups == "on"

    @property
    def is_serving(self) -> bool:
        """True while a caller waits for an answer; background work yields to it."""
        return bool(self._served)

    @contextmanager
    def serving(self) -> Iterator[None]:
        self._served.append(None)
        try:
            yield
        finally:
            self._served.pop()

    def check_room(self) -> None:
        """Raise StorageFull if the store has reached the configured limit."""
        limit_mb = self.settings.max_store_mb
        if limit_mb is not None and self.store.used_bytes() >= limit_mb * 1_000_000:
            raise StorageFull(
                f"The store has reached its limit of {limit_mb:g} MB; nothing was saved.",
                hint="Compress or delete old items, or raise BACKSTORY_MAX_STORE_MB.",
            )

    def make_room(self) -> None:
        """After archiving, free the space of the text index, which counts against the configured limit."""
        if self.settings.max_store_mb is not None:
            with self.store.transaction():
                self.store.text.compact()

    def close(self) -> None:
        for part in ("background", "summarizer", "backlog"):
            if self._parts.get(part) is not None:
                self._parts[part].close()
        self.store.close()

    def _once(self, name: str, make: Callable[[], T]) -> T:
        with self._making:
            if name not in self._parts:
                self._parts[name] = make()
            part: T = self._parts[name]
            return part

    def _make_backlog(self) -> Backlog | None:
        if self._embedder is None:
            return None
        return Backlog(self.store, self._embedder, self.problems, is_serving=lambda: self.is_serving)

    def _make_search(self) -> Search:
        return Search(self.store, self.backlog, lambda: self.problems.notice("sync"))

    def _make_summarizer(self) -> Summarizer:
        return Summarizer(self._writer, self.problems)


class Caller:
    """One connection. The only mutable object: "the current session" is never a global."""

    def __init__(
        self,
        *,
        project: str,
        directory: str = "",
        session: str | None = None,
        id: str | None = None,
        is_local: bool = True,
        scope: Scope = Scope.ADMIN,
        assistant: str = "",
        conversation: str = "",
        author: Author | None = None,
        space: SpaceAccess | None = None,
    ) -> None:
        self.id = id or new_id()
        """An id of the caller; nothing stored may depend on it for longer than the connection."""
        self.project = project
        self.directory = directory or project
        """The caller's working directory: a checkout of the project."""
        self.session = session
        self.is_local = is_local
        """True if the caller is on this machine: only then do its paths denote files here."""
        self.scope = scope
        self.assistant = assistant
        """The name of the calling program, or "" if unknown."""
        self.conversation = conversation
        """The assistant's id of the conversation that calls, or "" if unknown."""
        self.author = author
        """The author of memories that the caller saves; None on the user's own machine."""
        self.space = space
        """The caller's rights in the shared space that it calls; None outside of one."""
        self.session_lock = threading.RLock()
        """For `Sessions.locked`: two concurrent first calls must not create two sessions."""

    def check_scope(self, needed: Scope) -> None:
        if self.scope >= needed:
            return
        if self.space is not None and self.space.role.scope < needed:
            role = role_of_scope(needed)
            raise NotAllowed(
                f"This needs the role {role} in this space, and yours is {self.space.role}; nothing was done.",
                hint="Ask a maintainer of the space.",
            )
        raise NotAllowed(
            f"This needs the scope {needed.word}; nothing was done.",
            hint=f"Use a token with the scope {needed.word}.",
        )

    @property
    def proposes(self) -> bool:
        """True if memories that the caller saves wait for a maintainer."""
        return self.space is not None and self.space.proposes

    def check_review(self) -> None:
        """Raise NotAllowed for a writer where changes are reviewed. For changes that cannot be proposed."""
        if self.proposes:
            raise NotAllowed(
                "Changes to this space are reviewed; nothing was done.",
                hint="Propose it with the tool remember; a maintainer accepts it.",
            )

    def check_local(self, field: str, *, hint: str) -> None:
        """Before a caller's path becomes a real one. Raises NotAllowed for a caller on another machine."""
        if not self.is_local:
            raise NotAllowed(f"{field} would be a file on the server's machine.", hint=hint, field=field)

    def checkout(self) -> str:
        """The directory of the caller's checkout. Raises NotAllowed like `check_local`."""
        self.check_local("The project", hint="Use a server on your own machine for this: backstory serve.")
        return self.directory

    def visible(self, where: Filter) -> Filter:
        """Apply the rule of privacy: public records, those private to the caller's own session, and records that
        came with a repository only in that project."""
        return where._replace(public_or_in=self.session or "", repository_of=self.project)

    def visible_conversations(self, which: ConversationFilter) -> ConversationFilter:
        """Apply the rule of privacy to conversations, none of which is private."""
        return which._replace(repository_of=self.project)

    def visible_former(self, memory: Memory, history: Iterable[Former]) -> list[Former]:
        """Apply the rule of privacy to former values: a private value is visible to its own session only."""
        is_own = memory.session is not None and memory.session == self.session
        return [former for former in history if is_own or not former.private]
