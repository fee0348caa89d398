"""In-memory copies of store data, and when they become void.

Entry numbers only grow, so a mirror is normally extended: its owner reads the rows above the last number it knows.
The state changes when that is not enough, because another database replaced the former one or rows below were
removed; the mirror then starts empty.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")


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
