"""Sayings: decisions, rules, steps and checks that messages state. A saying is deleted with its message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from ..domain.filters import ConversationFilter
from ..domain.statements import MessageSaying, PlacedSaying, Saying, Speaker, StatementKind
from ..domain.when import to_ms
from .columns import TIME, TRUST, Codec, Columns, marks
from .database import Database, batches
from .where import conversations_clause

_SAYING = Columns(Saying)
_KIND = Codec(str, {each.value: each for each in StatementKind}.__getitem__)
_SPEAKER = Codec(str, {each.value: each for each in Speaker}.__getitem__)
_CODECS = {"kind": _KIND, "speaker": _SPEAKER}
_FIELDS = Columns(Saying, _CODECS, kind="s.kind", text="s.text", speaker="s.speaker", subject="s.subject", outcome="s.outcome")  # fmt: skip


class SayingRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, conversation: str) -> list[MessageSaying]:
        """All sayings of a conversation, in order."""
        sql = (
            f"SELECT e.id, {_FIELDS.selected} FROM saying s JOIN entry e ON e.n = s.entry"
            " WHERE s.thread = ? ORDER BY s.entry, s.place"
        )
        rows = self._database.rows(sql, [conversation])
        return [MessageSaying(row[0], _FIELDS.read(row[1:])) for row in rows]

    def find(self, which: ConversationFilter) -> list[PlacedSaying]:
        """The sayings of all matching conversations, ordered by conversation and position."""
        condition, values = conversations_clause(which)
        sql = (
            f"SELECT s.thread, e.id, e.seq, e.created_at, e.trust, {_FIELDS.selected} FROM saying s"
            " JOIN entry e ON e.n = s.entry"
            f" WHERE s.thread IN (SELECT id FROM conversation WHERE {condition})"
            " ORDER BY s.thread, e.seq, s.entry, s.place"
        )
        return [
            PlacedSaying(thread, message, seq, TIME.read(at), TRUST.read(trust), _FIELDS.read(fields))
            for thread, message, seq, at, trust, *fields in self._database.rows(sql, values)
        ]

    def projects_stating(self, kind: StatementKind, speaker: Speaker, *, conversations: int) -> set[str]:
        """Projects in which at least this number of conversations state something of a kind."""
        sql = (
            "SELECT c.project FROM saying s JOIN conversation c ON c.id = s.thread WHERE s.kind = ? AND s.speaker = ?"
            " GROUP BY c.project HAVING count(DISTINCT s.thread) >= ?"
        )
        return set(self._database.values(sql, [kind.value, speaker.value, conversations]))

    def by_message(self, messages: Sequence[str], kinds: Sequence[StatementKind]) -> dict[str, list[str]]:
        """The texts of these kinds that messages state, of those that state any."""
        texts: dict[str, list[str]] = {}
        for listed, some in batches(messages):
            sql = (
                "SELECT e.id, s.text FROM entry e JOIN saying s ON s.entry = e.n"
                f" WHERE e.id IN ({listed}) AND s.kind IN ({marks(kinds)}) ORDER BY s.entry, s.place"
            )
            for id, text in self._database.rows(sql, [*some, *map(str, kinds)]):
                texts.setdefault(id, []).append(text)
        return texts

    def stating(self, entries: Iterable[int], kinds: Sequence[StatementKind]) -> set[int]:
        """The entries whose messages contain statements of these kinds."""
        among, numbers = self._database.among("entry", entries)
        sql = f"SELECT entry FROM saying WHERE {among} AND kind IN ({marks(kinds)})"
        return set(self._database.values(sql, [numbers, *map(str, kinds)]))

    def add(self, conversation: str, sayings: Sequence[MessageSaying], numbers: Mapping[str, int]) -> None:
        """Insert the sayings of messages. `numbers` maps message ids to entry numbers."""
        places: dict[str, int] = {}
        rows = []
        for message, saying in sayings:
            place = places[message] = places.get(message, -1) + 1
            rows.append((numbers[message], place, conversation, *map(str, saying)))
        sql = f"INSERT INTO saying (entry, place, thread, {_SAYING.listed}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        self._database.change_many(sql, rows)

    def delete(self, entries: Iterable[int]) -> None:
        self._database.change_many("DELETE FROM saying WHERE entry = ?", [(n,) for n in entries])

    def dismiss(self, statement: str, at: datetime) -> None:
        """Record that a person rejected a statement."""
        sql = (
            "INSERT INTO dismissal (statement, dismissed_at) VALUES (?, ?)"
            " ON CONFLICT (statement) DO UPDATE SET dismissed_at = excluded.dismissed_at"
        )
        with self._database.joined():
            self._database.change(sql, [statement, to_ms(at)])

    def dismissed(self) -> set[str]:
        return set(self._database.values("SELECT statement FROM dismissal"))
