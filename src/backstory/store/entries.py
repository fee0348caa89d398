"""Memories, messages and conversations as rows: the statements both backends share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from ..domain.entries import Outline, PendingText
from ..domain.filters import Filter, Kind, Page
from ..domain.records import QUIET_ROLES, Conversation, Entry, Memory, Message
from ..domain.when import from_ms, to_ms, utc_now
from .rows import COLUMNS, CONVERSATION_COLUMNS, conversation_row, entry_row, read_conversation, read_entry
from .statements import Statements
from .where import ordered, where_clause

_SELECT = "SELECT " + ", ".join(f"e.{column}" for column in COLUMNS)
_INSERT = f"INSERT INTO entry ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))}) RETURNING n"
_UPDATE = f"UPDATE entry SET {', '.join(f'{c} = ?' for c in COLUMNS)}, revision = revision + ? WHERE n = ?"
_TEXT, _HEADING, _KEY, _ROLE = (COLUMNS.index(name) for name in ("text", "heading", "key", "role"))
_SPOKEN = f"role NOT IN {QUIET_ROLES}"
_OUTLINE = (
    "SELECT e.n, e.thread, e.seq, e.role, e.speaker, length(e.text), e.project, e.created_at FROM entry e"
)


class EntryRows(Statements):
    _claim_lock = ""
    """What a backend adds to a SELECT so that two who claim at once get different rows."""

    @abstractmethod
    def _index_text(self, n: int, text: str, heading: str, key: str | None) -> None:
        """Make an entry's words findable."""

    def _index_texts(self, rows: Sequence[tuple[int, str, str]]) -> None:
        """Make the words of many entries without keys findable: number, text and heading of each."""
        for n, text, heading in rows:
            self._index_text(n, text, heading, None)

    @abstractmethod
    def _unindex_text(self, n: int, text: str, heading: str, key: str | None) -> None:
        """Undo `_index_text`, which was given the same words."""

    @abstractmethod
    def _drop_vectors(self, n: int) -> None:
        """Forget the vectors of an entry in every space."""

    def put_memories(self, memories: Sequence[Memory]) -> None:
        with self.transaction():
            for memory in memories:
                self._put(memory)

    def find_memories(self, where: Filter, page: Page) -> list[Memory]:
        condition, values = where_clause(where)
        order = f"ORDER BY {ordered(page.order)}"
        chosen = f"e.kind = ? AND {condition}"
        if page.limit is not None or page.offset:
            # numbers are sorted and cut first, so that the texts of other pages are never read;
            # a LIMIT of -1 means none in SQLite only
            limit = 2**62 if page.limit is None else page.limit
            chosen = f"e.n IN (SELECT e.n FROM entry e WHERE {chosen} {order} LIMIT {limit:d} OFFSET {page.offset:d})"
        rows = self._rows(f"{_SELECT} FROM entry e WHERE {chosen} {order}", [Kind.MEMORY, *values])
        return [memory for memory in map(read_entry, rows) if isinstance(memory, Memory)]

    def delete_memories(self, where: Filter) -> int:
        condition, values = where_clause(where)
        with self.transaction():
            return self._delete(f"e.kind = ? AND {condition}", [Kind.MEMORY, *values])

    def put_conversation(self, conversation: Conversation, messages: Sequence[Message]) -> None:
        with self.transaction():
            self._delete("e.kind = ? AND e.thread = ?", [Kind.MESSAGE, conversation.id])
            self._change("DELETE FROM conversation WHERE id = ?", [conversation.id])
            names = ", ".join(CONVERSATION_COLUMNS)
            self._change(
                f"INSERT INTO conversation ({names}) VALUES ({', '.join('?' * len(CONVERSATION_COLUMNS))})",
                conversation_row(conversation),
            )
            for message in messages:
                self._put(message)

    def find_conversations(self, ids: Sequence[str]) -> list[Conversation]:
        names, marks = ", ".join(CONVERSATION_COLUMNS), ", ".join("?" * len(ids))
        rows = self._rows(f"SELECT {names} FROM conversation WHERE id IN ({marks}) ORDER BY id", ids)
        return [read_conversation(row) for row in rows]

    def find_messages(self, conversation: str) -> list[Message]:
        sql = f"{_SELECT} FROM entry e WHERE e.kind = ? AND e.thread = ? ORDER BY e.seq"
        entries = map(read_entry, self._rows(sql, [Kind.MESSAGE, conversation]))
        return [message for message in entries if isinstance(message, Message)]

    def count(self, where: Filter) -> int:
        condition, values = where_clause(where)
        return int(self._rows(f"SELECT count(*) FROM entry e WHERE {condition}", values)[0][0])

    def outlines(self, entries: Iterable[int], where: Filter) -> list[Outline]:
        condition, values = where_clause(where)
        among, numbers = self._among("e.n", entries)
        return [
            Outline(*row)
            for row in self._rows(f"{_OUTLINE} WHERE {among} AND {condition}", [numbers, *values])
        ]

    def neighbours(self, outlines: Sequence[Outline], where: Filter) -> list[Outline]:
        places = {(o.thread, o.seq + step) for o in outlines for step in (-1, 1) if o.is_said}
        if not places:
            return []
        condition, values = where_clause(where)
        marks = ", ".join(["(?, ?)"] * len(places))
        # the VALUES drive the join, so that each place is one look-up in the index of (thread, seq); the kind as an
        # expression keeps SQLite from the index of (thread, kind), which reads the whole conversation each time
        sql = (
            f"WITH place (thread, seq) AS (VALUES {marks}) {_OUTLINE}"
            f" JOIN place p ON e.thread = p.thread AND e.seq = p.seq WHERE e.kind || '' = ? AND e.{_SPOKEN} AND {condition}"
        )
        flat = [value for place in places for value in place]
        return [Outline(*row) for row in self._rows(sql, [*flat, Kind.MESSAGE, *values])]

    def load(self, entries: Iterable[int]) -> dict[int, Entry]:
        among, numbers = self._among("e.n", entries)
        return {
            row[0]: read_entry(row[1:])
            for row in self._rows(
                f"{_SELECT.replace('SELECT', 'SELECT e.n,', 1)} FROM entry e WHERE {among}", [numbers]
            )
        }

    def projects(self) -> list[str]:
        return [row[0] for row in self._rows("SELECT DISTINCT project FROM entry ORDER BY project")]

    def conversation_span(self) -> tuple[datetime, datetime] | None:
        first, last = self._rows("SELECT min(created_at), max(updated_at) FROM conversation")[0]
        return None if first is None else (from_ms(first), from_ms(last))

    def size_hint(self) -> int:
        return int(self._rows("SELECT coalesce(max(n), 0) FROM entry")[0][0])

    def open_space(self, model: str) -> int:
        if rows := self._rows("SELECT number FROM space WHERE model = ?", [model]):
            return int(rows[0][0])
        with self.transaction():
            rows = self._rows(
                "INSERT INTO space (model) VALUES (?) ON CONFLICT (model) DO NOTHING RETURNING number",
                [model],
            )
            if not rows:  # another process was faster
                return self.open_space(model)
            number = int(rows[0][0])
            self._change(
                f"INSERT INTO waiting (space, entry) SELECT ?, n FROM entry WHERE {_SPOKEN}", [number]
            )
            return number

    def claim_waiting(self, space: int, limit: int, *, lease_ms: int) -> list[PendingText]:
        now = to_ms(utc_now())
        free = "TRUE" if lease_ms == 0 else f"leased_until < {now:d}"
        newest = f"SELECT entry FROM waiting WHERE space = ? AND {free} ORDER BY entry DESC LIMIT ?"
        if lease_ms == 0:
            chosen = [row[0] for row in self._rows(newest, [space, limit])]
        else:
            with self.transaction():
                sql = f"UPDATE waiting SET leased_until = ? WHERE space = ? AND entry IN ({newest}{self._claim_lock}) RETURNING entry"
                chosen = [row[0] for row in self._rows(sql, [now + lease_ms, space, space, limit])]
        among, numbers = self._among("n", chosen)
        rows = self._rows(
            f"SELECT n, revision, heading, text FROM entry WHERE {among} ORDER BY n DESC", [numbers]
        )
        return [PendingText(n, revision, _titled(heading, text)) for n, revision, heading, text in rows]

    def count_waiting(self, space: int) -> int:
        return int(self._rows("SELECT count(*) FROM waiting WHERE space = ?", [space])[0][0])

    def _put(self, entry: Entry) -> None:
        row = entry_row(entry)
        known = self._rows("SELECT n, text, heading, key FROM entry WHERE id = ?", [entry.id])
        if not known:
            n = int(self._rows(_INSERT, row)[0][0])
        else:
            n, text, heading, key = known[0]
            changed = (text, heading, key) != (row[_TEXT], row[_HEADING], row[_KEY])
            self._change(_UPDATE, [*row, int(changed), n])
            if not changed:
                return
            self._unindex_text(n, text, heading, key)
            self._drop_vectors(n)
            self._change("DELETE FROM waiting WHERE entry = ?", [n])
        self._index_text(n, row[_TEXT], row[_HEADING], row[_KEY])
        if row[_ROLE] not in QUIET_ROLES:
            self._change("INSERT INTO waiting (space, entry) SELECT number, ? FROM space", [n])

    def _delete(self, condition: str, values: Sequence[Any]) -> int:
        for n, text, heading, key in self._rows(
            f"SELECT e.n, e.text, e.heading, e.key FROM entry e WHERE {condition}", values
        ):
            self._unindex_text(n, text, heading, key)
        return self._change(f"DELETE FROM entry AS e WHERE {condition}", values)


def _titled(heading: str, text: str) -> str:
    """What the embedding model reads: it knows nothing but this string."""
    return f"{heading}: {text}" if heading else text
