"""The transactions of a sync. Each ends after a bounded amount of work, so that other writers never wait long.

A long conversation is therefore committed in several transactions. The cursor of its file advances with the last
one; reading the earlier parts again after an interruption has no further effect.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import TypeVar

from ...store import Store

T = TypeVar("T")

TRANSACTION_COST = 100_000
"""Characters of text, or their equivalent in rows; about 20 ms of writing."""
ROW_COST = 200
"""The cost of a row apart from its text, in characters."""
GAP_S = 0.005
"""Pause between two transactions. Waiting writers poll the write lock more often than that."""


class ShortTransactions:
    """A context with an open transaction, which `rest` replaces by a new one when it is due."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._open: AbstractContextManager[None] | None = None
        self._cost = 0
        self._before_commit = self._after_begin = _nothing

    def __enter__(self) -> ShortTransactions:
        self._begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Cleared first: a failed commit must not be exited twice.
        transaction, self._open = self._open, None
        if transaction is not None:
            transaction.__exit__(kind, error, trace)

    @contextmanager
    def guarded(self, before_commit: Callable[[], None], after_begin: Callable[[], None]) -> Iterator[None]:
        """Call `before_commit` before each intermediate commit, and `after_begin` after the next transaction has begun."""
        self._before_commit, self._after_begin = before_commit, after_begin
        try:
            yield
        finally:
            self._before_commit = self._after_begin = _nothing

    def spend(self, rows: int, characters: int = 0) -> None:
        """Add the cost of rows and text that were written."""
        self._cost += rows * ROW_COST + characters

    def rest(self) -> bool:
        """Commit and let others write, if the transaction is large enough. Returns whether it was."""
        if self._cost < TRANSACTION_COST:
            return False
        self.aside(lambda: time.sleep(GAP_S))
        return True

    def aside(self, work: Callable[[], T]) -> T:
        """Commit, run slow work without the write lock, and begin again."""
        # Rows that belong to the committed messages are written in the same transaction.
        self._before_commit()
        self.__exit__(None, None, None)
        result = work()
        self._begin()
        # May raise, if another process has changed the source in between.
        self._after_begin()
        return result

    def _begin(self) -> None:
        self._cost = 0
        transaction = self._store.transaction()
        transaction.__enter__()
        self._open = transaction


def _nothing() -> None:
    pass
