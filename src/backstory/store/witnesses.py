"""The foreign files that contain a message, where they differ from the file of its conversation. Files are numbers here."""

from __future__ import annotations

from collections.abc import Sequence

from .database import Database


class WitnessRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, conversation: str) -> dict[str, set[int]]:
        """The files that contain each message; empty if the conversation's own file contains all of them."""
        sql = "SELECT e.id, w.source FROM witness w JOIN entry e ON e.n = w.entry WHERE w.conversation = ?"
        numbers: dict[str, set[int]] = {}
        for id, source in self._database.rows(sql, [conversation]):
            numbers.setdefault(id, set()).add(source)
        return numbers

    def has_rows(self, conversation: str) -> bool:
        """True if any other file than its own contains messages of the conversation."""
        return bool(
            self._database.rows("SELECT 1 FROM witness WHERE conversation = ? LIMIT 1", [conversation])
        )

    def conversations(self, sources: Sequence[int]) -> list[str]:
        """The conversations with messages in these files, in addition to other files."""
        marks = ", ".join("?" * len(sources))
        sql = f"SELECT DISTINCT conversation FROM witness WHERE source IN ({marks}) ORDER BY conversation"
        return self._database.values(sql, sources)

    def change(
        self, conversation: str, added: Sequence[tuple[str, int]], removed: Sequence[tuple[str, int]]
    ) -> None:
        """Add and remove pairs of a message and a file. Adding a pair twice has no further effect."""
        insert = (
            "INSERT INTO witness (entry, source, conversation) SELECT n, ?, ? FROM entry WHERE id = ?"
            " ON CONFLICT (entry, source) DO NOTHING"
        )
        delete = "DELETE FROM witness WHERE entry = (SELECT n FROM entry WHERE id = ?) AND source = ?"
        with self._database.joined():
            self._database.change_many(delete, removed)
            self._database.change_many(insert, [(source, conversation, id) for id, source in added])

    def drop(self, conversation: str, limit: int) -> int:
        """Delete at most `limit` rows of a conversation. Returns their number."""
        some = "SELECT entry FROM witness WHERE conversation = ? LIMIT ?"
        sql = f"DELETE FROM witness WHERE conversation = ? AND entry IN ({some})"
        with self._database.joined():
            return self._database.change(sql, [conversation, conversation, limit])
