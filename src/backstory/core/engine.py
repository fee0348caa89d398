"""What all callers share, and what belongs to one of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from ..domain.errors import StorageFull
from ..domain.filters import Filter
from ..domain.records import Former, Memory
from ..domain.when import Clock, utc_now
from ..store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from ..search.backlog import Backlog
    from ..search.embed import Embedder
    from ..search.hybrid import Search
    from .summaries import Summarizer, Writer

T = TypeVar("T")


def new_id() -> str:
    return os.urandom(12).hex()


class Engine:
    """One for each process. Search and summaries are made when first needed: a server that is only started,
    as clients do with each window, never pays for them."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        writer: Writer | None = None,
        *,
        now: Clock = utc_now,
        new_id: Callable[[], str] = new_id,
        max_store_mb: float | None = None,
        exports: Path | None = None,
    ) -> None:
        self.store = store
        self.now = now
        self.new_id = new_id
        self.exports = exports
        """Where exports go when nobody says where."""
        self._max_store_mb = max_store_mb
        self._embedder = embedder
        self._writer = writer
        self._making = threading.RLock()
        self._made: dict[str, Any] = {}

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
        """After a commit that left texts without vectors."""
        if self.backlog is not None:
            self.backlog.wake()

    def check_room(self) -> None:
        """Raises StorageFull when the store has reached the configured limit."""
        if self._max_store_mb is not None and self.store.used_bytes() >= self._max_store_mb * 1_000_000:
            raise StorageFull(
                f"The store has reached its limit of {self._max_store_mb:g} MB; nothing was saved.",
                hint="Compress or delete old items, or raise BACKSTORY_MAX_STORE_MB.",
            )

    def close(self) -> None:
        for part in ("summarizer", "backlog"):
            if self._made.get(part) is not None:
                self._made[part].close()
        self.store.close()

    def _once(self, name: str, make: Callable[[], T]) -> T:
        with self._making:
            if name not in self._made:
                self._made[name] = make()
            made: T = self._made[name]
            return made

    def _make_backlog(self) -> Backlog | None:
        from ..search.backlog import Backlog

        return None if self._embedder is None else Backlog(self.store, self._embedder)

    def _make_search(self) -> Search:
        from ..search.hybrid import Search

        return Search(self.store, self.backlog)

    def _make_summarizer(self) -> Summarizer:
        from .summaries import Summarizer

        return Summarizer(self._writer)


class Caller:
    """One connection. The only mutable object: "the current session" is never a global."""

    def __init__(self, *, project: str, session: str | None = None) -> None:
        self.project = project
        self.session = session
        self.starting = threading.RLock()
        """Held while its session is made: two first calls at once must not make two."""

    def visible(self, where: Filter) -> Filter:
        """The one rule of privacy: what is public, and what is private to the caller's own session."""
        return where._replace(public_or_in=self.session or "")

    def visible_former(self, memory: Memory, history: Iterable[Former]) -> list[Former]:
        """The same rule for what a memory said before: a value that was private stays with its session."""
        is_own = memory.session is not None and memory.session == self.session
        return [former for former in history if is_own or not former.private]
