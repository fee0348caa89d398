"""The stored rows of `Witnesses`: loaded when they are needed, and written with the messages that they are about.

Most conversations are told by one file alone, which their source says already: these have no rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

from ...store import Store
from .transactions import ShortTransactions
from .witnesses import Witnesses

T = TypeVar("T")

LONG_CONVERSATION = 1_000
"""Messages. Rows of a longer one are loaded outside of transactions and written in several of them."""
ROWS_AT_ONCE = 500


class WitnessRows:
    """Of the conversations that one file tells of."""

    def __init__(self, store: Store, transactions: ShortTransactions) -> None:
        self._store = store
        self._transactions = transactions
        self._loaded: dict[str, Witnesses] = {}
        self._spreading = ""

    def of(self, id: str, owner: int) -> Witnesses:
        """Who told what of a conversation that belongs to a file."""
        if id not in self._loaded:
            messages, stored = self._store.messages.places(id), self._store.witnesses.of(id)
            self._loaded[id] = Witnesses(messages, stored, owner)
        return self._loaded[id]

    def aside(self, id: str, work: Callable[[], T]) -> T:
        """Do something that looks at all messages of a conversation; outside of transactions if there are many."""
        is_long = self._store.messages.last_place(id) >= LONG_CONVERSATION
        return self._transactions.aside(work) if is_long else work()

    def is_loaded(self, id: str) -> bool:
        return id in self._loaded

    def discard(self, id: str) -> None:
        self._loaded.pop(id, None)

    def spread(self, id: str) -> None:
        """Write the rows of a long conversation, in several transactions. Before a conversation changes its owner or messages
        are told, each message must have rows: one without them counts as told by the owner."""
        if len(self._loaded[id]) > LONG_CONVERSATION:
            self._spreading = id
            for _ in self._written(id):
                self._transactions.rest()
            self._spreading = ""

    def flush(self, id: str, owner: int) -> None:
        """Write what changed since the last commit."""
        witnesses = self._loaded[id]
        if witnesses.has_rows or not witnesses.are_only_by(owner):
            for _ in self._written(id):
                pass
        if len(witnesses) <= LONG_CONVERSATION:
            del self._loaded[id]

    def drop_needless(self, id: str, owner: int) -> None:
        """Delete the rows of a conversation that its owner tells alone. Nothing changes by that, so it may be done in several
        transactions."""
        if self.aside(id, lambda: self._loaded[id].are_only_by(owner)):
            while count := self._store.witnesses.drop(id, ROWS_AT_ONCE):
                self._transactions.spend(count)
                self._transactions.rest()
            self.discard(id)

    def _written(self, id: str) -> Iterator[None]:
        for some in portions(self._loaded[id].changes(), ROWS_AT_ONCE):
            added = [pair for change in some for pair in change.added]
            removed = [pair for change in some for pair in change.removed]
            self._store.witnesses.change(id, added, removed)
            self._transactions.spend(len(added) + len(removed))
            yield

    def loaded(self) -> list[str]:
        """Conversations whose changes belong to the next commit."""
        return [id for id in self._loaded if id != self._spreading]


def portions(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """The values in their order, at most `size` at a time."""
    left = iter(values)
    while some := list(islice(left, size)):
        yield some
