"""Which foreign files told a message, where that is not simply the file of its conversation. Files are numbers here."""

from __future__ import annotations

from collections.abc import Sequence

from .database import Database


class WitnessRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, conversation: str) -> dict[str, set[int]]:
        """By message, the files that told it; none where all is told by the conversation's own file."""
        sql = "SELECT e.id, w.source FROM witness w JOIN entry e ON e.n = w.entry WHERE w.conversation = ?"
        numbers: dict[str, set[int]] = {}
        for id, source in self._database.rows(sql, [conversation]):
            numbers.setdefault(id, set()).add(source)
        return numbers

    def has_rows(self, conversation: str) -> bool:
        """Whether anything but its own file told some of a conversation."""
        return bool(
            self._database.rows("SELECT 1 FROM witness WHERE conversation = ? LIMIT 1", [conversation])
        )

    def conversations(self, sources: Sequence[int]) -> list[str]:
        """Those of which these files told something, beside others."""
        marks = ", ".join("?" * len(sources))
        sql = f"SELECT DISTINCT conversation FROM witness WHERE source IN ({marks}) ORDER BY conversation"
        return self._database.values(sql, sources)

    def change(
        self, conversation: str, added: Sequence[tuple[str, int]], removed: Sequence[tuple[str, int]]
    ) -> None:
        """Pairs of a message and a file. What is added twice is there once."""
        insert = (
            "INSERT INTO witness (entry, source, conversation) SELECT n, ?, ? FROM entry WHERE id = ?"
            " ON CONFLICT (entry, source) DO NOTHING"
        )
        delete = "DELETE FROM witness WHERE entry = (SELECT n FROM entry WHERE id = ?) AND source = ?"
        with self._database.joined():
            self._database.change_many(delete, removed)
            self._database.change_many(insert, [(source, conversation, id) for id, source in added])

    def drop(self, conversation: str, limit: int) -> int:
        """Delete at most `limit` rows of a conversation, and say how many went."""
        some = "SELECT entry FROM witness WHERE conversation = ? LIMIT ?"
        sql = f"DELETE FROM witness WHERE conversation = ? AND entry IN ({some})"
        with self._database.joined():
            return self._database.change(sql, [conversation, conversation, limit])
