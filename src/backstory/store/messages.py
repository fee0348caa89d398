"""The messages of conversations, in order, and the position of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from ..domain.filters import Kind
from ..domain.records import Message
from ..domain.when import to_ms
from .columns import MESSAGE, TIME
from .database import Database, batches
from .entries import SPOKEN
from .where import bounds, literal, places_clause

LONGEST_WORK_MS = 1_800_000
"""Between two messages of one prompt: a longer time is a pause."""
OWN = "e.kind = ? AND e.thread = ?"
NAMED_OWN = "e.id IN ({}) AND (e.thread || '') = ?"
"""Messages with given ids, restricted to one conversation.

The expression on `thread` stops the database from scanning the whole conversation to find a few ids.
"""


class MessageRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, conversation: str, places: range | None = None) -> list[Message]:
        """The messages of a conversation in order, optionally only those whose `seq` is in the range."""
        within, values = places_clause(places)
        rest = f"FROM entry e WHERE {OWN} AND {within} ORDER BY e.seq, e.n"
        return self._database.records(MESSAGE, rest, [Kind.MESSAGE, conversation, *values])

    def counts(self, conversation: str, places: range) -> dict[int, int]:
        """The number of messages, tool calls and thoughts at each of these places that has any."""
        within, values = places_clause(places)
        sql = f"SELECT e.seq, count(*) FROM entry e WHERE {OWN} AND {within} GROUP BY e.seq"
        return self._database.pairs(sql, [Kind.MESSAGE, conversation, *values])

    def said(self, conversation: str, *, first: int = 0, limit: int) -> list[Message]:
        """Messages of user and assistant from `seq` `first` on, in order."""
        rest = f"FROM entry e WHERE {OWN} AND e.seq >= ? AND e.{SPOKEN} ORDER BY e.seq, e.n {bounds(limit)}"
        return self._database.records(MESSAGE, rest, [Kind.MESSAGE, conversation, first])

    def last_said(self, conversation: str, *, limit: int) -> list[Message]:
        """The last messages of user and assistant, newest first."""
        rest = f"FROM entry e WHERE {OWN} AND e.{SPOKEN} ORDER BY e.seq DESC, e.n DESC {bounds(limit)}"
        return self._database.records(MESSAGE, rest, [Kind.MESSAGE, conversation])

    def get(self, id: str) -> Message | None:
        messages = self._database.records(
            MESSAGE, "FROM entry e WHERE e.kind = ? AND e.id = ?", [Kind.MESSAGE, id]
        )
        return messages[0] if messages else None

    def count_places(self) -> int:
        """The number of messages of all conversations, each number of a conversation once."""
        # by conversation, so that an index is read and not every entry
        last = "SELECT max(e.seq) + 1 FROM entry e WHERE e.thread = c.id"
        return int(self._database.value(f"SELECT coalesce(sum(({last})), 0) FROM conversation c"))

    def count(self, conversations: Sequence[str]) -> dict[str, int]:
        """The number of messages of user and assistant in each conversation."""
        counts: dict[str, int] = {}
        for marks, some in batches(conversations):
            # In a row of `entry` the role comes after the text, which SQLite has to pass. Shapes are small, and rule out
            # two thirds of the entries; CROSS makes SQLite read them first.
            sql = (
                "SELECT e.thread, count(*) FROM entry e CROSS JOIN shape s CROSS JOIN entry m"
                f" WHERE e.thread IN ({marks}) AND s.n = e.n AND s.is_quiet = 0 AND s.is_memory = 0"
                " AND m.n = s.n AND m.kind = ? AND m.role IN ('user', 'assistant') GROUP BY e.thread"
            )
            counts |= self._database.pairs(sql, [*some, Kind.MESSAGE])
        return counts

    def sizes(self, conversations: Sequence[str]) -> dict[str, int]:
        """The total characters of each conversation's messages; conversations without messages are left out."""
        counts: dict[str, int] = {}
        for marks, some in batches(conversations):
            sql = f"SELECT thread, sum(length(text)) FROM entry WHERE kind = ? AND thread IN ({marks}) GROUP BY thread"
            counts |= self._database.pairs(sql, [Kind.MESSAGE, *some])
        return {conversation: int(size) for conversation, size in counts.items()}

    def lengths(self, conversations: Sequence[str]) -> dict[str, int]:
        """The number of places of each conversation; conversations without messages are left out."""
        counts: dict[str, int] = {}
        for marks, some in batches(conversations):
            sql = (
                f"SELECT e.thread, max(e.seq) + 1 FROM entry e WHERE e.thread IN ({marks}) GROUP BY e.thread"
            )
            counts |= self._database.pairs(sql, some)
        return counts

    def course(self, conversation: str) -> list[tuple[int, str, bool]]:
        """The `seq` and role of every entry in order, and whether one of its tool calls failed."""
        sql = (
            "SELECT e.seq, e.role, max(CASE WHEN r.is_error = 1 THEN 1 ELSE 0 END) FROM entry e"
            f" LEFT JOIN result r ON r.entry = e.n WHERE {OWN} GROUP BY e.n, e.seq, e.role ORDER BY e.seq, e.n"
        )
        rows = self._database.rows(sql, [Kind.MESSAGE, conversation])
        return [(seq, role, bool(failed)) for seq, role, failed in rows]

    def places(self, conversation: str, ids: Sequence[str] | None = None) -> dict[str, int]:
        """The `seq` of each message of the conversation, optionally only of the given ids."""
        if ids is None:
            sql = f"SELECT e.id, e.seq FROM entry e WHERE {OWN}"
            return self._database.pairs(sql, [Kind.MESSAGE, conversation])
        places: dict[str, int] = {}
        for marks, some in batches(ids):
            sql = f"SELECT e.id, e.seq FROM entry e WHERE {NAMED_OWN.format(marks)}"
            places |= self._database.pairs(sql, [*some, conversation])
        return places

    def texts(self, ids: Sequence[str]) -> dict[str, str]:
        """The texts of those messages that exist, by id."""
        texts: dict[str, str] = {}
        for marks, some in batches(ids):
            texts |= self._database.pairs(f"SELECT id, text FROM entry WHERE id IN ({marks})", some)
        return texts

    def named(self, ids: Sequence[str]) -> dict[str, Message]:
        """The messages with these ids that exist, by id."""
        by_id: dict[str, Message] = {}
        for marks, some in batches(ids):
            messages = self._database.records(MESSAGE, f"FROM entry e WHERE e.id IN ({marks})", some)
            by_id |= {message.id: message for message in messages}
        return by_id

    def has_named(self, beginning: str) -> bool:
        """True if any entry id begins with this text."""
        sql = "SELECT 1 FROM entry WHERE id >= ? AND id < ? LIMIT 1"
        return bool(self._database.rows(sql, [beginning, f"{beginning}\U0010ffff"]))

    def rename(self, ids: Mapping[str, str]) -> None:
        """Change the ids of messages, and all references to them. `ids` maps present ids to new ones."""
        with self._database.joined():
            pairs = [(now, former) for former, now in ids.items()]
            self._database.change_many("UPDATE entry SET id = ? WHERE id = ?", pairs)

    def last_place(self, conversation: str) -> int:
        """The highest `seq`, or -1 if the conversation has no message."""
        sql = f"SELECT coalesce(max(e.seq), -1) FROM entry e WHERE {OWN}"
        return int(self._database.value(sql, [Kind.MESSAGE, conversation]))

    def first_said(self, conversations: Sequence[str], role: str) -> dict[str, str]:
        """The first message with this role in each conversation; conversations without one are left out."""
        first = "SELECT e.n FROM entry e WHERE e.thread = c.id AND e.role = ? ORDER BY e.seq, e.n LIMIT 1"
        texts: dict[str, str] = {}
        for marks, some in batches(conversations):
            chosen = f"SELECT ({first}) FROM conversation c WHERE c.id IN ({marks})"
            sql = f"SELECT thread, text FROM entry WHERE n IN ({chosen})"
            texts |= self._database.pairs(sql, [role, *some])
        return texts

    def opening(self, conversation: str, limit: int) -> list[str]:
        """The user's first messages."""
        sql = f"SELECT e.text FROM entry e WHERE {OWN} AND e.role = ? ORDER BY e.seq LIMIT ?"
        return self._database.values(sql, [Kind.MESSAGE, conversation, "user", limit])

    def last_requests(self, conversations: Sequence[str]) -> dict[str, int]:
        """The `seq` of the user's last request in each conversation. Commands such as `/exit` do not count."""
        places: dict[str, int] = {}
        for marks, some in batches(conversations):
            sql = (
                f"SELECT thread, max(seq) FROM entry WHERE role = 'user' AND thread IN ({marks})"
                " AND text NOT LIKE '/%' AND text NOT LIKE '!%' GROUP BY thread"
            )
            places |= self._database.pairs(sql, some)
        return places

    def has_calls(self, conversation: str, place: int) -> bool:
        """True if tools were called at this `seq`, by the message there or by a turn without text."""
        sql = f"SELECT 1 FROM entry e WHERE {OWN} AND e.seq = ? AND e.role = 'tool' LIMIT 1"
        return bool(self._database.rows(sql, [Kind.MESSAGE, conversation, place]))

    def prompts(self, conversation: str, length: int) -> list[tuple[int, str]]:
        """The `seq` of each message of the user, and how it begins."""
        sql = (
            f"SELECT e.seq, substr(e.text, 1, {length:d}) FROM entry e"
            " WHERE e.thread = ? AND e.role = 'user' ORDER BY e.seq"
        )
        return [(seq, text) for seq, text in self._database.rows(sql, [conversation])]

    def prompt_times(self, conversation: str) -> dict[int, tuple[datetime, timedelta]]:
        """For the `seq` of each user message, its time, and how long it was worked on.

        This is the time until the last message before the next user message, without messages of programs and without
        pauses of more than LONGEST_WORK_MS between two messages: in a pause the assistant waited for its user, or the
        machine slept. A pause also appears if a rewritten log gives all answers the time of the rewrite."""
        sql = "SELECT seq, role, created_at FROM entry WHERE thread = ? AND role <> 'system' ORDER BY seq, n"
        times: dict[int, tuple[int, int]] = {}
        prompt, begun_ms, last_ms, worked_ms = -1, 0, 0, 0
        # here and not in the database: windows over 20,000 messages took three times as long
        for seq, role, at_ms in self._database.rows(sql, [conversation]):
            if role == "user" and seq != prompt:
                prompt, begun_ms, last_ms, worked_ms = seq, at_ms, at_ms, 0
            elif 0 < at_ms - last_ms <= LONGEST_WORK_MS:
                worked_ms += at_ms - last_ms
            last_ms = max(last_ms, at_ms)
            if prompt >= 0:
                times[prompt] = (begun_ms, worked_ms)
        return {seq: (TIME.read(at), timedelta(milliseconds=ms)) for seq, (at, ms) in times.items()}

    def containing(self, conversation: str, text: str, *, limit: int) -> list[Message]:
        """Messages whose text contains another, ignoring the case of Latin letters, in order of the conversation."""
        rest = f"FROM entry e WHERE {OWN} AND lower(e.text) LIKE ? ESCAPE '!' ORDER BY e.seq, e.n {bounds(limit)}"
        values = [Kind.MESSAGE, conversation, f"%{literal(text.lower())}%"]
        return self._database.records(MESSAGE, rest, values)

    def place_at(self, conversation: str, moment: datetime) -> int:
        """The `seq` of the last message that is not later than a time; 0 where all are."""
        sql = "SELECT coalesce(max(seq), 0) FROM entry WHERE thread = ? AND created_at <= ?"
        return int(self._database.value(sql, [conversation, to_ms(moment)]))
