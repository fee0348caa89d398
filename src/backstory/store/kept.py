"""Answers that are fetched piece by piece: kept until they expire, under a key that cannot be guessed."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from ..domain.when import from_ms, to_ms
from .statements import Statements


class KeptAnswer(NamedTuple):
    key: str
    kind: str
    owner: str
    """The caller it was given to; empty when the key alone is enough."""
    body: Any
    """Fit for JSON."""
    expires_at: datetime


class KeptAnswers(Protocol):
    def keep_answer(self, answer: KeptAnswer, now: datetime) -> None:
        """Those that have expired by now go."""

    def find_answer(self, key: str, kind: str, now: datetime) -> KeptAnswer | None: ...


class KeptAnswerRows(Statements):
    def keep_answer(self, answer: KeptAnswer, now: datetime) -> None:
        sql = "INSERT INTO kept_answer (key, kind, owner, body, expires_at) VALUES (?, ?, ?, ?, ?)"
        body = json.dumps(answer.body)
        with self.transaction():
            self._change("DELETE FROM kept_answer WHERE expires_at <= ?", [to_ms(now)])
            self._change(sql, [answer.key, answer.kind, answer.owner, body, to_ms(answer.expires_at)])

    def find_answer(self, key: str, kind: str, now: datetime) -> KeptAnswer | None:
        sql = "SELECT owner, body, expires_at FROM kept_answer WHERE key = ? AND kind = ? AND expires_at > ?"
        for owner, body, expires_at in self._rows(sql, [key, kind, to_ms(now)]):
            return KeptAnswer(key, kind, owner, json.loads(body), from_ms(expires_at))
        return None
