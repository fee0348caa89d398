"""Answers that are fetched piece by piece: kept until they expire, under a key that cannot be guessed."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Protocol

from ..domain.records import CachedAnswer
from ..domain.when import from_ms, to_ms
from .statements import Statements


class KeptAnswers(Protocol):
    def keep_answer(self, answer: CachedAnswer, now: datetime) -> None:
        """Those that have expired by now go."""

    def find_answer(self, key: str, kind: str, now: datetime) -> CachedAnswer | None: ...


class KeptAnswerRows(Statements):
    def keep_answer(self, answer: CachedAnswer, now: datetime) -> None:
        sql = "INSERT INTO kept_answer (key, kind, owner, body, expires_at) VALUES (?, ?, ?, ?, ?)"
        body = json.dumps(answer.body)
        with self.transaction():
            self._change("DELETE FROM kept_answer WHERE expires_at <= ?", [to_ms(now)])
            self._change(sql, [answer.key, answer.kind, answer.owner, body, to_ms(answer.expires_at)])

    def find_answer(self, key: str, kind: str, now: datetime) -> CachedAnswer | None:
        sql = "SELECT owner, body, expires_at FROM kept_answer WHERE key = ? AND kind = ? AND expires_at > ?"
        for owner, body, expires_at in self._rows(sql, [key, kind, to_ms(now)]):
            return CachedAnswer(key, kind, owner, json.loads(body), from_ms(expires_at))
        return None
