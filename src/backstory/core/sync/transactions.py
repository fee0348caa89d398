"""The transactions of a sync. Each ends after a bounded amount of work, so that nobody else waits long to save.

A long conversation is therefore committed in several of them. The cursor of its file moves with the last, and what is
committed before that is the same when it is read again.
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
"""What a row costs besides its text."""
GAP_S = 0.005
"""Between two transactions. Others who wait for the write lock ask for it more often than that."""


class ShortTransactions:
    """A context inside which a transaction is open, and another one after each `rest` that was due."""

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
        transaction, self._open = self._open, None
        if transaction is not None:
            transaction.__exit__(kind, error, trace)

    @contextmanager
    def guarded(self, before_commit: Callable[[], None], after_begin: Callable[[], None]) -> Iterator[None]:
        """Inside, the first is called before each commit in between, and the second after the next transaction began."""
        self._before_commit, self._after_begin = before_commit, after_begin
        try:
            yield
        finally:
            self._before_commit = self._after_begin = _nothing

    def spend(self, rows: int, characters: int = 0) -> None:
        """Note what was written."""
        self._cost += rows * ROW_COST + characters

    def rest(self) -> bool:
        """Commit and let others write, if enough was written. Whether it was."""
        if self._cost < TRANSACTION_COST:
            return False
        self.aside(lambda: time.sleep(GAP_S))
        return True

    def aside(self, work: Callable[[], T]) -> T:
        """Commit, do something that takes long and needs no lock, and begin again."""
        self._before_commit()
        self.__exit__(None, None, None)
        result = work()
        self._begin()
        self._after_begin()
        return result

    def _begin(self) -> None:
        self._cost = 0
        transaction = self._store.transaction()
        transaction.__enter__()
        self._open = transaction


def _nothing() -> None:
    pass
