"""Permanent deletion of memories that a surface saved, using `erasure`."""

from __future__ import annotations

from collections.abc import Callable

from ...domain.erasure import Receipt
from ...domain.errors import InvalidInput, NotFound
from ...domain.filters import Filter, Page
from ..part import CorePart
from .erasure import Erasure
from .removal import ForgetRequest


class Deletion(CorePart):
    def by_id(self, id: str) -> Receipt:
        receipt = self._forget(Filter(ids=(id,)))
        if not receipt.memories:
            raise NotFound("saved text", id)
        return receipt

    def by_key(self, key: str, session: str, afterwards: Callable[[], None] = lambda: None) -> Receipt:
        """Delete the memory that a session has under a key, or the memory with this id if it has no key.

        Only memories that the caller may see. `afterwards` is called in the transaction that deletes."""
        if not key.strip():
            raise InvalidInput("key is empty.", hint="Name the item.", field="key")
        named = self.own(Filter(threads=(session,), ids=(key,)))
        if [memory.key for memory in self.engine.store.memories.find(named, Page(limit=1))] == [None]:
            return self._forget(named, afterwards)
        return self._forget(self.caller.visible(Filter(threads=(session,), keys=(key,))), afterwards)

    def all(self) -> Receipt:
        """Delete all memories of this surface, in every project."""
        return self._forget(Filter())

    def _forget(self, where: Filter, afterwards: Callable[[], None] = lambda: None) -> Receipt:
        request = ForgetRequest(memories=where._replace(surfaces=(self.surface,)))
        return Erasure(self.engine).forget(request, afterwards=afterwards)
