"""Conversations that were read from other assistants' files, message by message, and what was done in them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ..domain.filters import ConversationFilter, Filter, Kind
from ..domain.records import QUIET_ROLES, Conversation, Message, Trace, TraceHit
from ..domain.when import from_ms, to_ms
from .rows import COLUMNS, CONVERSATION_COLUMNS, conversation_row, entry_row, read_conversation
from .statements import Row, Statements, batches
from .where import where_clause


class Histories(Protocol):
    def add_messages(
        self, conversation: Conversation, messages: Sequence[Message], traces: Sequence[Trace]
    ) -> None:
        """Insert or update the conversation's row, and insert messages or replace them by id. Others stay. What a
        replaced message left traces of is replaced too."""

    def delete_conversations(self, ids: Sequence[str]) -> int:
        """With their messages and traces; how many there were."""

    def delete_messages(self, conversation: str, ids: Sequence[str] | None = None) -> int:
        """All of a conversation, or the given ones."""

    def message_places(self, conversation: str, ids: Sequence[str] | None = None) -> dict[str, int]:
        """The `seq` of each message there is, of all or of the given ones."""

    def last_place(self, conversation: str) -> int:
        """The highest `seq`; -1 when there is no message."""

    def opening(self, conversation: str, limit: int) -> list[str]:
        """What the user said first."""

    def find_talks(
        self, which: ConversationFilter, *, limit: int | None = None, offset: int = 0
    ) -> list[Conversation]:
        """The last updated first."""

    def count_talks(self, which: ConversationFilter) -> int: ...

    def talk_projects(self) -> list[str]:
        """The projects that conversations belong to."""

    def count_messages(self, conversations: Sequence[str]) -> dict[str, int]:
        """How many messages of user and assistant each has."""

    def find_traces(
        self, where: Filter, *, kinds: Sequence[str] = (), limit: int | None = None
    ) -> list[TraceHit]:
        """The newest first, of messages that match."""

    def files_of(self, conversations: Sequence[str]) -> dict[str, list[str]]:
        """The files each conversation read or wrote, the most touched first."""

    def threads_touching(self, path: str, where: Filter) -> list[TraceHit]:
        """Traces of a file in messages that match, newest first: `src/auth.py` means every path that ends so, whole
        parts compared; upper and lower case are the same."""


_TEXT, _HEADING, _ROLE = (COLUMNS.index(name) for name in ("text", "heading", "role"))
_FILES = ("read", "written")


class HistoryRows(Statements):
    @abstractmethod
    def _reserve(self, count: int) -> int:
        """The first of so many numbers for entries that the same transaction inserts."""

    @abstractmethod
    def _drop_vectors(self, n: int) -> None: ...

    @abstractmethod
    def _index_texts(self, rows: Sequence[tuple[int, str, str]]) -> None: ...

    @abstractmethod
    def _unindex_text(self, n: int, text: str, heading: str, key: str | None) -> None: ...

    @abstractmethod
    def _delete(self, condition: str, values: Sequence[Any]) -> int: ...

    def add_messages(
        self, conversation: Conversation, messages: Sequence[Message], traces: Sequence[Trace]
    ) -> None:
        rows = {message.id: entry_row(message) for message in messages}
        with self._joined():
            is_known = bool(self._rows("SELECT 1 FROM conversation WHERE id = ?", [conversation.id]))
            self._put_conversation(conversation)
            numbers = self._renew(rows) if is_known else {}
            new = [id for id in rows if id not in numbers]
            numbers |= zip(new, range(first := self._reserve(len(new)), first + len(new)), strict=True)
            self._insert([(numbers[id], *rows[id]) for id in new])
            self._put_traces(traces, numbers)

    def _put_conversation(self, conversation: Conversation) -> None:
        names, marks = ", ".join(CONVERSATION_COLUMNS), ", ".join("?" * len(CONVERSATION_COLUMNS))
        updates = ", ".join(f"{name} = excluded.{name}" for name in CONVERSATION_COLUMNS[1:])
        sql = f"INSERT INTO conversation ({names}) VALUES ({marks}) ON CONFLICT (id) DO UPDATE SET {updates}"
        self._change(sql, conversation_row(conversation))

    def _renew(self, rows: Mapping[str, Row]) -> dict[str, int]:
        """Replace those messages that are there; their numbers. One whose text stayed keeps its vectors."""
        numbers: dict[str, int] = {}
        sets = ", ".join(f"{column} = ?" for column in COLUMNS)
        changed: list[int] = []
        for marks, some in batches(list(rows)):
            sql = f"SELECT id, n, text, heading, role FROM entry WHERE id IN ({marks})"
            for id, n, text, heading, role in self._rows(sql, some):
                numbers[id] = n
                row = rows[id]
                is_same = (text, heading, role) == (row[_TEXT], row[_HEADING], row[_ROLE])
                self._change(
                    f"UPDATE entry SET {sets}, revision = revision + ? WHERE n = ?",
                    [*row, int(not is_same), n],
                )
                if not is_same:
                    self._unindex_text(n, text, heading, None)
                    changed.append(n)
        renewed = [(n,) for n in numbers.values()]
        self._change_many("DELETE FROM trace WHERE entry = ?", renewed)
        self._change_many("DELETE FROM waiting WHERE entry = ?", [(n,) for n in changed])
        for n in changed:
            self._drop_vectors(n)
        self._make_findable([(n, *rows[id]) for id, n in numbers.items() if n in set(changed)])
        return numbers

    def _insert(self, rows: Sequence[Row]) -> None:
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        self._change_many(f"INSERT INTO entry (n, {', '.join(COLUMNS)}) VALUES ({marks})", rows)
        self._make_findable(rows)

    def _make_findable(self, rows: Sequence[Row]) -> None:
        """By words at once, by meaning when they have their vectors. The rows begin with the number."""
        self._index_texts([(row[0], row[1 + _TEXT], row[1 + _HEADING]) for row in rows])
        said = [row[0] for row in rows if row[1 + _ROLE] not in QUIET_ROLES]
        spaces = [row[0] for row in self._rows("SELECT number FROM space")]
        self._change_many(
            "INSERT INTO waiting (space, entry) VALUES (?, ?)", [(space, n) for space in spaces for n in said]
        )

    def _put_traces(self, traces: Sequence[Trace], numbers: Mapping[str, int]) -> None:
        places: dict[str, int] = {}
        rows = []
        for trace in traces:
            place = places[trace.message] = places.get(trace.message, -1) + 1
            rows.append((numbers[trace.message], place, trace.kind, _name(trace), trace.value))
        self._change_many("INSERT INTO trace (entry, place, kind, name, value) VALUES (?, ?, ?, ?, ?)", rows)

    def delete_conversations(self, ids: Sequence[str]) -> int:
        deleted = 0
        with self._joined():
            for marks, some in batches(ids):
                self._delete(f"e.kind = ? AND e.thread IN ({marks})", [Kind.MESSAGE, *some])
                deleted += self._change(f"DELETE FROM conversation WHERE id IN ({marks})", some)
        return deleted

    def delete_messages(self, conversation: str, ids: Sequence[str] | None = None) -> int:
        own = [Kind.MESSAGE, conversation]
        with self._joined():
            if ids is None:
                return self._delete("e.kind = ? AND e.thread = ?", own)
            return sum(
                self._delete(f"e.kind = ? AND e.thread = ? AND e.id IN ({marks})", [*own, *some])
                for marks, some in batches(ids)
            )

    def message_places(self, conversation: str, ids: Sequence[str] | None = None) -> dict[str, int]:
        sql = "SELECT id, seq FROM entry WHERE kind = ? AND thread = ?"
        own = [Kind.MESSAGE, conversation]
        if ids is None:
            return _pairs(self._rows(sql, own))
        found: dict[str, int] = {}
        for marks, some in batches(ids):
            found |= _pairs(self._rows(f"{sql} AND id IN ({marks})", [*own, *some]))
        return found

    def last_place(self, conversation: str) -> int:
        sql = "SELECT coalesce(max(seq), -1) FROM entry WHERE kind = ? AND thread = ?"
        return int(self._rows(sql, [Kind.MESSAGE, conversation])[0][0])

    def opening(self, conversation: str, limit: int) -> list[str]:
        sql = "SELECT text FROM entry WHERE kind = ? AND thread = ? AND role = ? ORDER BY seq LIMIT ?"
        return [row[0] for row in self._rows(sql, [Kind.MESSAGE, conversation, "user", limit])]

    def find_talks(
        self, which: ConversationFilter, *, limit: int | None = None, offset: int = 0
    ) -> list[Conversation]:
        condition, values = talks_clause(which)
        names = ", ".join(CONVERSATION_COLUMNS)
        order = "ORDER BY updated_at DESC, id"
        end = None if limit is None else offset + limit
        if which.title_part:
            # how databases compare letters of other alphabets differs, so titles are compared here
            titles = self._rows(f"SELECT id, title FROM conversation WHERE {condition} {order}", values)
            ids = [id for id, title in titles if which.title_part.casefold() in title.casefold()]
            return self.find_talks(ConversationFilter(ids=tuple(ids[offset:end]))) if ids[offset:end] else []
        bounds = f"LIMIT {2**62 if limit is None else limit:d} OFFSET {offset:d}"
        rows = self._rows(f"SELECT {names} FROM conversation WHERE {condition} {order} {bounds}", values)
        return [read_conversation(row) for row in rows]

    def count_talks(self, which: ConversationFilter) -> int:
        condition, values = talks_clause(which)
        if which.title_part:
            titles = self._rows(f"SELECT title FROM conversation WHERE {condition}", values)
            return sum(which.title_part.casefold() in row[0].casefold() for row in titles)
        return int(self._rows(f"SELECT count(*) FROM conversation WHERE {condition}", values)[0][0])

    def talk_projects(self) -> list[str]:
        sql = "SELECT DISTINCT project FROM conversation WHERE project <> '' ORDER BY project"
        return [row[0] for row in self._rows(sql)]

    def count_messages(self, conversations: Sequence[str]) -> dict[str, int]:
        counts: dict[str, int] = {}
        for marks, some in batches(conversations):
            sql = (
                "SELECT thread, count(*) FROM entry WHERE kind = ? AND role IN ('user', 'assistant')"
                f" AND thread IN ({marks}) GROUP BY thread"
            )
            counts |= _pairs(self._rows(sql, [Kind.MESSAGE, *some]))
        return counts

    def find_traces(
        self, where: Filter, *, kinds: Sequence[str] = (), limit: int | None = None
    ) -> list[TraceHit]:
        only = f"t.kind IN ({', '.join('?' * len(kinds))}) AND " if kinds else ""
        return self._did(only, kinds, where, limit)

    def threads_touching(self, path: str, where: Filter) -> list[TraceHit]:
        parts = _parts(path)
        if not parts:
            return []
        files = ", ".join("?" * len(_FILES))
        touched = self._did(f"t.name = ? AND t.kind IN ({files}) AND ", [parts[-1], *_FILES], where, None)
        return [did for did in touched if _parts(did.value)[-len(parts) :] == parts]

    def _did(self, only: str, values: Sequence[Any], where: Filter, limit: int | None) -> list[TraceHit]:
        condition, more = where_clause(where)
        sql = (
            "SELECT t.kind, t.value, e.thread, e.created_at, e.n FROM trace t JOIN entry e ON e.n = t.entry"
            f" WHERE {only}{condition} ORDER BY e.created_at DESC, e.n DESC, t.place"
            f" LIMIT {2**62 if limit is None else limit:d}"
        )
        rows = self._rows(sql, [*values, *more])
        return [TraceHit(kind, value, thread, from_ms(at), n) for kind, value, thread, at, n in rows]

    def files_of(self, conversations: Sequence[str]) -> dict[str, list[str]]:
        files: dict[str, list[str]] = {}
        for marks, some in batches(conversations):
            sql = (
                "SELECT e.thread, t.value FROM entry e JOIN trace t ON t.entry = e.n"
                f" WHERE e.kind = ? AND t.kind IN ('read', 'written') AND e.thread IN ({marks})"
                " GROUP BY e.thread, t.value ORDER BY e.thread, count(*) DESC, t.value"
            )
            for thread, value in self._rows(sql, [Kind.MESSAGE, *some]):
                files.setdefault(thread, []).append(value)
        return files


def _pairs(rows: Sequence[Row]) -> dict[str, int]:
    return {row[0]: row[1] for row in rows}


def _parts(path: str) -> list[str]:
    return [part for part in path.lower().replace("\\", "/").split("/") if part not in ("", ".")]


def _name(trace: Trace) -> str:
    """What a trace is looked up by."""
    words = _parts(trace.value)[-1:] if trace.kind in _FILES else trace.value.split(maxsplit=1)[:1]
    return words[0] if words and trace.kind != "error" else ""


def talks_clause(which: ConversationFilter) -> tuple[str, list[Any]]:
    conditions: list[str] = []
    values: list[Any] = []
    for column, wanted in (
        ("id", which.ids),
        ("surface", which.surfaces),
        ("project", which.projects),
        ("kind", which.kinds),
        ("parent", which.parents),
        ("subject", which.subjects),
    ):
        if wanted:
            conditions.append(f"{column} IN ({', '.join('?' * len(wanted))})")
            values += wanted
    if which.sources:
        within = " OR ".join(["substr(source, 1, ?) = ?"] * len(which.sources))
        conditions.append(f"(source IN ({', '.join('?' * len(which.sources))}) OR {within})")
        values += which.sources
        values += [part for path in which.sources for part in (len(path) + 1, f"{path}#")]
    if which.updated_after is not None:
        conditions.append("updated_at >= ?")
        values.append(to_ms(which.updated_after))
    if which.updated_before is not None:
        conditions.append("updated_at < ?")
        values.append(to_ms(which.updated_before))
    if which.repository_of is not None:
        conditions.append("(trust <> 'project' OR project = ?)")
        values.append(which.repository_of)
    return " AND ".join(conditions) or "TRUE", values
