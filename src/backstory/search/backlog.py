"""Compute the vectors of every text: in the background, most urgent first, and never while holding a lock.

The queue is a table, so a crash loses nothing: the next process continues. A text is leased to one process at
a time; a lease that is not renewed expires.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ..domain.arrays import np
from ..domain.entries import EntryVectors, PendingText
from ..domain.errors import BackstoryError, NotAllowed, StorageFull
from ..domain.filters import Kind
from ..problems import Problems, frames_of
from ..store import Store
from ..worker import Worker, backoff_s, is_busy
from .embed import embed_texts
from .passages import MAX_PASSAGES, MOST_OF_MESSAGE, passage_digest, split_passages, without_counters

if TYPE_CHECKING:
    from ..domain.entries import Vector
    from .embed import Embedder

NAME, LOADING = "embedding", "model"
BATCH = 16
LAST_QUERIES = 16  # whose vectors are kept
LEASE_MS = 30_000
SMALL_BACKLOG = 64  # texts a search embeds before it answers; more are left to the background
MOST_COUNTED = 5_000  # texts that wait; that there are more costs a search no time
# how much of its own CPU time a search spends on them; a busy machine does not change results
PATIENCE_S = 2.0
# CPU seconds of model loading that a call waits for; other work of a new process does not count
MODEL_PATIENCE_S = 0.3
LONGEST_WAIT_S = 10.0  # for a machine that gives it none
PROBE = "Can you hear me?"  # distinguishes a text that cannot be embedded from an embedder that fails


class QueryVector(NamedTuple):
    """A query as the vector arm needs it; without a vector, `notices` says why."""

    vector: Vector | None = None
    space: int = 0
    notices: tuple[str, ...] = ()
    waiting: int = 0
    """Texts that have no vector yet, counted up to MOST_COUNTED."""


class Backlog:
    """One background thread for each process, started by the first text that waits."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        problems: Problems | None = None,
        *,
        backoff_s: Callable[[int], float] = backoff_s,
        is_serving: Callable[[], bool] = lambda: False,
        is_busy: Callable[[], bool] = is_busy,
        model_patience_s: float = MODEL_PATIENCE_S,
    ) -> None:
        """While `is_serving()`, a caller waits for the answer: a search by words is better than a late one. While
        `is_busy()`, embedding uses only half of its time, and leaves the rest to the user."""
        self._store = store
        self._embedder = embedder
        self._problems = problems or Problems()
        # the first run imports numpy and loads the model: 200 ms that the first save would wait for
        self._worker = Worker(NAME, self._work, self._problems, is_busy=is_serving, backoff_s=backoff_s)
        self._loader = Worker(LOADING, self._load, self._problems, backoff_s=backoff_s)
        self._was_loading = threading.Event()
        self._loading_clock: int | None = None  # of the thread that loads
        # one question is often asked several times in a row: for more candidates, for the next page
        self._query_vector = lru_cache(LAST_QUERIES)(lambda text: embed_texts(self._embedder, [text])[0])
        self._is_serving = is_serving
        self._is_busy = is_busy
        self._model_patience_s = model_patience_s
        self._refused: dict[tuple[int, int], BackstoryError] = {}  # by entry and revision

    def wake(self) -> None:
        """Texts wait: embed them soon."""
        self._worker.wake()

    def load_soon(self) -> None:
        """Behind the answers, so that the next search need not wait for the model."""
        if not self._embedder.is_loaded and not self._was_loading.is_set():
            self._loader.wake()

    def close(self) -> None:
        self._loader.close()
        self._worker.close()

    @property
    def space(self) -> int:
        return self._store.vectors.open_space(self._embedder.model)

    @property
    def problem(self) -> str | None:
        """The reason why texts are currently not embedded; None if there is none."""
        return self._problems.message(NAME)

    def query(self, text: str) -> QueryVector:
        """Embed a query, after a few waiting texts, so that texts that were just saved can be found."""
        if not self._has_model():
            return QueryVector(notices=("Searched by words alone: the model is still being loaded.",))
        try:
            space = self.space
            left = self._catch_up(space)
            vector = self._query_vector(text)
        except BackstoryError as error:
            self._problems.log("warning", f"worker_{NAME}", error.message, {"traceback": frames_of(error)})
            return QueryVector(notices=(f"Searched by words alone: {error.message}",))
        return QueryVector(vector, space, (_waiting(left),) if left else (), left)

    def catch_up(self) -> bool:
        """Embed a small backlog now; whether nothing is left waiting."""
        try:
            return self._catch_up(self.space) == 0
        except BackstoryError:
            self.wake()  # the background reports the problem and tries again
            return False

    def drain(self, progress: Callable[[int], None] = lambda count: None) -> int:
        """Embed all that waits, here and now; how many texts that were. `progress` hears how many are done.
        Raises why texts were refused, after all others are done."""
        space, count = self.space, 0
        self._refused.clear()
        while not self._worker.is_closing and (waiting := self._claim(space, lease_ms=0)):
            count += self._embed(space, waiting)
            progress(count)
        self._raise_refusal()
        self._problems.succeeded(NAME)
        return count

    def _has_model(self) -> bool:
        """Return whether the model is loaded, or becomes so before a caller has waited too long. If it fails to
        load, embedding reports why."""
        if self._embedder.is_loaded or not self._is_serving():
            return True
        self.load_soon()
        deadline = time.monotonic() + LONGEST_WAIT_S
        while not self._was_loading.wait(0.01):
            if self._loading_s() >= self._model_patience_s or time.monotonic() >= deadline:
                return self._embedder.is_loaded
        return True

    def _loading_s(self) -> float:
        """CPU time that loading has taken so far."""
        return 0.0 if self._loading_clock is None else time.clock_gettime(self._loading_clock)

    def _load(self) -> None:
        if sys.platform != "win32":  # which has no clock of another thread: there the longest wait decides
            self._loading_clock = time.pthread_getcpuclockid(threading.get_ident())
        try:
            self._embedder.load()
        except BackstoryError:
            pass  # the next search says it
        finally:
            self._was_loading.set()

    def _catch_up(self, space: int) -> int:
        """Embed a small backlog; how many texts are left."""
        left = self._store.vectors.count_waiting(space, MOST_COUNTED)
        if left > SMALL_BACKLOG:
            self.wake()
            return left
        deadline = time.thread_time() + PATIENCE_S
        while left and not self._worker.is_closing and time.thread_time() < deadline:
            # a lease of 0: the lessee may have died with its process, and embedding twice does no harm
            try:
                if not (waiting := self._claim(space, lease_ms=0)):
                    left = self._store.vectors.count_waiting(space)  # none if the background was faster
                    self.wake()  # its message gives the reason for the refused texts
                    break
                self._embed(space, waiting)
            except (NotAllowed, StorageFull):
                break  # a store that cannot be written can still be searched
            left = self._store.vectors.count_waiting(space)
        return left

    def _work(self) -> float | None:
        """Embed the texts without a lease. Returns the time to sleep unless new texts arrive; None if no text waits."""
        space = self.space
        self._refused.clear()
        # after a failure the lease on what failed is still ours: a lease of 0 takes it all the same
        lease_ms = LEASE_MS if self.problem is None else 0
        while not self._worker.is_closing and (waiting := self._claim(space, lease_ms=lease_ms)):
            began = time.monotonic()
            self._embed(space, waiting)
            if self._is_busy():
                self._worker.rest(time.monotonic() - began)
            lease_ms = LEASE_MS
        self._raise_refusal()
        return LEASE_MS / 1000 if self._store.vectors.count_waiting(space) else None

    def _claim(self, space: int, *, lease_ms: int) -> list[PendingText]:
        """Lease texts to embed, without refused ones: one bad text must not delay the others."""
        claimed = self._store.vectors.claim(space, BATCH + len(self._refused), lease_ms=lease_ms)
        return [text for text in claimed if (text.entry, text.revision) not in self._refused]

    def _embed(self, space: int, waiting: Sequence[PendingText]) -> int:
        """Embed texts, and keep in mind which were refused; how many got their vectors."""
        embedded: list[EntryVectors] = []
        for start in range(0, len(waiting), self._embedder.at_once):
            if self._worker.is_closing:
                break
            embedded += self._embed_batch(space, waiting[start : start + self._embedder.at_once])
        self._store.vectors.put(space, embedded)
        return len(embedded)

    def _embed_batch(self, space: int, waiting: Sequence[PendingText]) -> list[EntryVectors]:
        """Embed a batch without refused texts, which are remembered. Raises if the embedder fails and not a text."""
        try:
            return self._embedded(space, waiting)
        except BackstoryError as error:
            embed_texts(self._embedder, [PROBE])
            if len(waiting) == 1:
                self._refused[waiting[0].entry, waiting[0].revision] = error
                return []
        return [each for text in waiting for each in self._embed_batch(space, [text])]

    def _raise_refusal(self) -> None:
        for error in self._refused.values():
            raise error

    def _embedded(self, space: int, waiting: Sequence[PendingText]) -> list[EntryVectors]:
        """Passages that have a vector already, in a copy of the conversation or wherever, are not embedded again."""
        texts = [{passage_digest(passage): passage for passage in _passages(text)} for text in waiting]
        passages = {digest: passage for parts in texts for digest, passage in parts.items()}
        vectors = self._store.vectors.known(space, passages.keys())
        fresh = {digest: passage for digest, passage in passages.items() if digest not in vectors}
        vectors |= zip(fresh, embed_texts(self._embedder, [*fresh.values()]), strict=True)
        return [
            EntryVectors(text.entry, text.revision, np.array([vectors[digest] for digest in parts]), [*parts])
            for text, parts in zip(waiting, texts, strict=True)
        ]


def _passages(pending: PendingText) -> list[str]:
    """The passages of a text with its heading, because an embedding model knows nothing but the text it is given."""
    is_message = pending.kind == Kind.MESSAGE
    heading = pending.heading if is_message else without_counters(pending.heading)
    text = f"{heading}: {pending.text}" if heading else pending.text
    return split_passages(text, most=MOST_OF_MESSAGE if is_message else MAX_PASSAGES) or [text]


def _waiting(count: int) -> str:
    if count == 1:
        return "1 text still waits for its vectors; until then only its words find it."
    least = "At least " if count >= MOST_COUNTED else ""
    return f"{least}{count:,} texts still wait for their vectors; until then only their words find them."
