"""Storage of long answers that clients fetch piece by piece."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any

from ..domain.errors import NotFound, Unavailable
from ..domain.filters import Filter, Kind
from ..domain.records import CachedAnswer
from .part import CorePart

KEPT_FOR = timedelta(days=7)


class Answers(CorePart):
    def keep(self, kind: str, body: Any, *, owner: str) -> str:
        """Store an answer and return its key.

        It can be fetched within a session, by a connection, or, without an owner, by any caller with the key, even
        after a restart."""
        now = self.engine.now()
        answer = CachedAnswer(self.engine.new_id(), kind, owner, body, now + KEPT_FOR)
        self.engine.store.answers.put(answer, now)
        return answer.key

    def keep_of(self, kind: str, body: Any, entries: Collection[int]) -> str:
        """Store an answer about these entries: for all callers, or for the session that one of them is private to.

        Raises Unavailable if one of them was forgotten or made private since the search: the answer would expose it
        for days."""
        with self.engine.store.transaction():
            if self.visible(entries) != {*entries}:
                reason = "Something that this answer tells of was forgotten or made private just now."
                raise Unavailable(reason, hint="Ask again.")
            is_public = self._among(entries, Filter(public_or_in="")) == {*entries}
            return self.keep(kind, body, owner="" if is_public else self._session)

    def fetch(self, kind: str, key: str) -> Any:
        answer = self.engine.store.answers.get(key, kind, self.engine.now())
        if answer is None or answer.owner not in ("", self.caller.id, self.caller.session):
            raise NotFound("cached answer", key)
        return answer.body

    def visible(self, entries: Collection[int]) -> set[int]:
        """The entries that the caller may see."""
        return self._among(entries, self.caller.visible(Filter()))

    def owner_of_anything(self) -> str:
        """The owner of an answer that may quote everything the caller can see.

        The caller's session if it has private memories, otherwise all callers."""
        mine = Filter(kinds=(Kind.MEMORY,), threads=(self._session,))
        count = self.engine.store.entries.count
        return "" if count(mine) == count(mine._replace(public_or_in="")) else self._session

    @property
    def _session(self) -> str:
        return self.caller.session or ""

    def _among(self, entries: Collection[int], where: Filter) -> set[int]:
        return {outline.entry for outline in self.engine.store.entries.outlines(entries, where)}
