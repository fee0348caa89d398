"""In-memory copies of store data, and when they become void.

Entry numbers only grow, so a mirror is normally extended: its owner reads the rows above the last number it knows.
The state changes when that is not enough, because another database replaced the former one or rows below were
removed; the mirror then starts empty.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from .database import Database

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Mirror(Generic[T]):
    """Contents that threads share, and the state of the store that they were read in.

    The state is read before the contents. Contents of a later state are then only read once more than needed; the other way
    round, those of an earlier state would be taken for the present ones."""

    def __init__(self, empty: Callable[[], T]) -> None:
        self._empty = empty
        self._lock = threading.Lock()
        self._state: Hashable = None
        self._contents = empty()

    @contextmanager
    def at(self, state: Hashable) -> Iterator[T]:
        """The contents, empty when they were read in another state. No other thread has them meanwhile."""
        with self._lock:
            if state != self._state:
                self._state, self._contents = state, self._empty()
            yield self._contents

    @contextmanager
    def still_at(self, state: Hashable) -> Iterator[T | None]:
        """The contents, or None when another thread saw a later state: rows that were read outside are not added then."""
        with self._lock:
            yield self._contents if state == self._state else None


class CommitMirror(Generic[K, V]):
    """Results of reads by key, in memory until any process commits something.

    For reads that take milliseconds and that an assistant repeats before anything changes. A database without a version,
    and a transaction, which may see rows that are never committed, read each time."""

    def __init__(self, database: Database, max_results: int) -> None:
        self._database = database
        self._max_results = max_results
        self._mirror: Mirror[dict[K, V]] = Mirror(dict)

    def get(self, key: K, read: Callable[[], V]) -> V:
        """The result of one key."""
        return self.get_all([key], lambda _: {key: read()})[key]

    def get_all(self, keys: Iterable[K], read: Callable[[Sequence[K]], Mapping[K, V]]) -> dict[K, V]:
        """The result of each key. `read` is called with the keys that are not in memory, and returns a result for each of them."""
        wanted = [*keys]
        state = None if self._database.in_transaction else self._database.version()
        if state is None:
            return {**read(wanted)}
        with self._mirror.at(state) as known:
            results = {key: known[key] for key in wanted if key in known}
        if len(results) < len(wanted) and (unknown := [key for key in wanted if key not in results]):
            more = read(unknown)  # outside of the lock: a short read must not wait for a long one
            results |= more
            with self._mirror.still_at(state) as present:
                if present is not None:
                    if len(present) + len(more) > self._max_results:
                        present.clear()
                    present.update(more)
        return results
