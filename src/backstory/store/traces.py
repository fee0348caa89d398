"""Traces of an assistant's work: files it read and wrote, commands, errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..domain.filters import Filter, Kind
from ..domain.paths import is_about_file, path_parts
from ..domain.records import Trace, TraceHit
from .columns import TIME, Columns, marks
from .database import Database, batches
from .mirror import CommitMirror
from .where import bounds, literal, places_clause, where_clause

MAX_FILE_LISTS = 2_000  # conversations: some 30 paths each
MAX_FLAGS = 100_000  # conversations
_FILES = ("read", "written")
_HIT = Columns(
    TraceHit,
    {"at": TIME},
    kind="t.kind",
    value="t.value",
    conversation="e.thread",
    at="e.created_at",
    entry="e.n",
)
_LEFT_IN = Columns(Trace, message="e.id", kind="t.kind", value="t.value")


class TraceRoom:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._files = CommitMirror[str, list[str]](database, MAX_FILE_LISTS)
        self._having_files = CommitMirror[str, bool](database, MAX_FLAGS)

    def find(self, where: Filter, *, kinds: Sequence[str] = (), limit: int | None = None) -> list[TraceHit]:
        """Traces of matching messages, newest first."""
        return self._find(f"t.kind IN ({marks(kinds)}) AND " if kinds else "", kinds, where, limit)

    def touching(self, path: str, where: Filter) -> list[TraceHit]:
        """Traces of a file in messages that match, newest first, by the rule of `domain/paths.py`."""
        parts = path_parts(path)
        if not parts:
            return []
        only = f"t.name = ? AND t.kind IN ({marks(_FILES)}) AND "
        hits = self._find(only, [parts[-1], *_FILES], where, None)
        return [hit for hit in hits if is_about_file(hit.value, path)]

    def _find(self, only: str, values: Sequence[Any], where: Filter, limit: int | None) -> list[TraceHit]:
        condition, more = where_clause(where)
        rest = (
            f"FROM trace t JOIN entry e ON e.n = t.entry WHERE {only}{condition}"
            f" ORDER BY e.created_at DESC, e.n DESC, t.place {bounds(limit)}"
        )
        return self._database.records(_HIT, rest, [*values, *more])

    def files(self, conversations: Sequence[str]) -> dict[str, list[str]]:
        """The files each conversation read or wrote: those it wrote first, of these the most touched."""
        lists = self._files.get_all(conversations, self._read_files)
        return {id: [*files] for id, files in lists.items() if files}

    def _read_files(self, conversations: Sequence[str]) -> dict[str, list[str]]:
        files: dict[str, list[str]] = {id: [] for id in conversations}
        for listed, some in batches(conversations):
            sql = (
                "SELECT e.thread, t.value FROM entry e JOIN trace t ON t.entry = e.n"
                f" WHERE t.kind IN ({marks(_FILES)}) AND e.thread IN ({listed})"
                " GROUP BY e.thread, t.value ORDER BY e.thread, max(CASE t.kind WHEN 'written' THEN 1 ELSE 0 END) DESC,"
                " count(*) DESC, t.value"
            )
            for thread, value in self._database.rows(sql, [*_FILES, *some]):
                files[thread].append(value)
        return files

    def conversations_with_files(self, conversations: Sequence[str]) -> set[str]:
        """The conversations in which a file was read or written."""
        flags = self._having_files.get_all(conversations, self._read_having_files)
        return {id for id, has_files in flags.items() if has_files}

    def _read_having_files(self, conversations: Sequence[str]) -> dict[str, bool]:
        sql = (
            "SELECT id FROM conversation c WHERE id IN ({}) AND EXISTS (SELECT 1 FROM entry e"
            f" JOIN trace t ON t.entry = e.n WHERE e.thread = c.id AND t.kind IN {_FILES})"
        )
        having = {
            id
            for listed, some in batches(conversations)
            for id in self._database.values(sql.format(listed), some)
        }
        return {id: id in having for id in conversations}

    def last_writes(self, conversations: Sequence[str]) -> dict[str, int]:
        """The `seq` of each conversation's last write to a file."""
        places: dict[str, int] = {}
        for listed, some in batches(conversations):
            sql = (
                "SELECT e.thread, max(e.seq) FROM entry e JOIN trace t ON t.entry = e.n"
                f" WHERE t.kind = 'written' AND e.thread IN ({listed}) GROUP BY e.thread"
            )
            places |= self._database.pairs(sql, some)
        return places

    def written_since(self, conversation: str, place: int) -> list[str]:
        """Files that a conversation wrote after a `seq`, in the order in which it last did."""
        sql = (
            "SELECT t.value FROM entry e JOIN trace t ON t.entry = e.n WHERE t.kind = 'written'"
            " AND e.thread = ? AND e.seq > ? GROUP BY t.value ORDER BY max(e.seq), max(e.n), t.value"
        )
        return self._database.values(sql, [conversation, place])

    def paths_beginning(self, text: str, where: Filter, limit: int) -> list[str]:
        """Files read or written in matching messages whose path, from the start of any part, begins with a text.

        Case is ignored; the result is sorted."""
        condition, values = where_clause(where)
        sql = (
            "SELECT DISTINCT t.value FROM trace t JOIN entry e ON e.n = t.entry"
            f" WHERE t.kind IN ({marks(_FILES)}) AND '/' || lower(replace(t.value, ?, '/')) LIKE ? ESCAPE '!'"
            f" AND {condition} ORDER BY t.value {bounds(limit)}"
        )
        begins = text.replace("\\", "/").lower()
        return self._database.values(sql, [*_FILES, "\\", f"%/{literal(begins)}%", *values])

    def of(self, conversation: str, places: range | None = None) -> list[Trace]:
        """The traces of a conversation in order, optionally only those of messages whose `seq` is in the range."""
        within, values = places_clause(places)
        rest = (
            f"FROM trace t JOIN entry e ON e.n = t.entry WHERE e.kind = ? AND e.thread = ? AND {within}"
            " ORDER BY e.n, t.place"
        )
        return self._database.records(_LEFT_IN, rest, [Kind.MESSAGE, conversation, *values])

    def add(self, traces: Sequence[Trace], numbers: Mapping[str, int]) -> None:
        """Insert the traces of messages. `numbers` maps message ids to entry numbers."""
        places: dict[str, int] = {}
        rows = []
        for trace in traces:
            place = places[trace.message] = places.get(trace.message, -1) + 1
            rows.append((numbers[trace.message], place, trace.kind, _name(trace), trace.value))
        sql = "INSERT INTO trace (entry, place, kind, name, value) VALUES (?, ?, ?, ?, ?)"
        self._database.change_many(sql, rows)

    def delete(self, entries: Iterable[int]) -> None:
        self._database.change_many("DELETE FROM trace WHERE entry = ?", [(n,) for n in entries])


def _name(trace: Trace) -> str:
    """The name by which a trace is looked up: a file's name, or the first word of a command."""
    words = path_parts(trace.value)[-1:] if trace.kind in _FILES else tuple(trace.value.split(maxsplit=1)[:1])
    return words[0] if words and trace.kind != "error" else ""
