"""The stored rows of `Witnesses`: loaded when needed, and written together with their messages.

Most conversations come from a single file, which their source already names: they have no rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

from ...store import Store
from .transactions import ShortTransactions
from .witnesses import Witnesses

T = TypeVar("T")

LONG_CONVERSATION = 1_000
"""Messages. The rows of a longer conversation are loaded outside of transactions and written in several of them."""
ROWS_AT_ONCE = 500  # messages per write


class WitnessRows:
    """The witness rows of the conversations in one file."""

    def __init__(self, store: Store, transactions: ShortTransactions) -> None:
        self._store = store
        self._transactions = transactions
        self._loaded: dict[str, Witnesses] = {}
        self._spreading = ""

    def of(self, id: str, owner: int) -> Witnesses:
        """The witnesses of a conversation that belongs to the file `owner`."""
        if id not in self._loaded:
            # Both are needed in full: messages without rows belong to the owner.
            messages, stored = self._store.messages.places(id), self._store.witnesses.of(id)
            self._loaded[id] = Witnesses(messages, stored, owner)
        return self._loaded[id]

    def aside(self, id: str, work: Callable[[], T]) -> T:
        """Run work that looks at all messages of a conversation, outside of transactions if there are many."""
        is_long = self._store.messages.last_place(id) >= LONG_CONVERSATION
        return self._transactions.aside(work) if is_long else work()

    def is_loaded(self, id: str) -> bool:
        return id in self._loaded

    def discard(self, id: str) -> None:
        self._loaded.pop(id, None)

    def spread(self, id: str) -> None:
        """Write the rows of a long conversation in several transactions.

        Each message must have rows before the conversation changes its owner or new messages are saved: a message
        without rows counts as belonging to the owner."""
        if len(self._loaded[id]) > LONG_CONVERSATION:
            self._spreading = id
            for _ in self._written(id):
                self._transactions.rest()
            self._spreading = ""

    def flush(self, id: str, owner: int) -> None:
        """Write the changes since the last commit."""
        witnesses = self._loaded[id]
        if witnesses.has_rows or not witnesses.are_only_by(owner):
            for _ in self._written(id):
                pass
        # Long ones stay loaded: reading them again would be expensive.
        if len(witnesses) <= LONG_CONVERSATION:
            del self._loaded[id]

    def drop_needless(self, id: str, owner: int) -> None:
        """Delete the rows of a conversation whose content comes from its owner alone.

        This changes no meaning, so it may span several transactions."""
        if self.aside(id, lambda: self._loaded[id].are_only_by(owner)):
            while count := self._store.witnesses.drop(id, ROWS_AT_ONCE):
                self._transactions.spend(count)
                self._transactions.rest()
            self.discard(id)

    def _written(self, id: str) -> Iterator[None]:
        for some in portions(self._loaded[id].changes(), ROWS_AT_ONCE):
            added = [pair for inserts, _ in some for pair in inserts]
            removed = [pair for _, deletions in some for pair in deletions]
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
