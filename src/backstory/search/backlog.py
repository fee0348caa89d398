"""Give every text its vectors: in the background, newest first, and never with a lock held while embedding.

The queue is a table, so a crash loses nothing: whoever comes next goes on. A text is leased to one process at
a time; a lease that is not kept ends by itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..domain.entries import EntryVectors, PendingText
from ..domain.errors import BackstoryError, NotAllowed, StorageFull
from ..store import Store
from .passages import split_passages

if TYPE_CHECKING:
    from ..domain.entries import Vector
    from .embed import Embedder

BATCH = 16
LEASE_MS = 30_000
SMALL_BACKLOG = 64  # texts a search embeds before it answers; more are left to the background
PATIENCE_S = 2.0  # how long a search waits for them
REST_AFTER_FAILURE_S = 30.0


class QueryVector(NamedTuple):
    """A query as the vector arm needs it; without a vector, `notices` says why."""

    vector: Vector | None = None
    space: int = 0
    notices: tuple[str, ...] = ()


class Backlog:
    """One background thread for each process, started by the first text that waits."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._changed = threading.Condition()
        self._wanted = False
        self._closing = False
        self._thread: threading.Thread | None = None
        self.problem: str | None = None
        """Why texts are not embedded at the moment."""

    @property
    def space(self) -> int:
        return self._store.open_space(self._embedder.model)

    def wake(self) -> None:
        """Something waits: embed it soon."""
        with self._changed:
            self._wanted = True
            if self._thread is None and not self._closing:
                self._thread = threading.Thread(target=self._work, name="backlog", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def query(self, text: str) -> QueryVector:
        """Embed a query, after the few texts that may still wait: what was just saved can be found."""
        try:
            space = self.space
            left = self._catch_up(space)
            vector = self._embedder.embed([text])[0]
        except BackstoryError as error:
            return QueryVector(notices=(f"Searched by words alone: {error.message}",))
        notices = (
            (f"{left} texts still wait for their vectors; until then only their words find them.",)
            if left
            else ()
        )
        return QueryVector(vector, space, notices)

    def catch_up(self) -> bool:
        """Embed a small backlog now; whether nothing is left waiting."""
        return self._catch_up(self.space) == 0

    def drain(self, progress: Callable[[int], None] = lambda done: None) -> int:
        """Embed all that waits, here and now; how many texts that were. `progress` hears how many are done."""
        space, done = self.space, 0
        while not self._closing and (waiting := self._store.claim_waiting(space, BATCH, lease_ms=0)):
            self._embed(space, waiting)
            done += len(waiting)
            progress(done)
        return done

    def close(self) -> None:
        """Returns when the background has stopped, after the passage it is at."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _catch_up(self, space: int) -> int:
        """Embed a small backlog; how many texts are left."""
        left = self._store.count_waiting(space)
        if left > SMALL_BACKLOG:
            self.wake()
            return left
        deadline = time.monotonic() + PATIENCE_S
        while left and not self._closing and time.monotonic() < deadline:
            # a lease of 0: the lessee may have died with its process, and embedding twice does no harm
            try:
                self._embed(space, self._store.claim_waiting(space, BATCH, lease_ms=0))
            except (NotAllowed, StorageFull):
                break  # a store that cannot be written can still be searched
            left = self._store.count_waiting(space)
        return left

    def _work(self) -> None:
        nap_s: float | None = None
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._wanted or self._closing, nap_s)
                if self._closing:
                    return
                self._wanted = False
            nap_s = self._work_off()

    def _work_off(self) -> float | None:
        """Embed what is free. How long to sleep, unless something new comes earlier; None when nothing waits."""
        try:
            space = self.space
            # after a failure the lease on what failed is still ours: a lease of 0 takes it all the same
            lease_ms = LEASE_MS if self.problem is None else 0
            while not self._closing and (
                waiting := self._store.claim_waiting(space, BATCH, lease_ms=lease_ms)
            ):
                self._embed(space, waiting)
            self.problem = None
            return LEASE_MS / 1000 if self._store.count_waiting(space) else None
        except BackstoryError as error:
            self.problem = error.message
            return max(REST_AFTER_FAILURE_S, LEASE_MS / 1000)

    def _embed(self, space: int, waiting: Sequence[PendingText]) -> None:
        embedded: list[EntryVectors] = []
        for start in range(0, len(waiting), self._embedder.at_once):
            if self._closing:
                break
            embedded += self._embedded(waiting[start : start + self._embedder.at_once])
        self._store.put_vectors(space, embedded)

    def _embedded(self, waiting: Sequence[PendingText]) -> Iterator[EntryVectors]:
        passages = [split_passages(text.text) or [text.text] for text in waiting]
        vectors = self._embedder.embed([passage for parts in passages for passage in parts])
        start = 0
        for text, parts in zip(waiting, passages, strict=True):
            yield EntryVectors(text.entry, text.revision, vectors[start : start + len(parts)])
            start += len(parts)
