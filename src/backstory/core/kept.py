"""Keep an answer for whoever fetches it piece by piece."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

from ..domain.errors import NotFound
from ..domain.records import CachedAnswer
from .engine import Caller, Engine

KEPT_FOR = timedelta(days=7)


class Kept(NamedTuple):
    engine: Engine
    caller: Caller

    def keep(self, kind: str, body: Any, *, for_caller_only: bool) -> str:
        """The key under which it can be fetched: by anybody who has the key, also after a restart, or by this
        connection alone."""
        now = self.engine.now()
        owner = self.caller.id if for_caller_only else ""
        answer = CachedAnswer(self.engine.new_id(), kind, owner, body, now + KEPT_FOR)
        self.engine.store.answers.put(answer, now)
        return answer.key

    def fetch(self, kind: str, key: str) -> Any:
        answer = self.engine.store.answers.get(key, kind, self.engine.now())
        if answer is None or answer.owner not in ("", self.caller.id):
            raise NotFound("cache_key", key, hint="It expired, or was never given to this caller: ask again.")
        return answer.body
