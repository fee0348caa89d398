"""The messages of conversations, in their order, and where each stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..domain.filters import Kind
from ..domain.records import Message
from .columns import MESSAGE
from .database import Database, batches
from .entries import SPOKEN
from .where import bounds, places_clause

OWN = "e.kind = ? AND e.thread = ?"
NAMED_OWN = "e.id IN ({}) AND (e.thread || '') = ?"
"""Messages with some ids, if they are in a conversation. The expression keeps the database from walking through the whole
conversation to find a few."""


class MessageRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, conversation: str, places: range | None = None) -> list[Message]:
        """In their order: all, or those whose `seq` is in the range."""
        within, values = places_clause(places)
        rest = f"FROM entry e WHERE {OWN} AND {within} ORDER BY e.seq, e.n"
        return self._database.records(MESSAGE, rest, [Kind.MESSAGE, conversation, *values])

    def said(self, conversation: str, *, first: int = 0, limit: int) -> list[Message]:
        """What was said from a `seq` on, in its order."""
        rest = f"FROM entry e WHERE {OWN} AND e.seq >= ? AND e.{SPOKEN} ORDER BY e.seq, e.n {bounds(limit)}"
        return self._database.records(MESSAGE, rest, [Kind.MESSAGE, conversation, first])

    def last_said(self, conversation: str, *, limit: int) -> list[Message]:
        """The newest first."""
        rest = f"FROM entry e WHERE {OWN} AND e.{SPOKEN} ORDER BY e.seq DESC, e.n DESC {bounds(limit)}"
        return self._database.records(MESSAGE, rest, [Kind.MESSAGE, conversation])

    def get(self, id: str) -> Message | None:
        found = self._database.records(
            MESSAGE, "FROM entry e WHERE e.kind = ? AND e.id = ?", [Kind.MESSAGE, id]
        )
        return found[0] if found else None

    def count(self, conversations: Sequence[str]) -> dict[str, int]:
        """How many messages of user and assistant each has."""
        counts: dict[str, int] = {}
        for marks, some in batches(conversations):
            sql = (
                "SELECT thread, count(*) FROM entry WHERE kind = ? AND role IN ('user', 'assistant')"
                f" AND thread IN ({marks}) GROUP BY thread"
            )
            counts |= self._database.pairs(sql, [Kind.MESSAGE, *some])
        return counts

    def lengths(self, conversations: Sequence[str]) -> dict[str, int]:
        """How many places each has, of those that have any."""
        counts: dict[str, int] = {}
        for marks, some in batches(conversations):
            sql = (
                f"SELECT e.thread, max(e.seq) + 1 FROM entry e WHERE e.thread IN ({marks}) GROUP BY e.thread"
            )
            counts |= self._database.pairs(sql, some)
        return counts

    def places(self, conversation: str, ids: Sequence[str] | None = None) -> dict[str, int]:
        """The `seq` of each message there is, of all or of the given ones."""
        if ids is None:
            sql = f"SELECT e.id, e.seq FROM entry e WHERE {OWN}"
            return self._database.pairs(sql, [Kind.MESSAGE, conversation])
        found: dict[str, int] = {}
        for marks, some in batches(ids):
            sql = f"SELECT e.id, e.seq FROM entry e WHERE {NAMED_OWN.format(marks)}"
            found |= self._database.pairs(sql, [*some, conversation])
        return found

    def texts(self, ids: Sequence[str]) -> dict[str, str]:
        """Of those messages that are there."""
        found: dict[str, str] = {}
        for marks, some in batches(ids):
            found |= self._database.pairs(f"SELECT id, text FROM entry WHERE id IN ({marks})", some)
        return found

    def named(self, ids: Sequence[str]) -> dict[str, Message]:
        """Those of the given messages that are there, by id."""
        found: dict[str, Message] = {}
        for marks, some in batches(ids):
            messages = self._database.records(MESSAGE, f"FROM entry e WHERE e.id IN ({marks})", some)
            found |= {message.id: message for message in messages}
        return found

    def has_named(self, beginning: str) -> bool:
        """Whether an id begins so."""
        sql = "SELECT 1 FROM entry WHERE id >= ? AND id < ? LIMIT 1"
        return bool(self._database.rows(sql, [beginning, f"{beginning}\U0010ffff"]))

    def rename(self, ids: Mapping[str, str]) -> None:
        """Give messages other ids, by their present ones. All that refers to them follows."""
        with self._database.joined():
            pairs = [(now, former) for former, now in ids.items()]
            self._database.change_many("UPDATE entry SET id = ? WHERE id = ?", pairs)

    def last_place(self, conversation: str) -> int:
        """The highest `seq`; -1 when there is no message."""
        sql = f"SELECT coalesce(max(e.seq), -1) FROM entry e WHERE {OWN}"
        return int(self._database.value(sql, [Kind.MESSAGE, conversation]))

    def first_said(self, conversations: Sequence[str], role: str) -> dict[str, str]:
        """What the user, or who else has that role, said first in each, where something was."""
        first = "SELECT e.n FROM entry e WHERE e.thread = c.id AND e.role = ? ORDER BY e.seq, e.n LIMIT 1"
        said: dict[str, str] = {}
        for marks, some in batches(conversations):
            chosen = f"SELECT ({first}) FROM conversation c WHERE c.id IN ({marks})"
            sql = f"SELECT thread, text FROM entry WHERE n IN ({chosen})"
            said |= self._database.pairs(sql, [role, *some])
        return said

    def opening(self, conversation: str, limit: int) -> list[str]:
        """What the user said first."""
        sql = f"SELECT e.text FROM entry e WHERE {OWN} AND e.role = ? ORDER BY e.seq LIMIT ?"
        return self._database.values(sql, [Kind.MESSAGE, conversation, "user", limit])

    def last_requests(self, conversations: Sequence[str]) -> dict[str, int]:
        """The `seq` of what the user last asked for in each; a command such as `/exit` asks for nothing."""
        places: dict[str, int] = {}
        for marks, some in batches(conversations):
            sql = (
                f"SELECT thread, max(seq) FROM entry WHERE role = 'user' AND thread IN ({marks})"
                " AND text NOT LIKE '/%' AND text NOT LIKE '!%' GROUP BY thread"
            )
            places |= self._database.pairs(sql, some)
        return places

    def prompts(self, conversation: str, length: int) -> list[tuple[int, str]]:
        """The `seq` of each message of the user, and how it begins."""
        sql = (
            f"SELECT e.seq, substr(e.text, 1, {length:d}) FROM entry e"
            " WHERE e.thread = ? AND e.role = 'user' ORDER BY e.seq"
        )
        return [(seq, text) for seq, text in self._database.rows(sql, [conversation])]
