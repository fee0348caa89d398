"""Long answers that a client fetches piece by piece, stored under an unguessable key until they expire."""

from __future__ import annotations

from datetime import datetime

from ..domain.records import CachedAnswer
from ..domain.when import to_ms
from .columns import JSON, Columns
from .database import Database

_ANSWER = Columns(CachedAnswer, {"body": JSON})


class AnswerRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, answer: CachedAnswer, now: datetime) -> None:
        """Store an answer, and delete expired ones."""
        with self._database.joined():
            self._database.change("DELETE FROM kept_answer WHERE expires_at <= ?", [to_ms(now)])
            self._database.change(_ANSWER.insert("kept_answer"), _ANSWER.write(answer))

    def delete_all(self) -> int:
        """Delete all stored answers, regardless of their recipient. Returns their number."""
        with self._database.joined():
            return self._database.change("DELETE FROM kept_answer")

    def get(self, key: str, kind: str, now: datetime) -> CachedAnswer | None:
        rest = "FROM kept_answer WHERE key = ? AND kind = ? AND expires_at > ?"
        answers = self._database.records(_ANSWER, rest, [key, kind, to_ms(now)])
        return answers[0] if answers else None
