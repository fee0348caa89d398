"""Entries: memories and messages under a number that is never reused, for search.

Numbers let search rank a hundred thousand entries without loading a single text.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..domain.arrays import np
from ..domain.census import ProjectActivity
from ..domain.entries import COUNTED, EntryText, Outline, Passing, numbers_of
from ..domain.filters import EVERYTHING, Filter, Kind
from ..domain.records import QUIET_ROLES, Entry, Memory, Message, heading
from ..domain.when import from_ms, to_ms
from .columns import MEMORY, MESSAGE, Columns
from .database import Database
from .mirror import CommitMirror
from .shapes import EntryShapes
from .where import CONFINED, where_clause

if TYPE_CHECKING:
    from ..domain.entries import Numbers
    from .shapes import EntryShapes, Shapes

SHARED_COLUMNS = (
    "id", "kind", "text", "heading", "thread", "seq", "role", "speaker", "project", "surface", "private",
    "created_at", "updated_at", "summary", "trust",
)  # fmt: skip
COLUMNS = (*SHARED_COLUMNS, "key", "category", "priority", "channel", "tags", "metadata")
"""Columns that only memories use come last; in a message they are NULL."""
MAX_COUNTS = 100  # filters
SPOKEN = f"role NOT IN {QUIET_ROLES}"

_NUMBERED = ("n", *COLUMNS)
_KIND = _NUMBERED.index("kind")
_memory, _message = MEMORY.picker(_NUMBERED), MESSAGE.picker(_NUMBERED)
_OUTLINE = Columns(
    Outline, entry="e.n", thread="e.thread", seq="e.seq", role="e.role", speaker="e.speaker",
    size="(SELECT s.size FROM shape s WHERE s.n = e.n)", project="e.project", created_ms="e.created_at", surface="e.surface",
)  # fmt: skip
_READING = (
    "e.n, e.thread, e.seq, e.role, e.speaker, e.project, e.created_at, e.surface,"
    f" substr(e.text, 1, {COUNTED})"
)


class EntryRoom:
    def __init__(self, database: Database) -> None:
        self._database = database
        # a search that finds nothing counts what it looked through, which reads a whole index
        self._counts = CommitMirror[Filter, int](database, MAX_COUNTS)

    def count(self, where: Filter) -> int:
        """The number of entries that match."""
        return self._counts.get(where, lambda: self._count(where))

    def _count(self, where: Filter) -> int:
        unhidden, bounds = _without_hiding(where)
        source, condition, values = self._hidden(where)
        count = self._database.value(f"SELECT count(*) FROM entry e WHERE {unhidden}", bounds)
        return int(count) - int(
            self._database.value(f"SELECT count(*) FROM {source} WHERE {condition}", values)
        )

    def tally_hours(self, where: Filter) -> list[tuple[int, int]]:
        """The number of matching entries per hour since 1970, in chronological order, without empty hours."""
        unhidden, bounds = _without_hiding(where)
        source, condition, values = self._hidden(where)
        hours = "SELECT e.created_at / 3600000 AS hour, count(*) FROM {} WHERE {} GROUP BY hour"
        counts = self._database.pairs(hours.format("entry e", unhidden), bounds)
        for hour, count in self._database.rows(hours.format(source, condition), values):
            counts[hour] -= count
        return [(hour, count) for hour, count in sorted(counts.items()) if count]

    def _hidden(self, where: Filter) -> tuple[str, str, list[Any]]:
        """Entries that match but for what hides them: a source, a condition and its values.

        They are few and have indexes of their own. Counted apart, no other row has to be read."""
        apart = f"SELECT n FROM entry WHERE private = 1 UNION SELECT n FROM entry WHERE {CONFINED}"
        source, numbers = self._database.chosen_entries(self._database.values(apart))
        unhidden, bounds = _without_hiding(where)
        visible, values = where_clause(where)
        return source, f"{unhidden} AND ({visible}) IS NOT TRUE", [numbers, *bounds, *values]

    def size_hint(self) -> int:
        """An upper bound for the number of entries, cheap to compute."""
        return int(self._database.value("SELECT coalesce(max(n), 0) FROM entry"))

    def passing(self, where: Filter) -> Passing | None:
        """The entries that match, if that is known in memory; otherwise None."""
        return self._database.passing(where)

    def projects(self) -> list[str]:
        """The projects of all entries."""
        return self._database.distinct("entry", "project")

    def activity(self, project: str | None = None) -> list[ProjectActivity]:
        """Record counts and last change per project, optionally of one project. Messages count as their conversations."""
        condition, values = ("TRUE", []) if project is None else ("project = ?", [project])
        sql = (
            "SELECT project, sum(records), max(last_at) FROM ("
            f"SELECT project, count(*) AS records, max(updated_at) AS last_at FROM conversation WHERE {condition} GROUP BY project"
            " UNION ALL "
            f"SELECT project, count(*), max(updated_at) FROM entry WHERE kind = 'memory' AND {condition} GROUP BY project"
            ") AS parts GROUP BY project ORDER BY project"
        )
        return [
            ProjectActivity(project, int(records), from_ms(int(last_at)))
            for project, records, last_at in self._database.rows(sql, [*values, *values])
        ]

    def surfaces(self) -> list[str]:
        """The surfaces of all entries."""
        return self._database.distinct("entry", "surface")

    def outlines(self, entries: Iterable[int], where: Filter) -> list[Outline]:
        """Outlines of the entries that match, unordered."""
        condition, values = where_clause(where)
        source, numbers = self._database.chosen_entries(entries)
        return self._database.records(_OUTLINE, f"FROM {source} WHERE {condition}", [numbers, *values])

    def readings(self, entries: Collection[int], where: Filter) -> list[EntryText]:
        """Outlines and beginnings of texts of the entries that match, unordered."""
        if not entries:
            return []
        condition, values = where_clause(where)
        source, numbers = self._database.chosen_entries(entries)
        return self._texts(f"FROM {source} WHERE {condition}", [numbers, *values])

    def _texts(self, rest: str, parameters: Sequence[Any]) -> list[EntryText]:
        rows = self._database.rows(f"SELECT {_READING} {rest}", parameters)
        # the length of a short text is computed from the text: reading every size would add half of the time of the rows
        sizes = self._sizes([row[0] for row in rows if len(row[-1]) >= COUNTED])
        return [
            EntryText(
                Outline(n, thread, seq, role, speaker, sizes.get(n, len(text)), project, created_ms, surface),
                text,
            )
            for n, thread, seq, role, speaker, project, created_ms, surface, text in rows
        ]

    def _sizes(self, entries: Sequence[int]) -> dict[int, int]:
        if not entries:
            return {}
        among, numbers = self._database.among("n", entries)
        return self._database.pairs(f"SELECT n, size FROM shape WHERE {among}", [numbers])

    def prompts(self, places: Sequence[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """For each place in a conversation, the entry of the last user message before it, if any."""
        before = (
            "SELECT e.n FROM entry e WHERE e.thread = p.thread AND e.role = 'user' AND e.seq < p.seq"
            " ORDER BY e.seq DESC LIMIT 1"
        )
        return {place: entry for place, entry in self._beside(places, before) if entry is not None}

    def replies(self, places: Sequence[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """For each place of a user message, the assistant's last message before the user's next one, if any."""
        again = (
            "SELECT min(u.seq) FROM entry u WHERE u.thread = p.thread AND u.role = 'user' AND u.seq > p.seq"
        )
        last = (
            "SELECT e.n FROM entry e WHERE e.thread = p.thread AND e.role = 'assistant' AND e.seq > p.seq"
            f" AND e.seq < coalesce(({again}), {2**31 - 1}) ORDER BY e.seq DESC LIMIT 1"
        )
        return {place: entry for place, entry in self._beside(places, last) if entry is not None}

    def _beside(
        self, places: Sequence[tuple[str, int]], wanted: str
    ) -> list[tuple[tuple[str, int], int | None]]:
        if not places:
            return []
        marks = ", ".join(["(?, ?)"] * len(places))
        sql = f"WITH place (thread, seq) AS (VALUES {marks}) SELECT p.thread, p.seq, ({wanted}) FROM place p"
        rows = self._database.rows(sql, [value for place in places for value in place])
        return [((thread, seq), entry) for thread, seq, entry in rows]

    def neighbours(self, outlines: Sequence[Outline], where: Filter) -> list[EntryText]:
        """The messages directly before and after the given ones, if they match the filter."""
        places = {(o.thread, o.seq + step) for o in outlines for step in (-1, 1) if o.is_said}
        if not places:
            return []
        condition, values = where_clause(where)
        # CROSS: the places drive the join, so that each is one lookup in the index of (thread, seq)
        rest = (
            f"FROM (VALUES {', '.join(['(?, ?)'] * len(places))}) AS p CROSS JOIN entry e"
            f" WHERE e.thread = p.column1 AND e.seq = p.column2"
            f" AND e.kind = ? AND e.{SPOKEN} AND {condition}"
        )
        flat = [value for place in places for value in place]
        return self._texts(rest, [*flat, Kind.MESSAGE, *values])

    def load(self, entries: Iterable[int], where: Filter = EVERYTHING) -> dict[int, Entry]:
        """The records of the entries that exist and still match: they may have changed since the search."""
        if not (wanted := [*entries]):
            return {}
        condition, values = where_clause(where)
        source, numbers = self._database.chosen_entries(wanted)
        selected = ", ".join(f"e.{column}" for column in _NUMBERED)
        rows = self._database.rows(f"SELECT {selected} FROM {source} WHERE {condition}", [numbers, *values])
        return {row[0]: (_message if row[_KIND] == Kind.MESSAGE else _memory)(row) for row in rows}

    def shapes(self, last: int | None = None) -> Shapes:
        """Length, kind and thread of every entry, or at least of those up to `last`, as arrays by its number."""
        return self._shapes.latest() if last is None else self._shapes.up_to(last)

    def threads(self, entries: Iterable[int]) -> list[str | None]:
        """For each entry the session or conversation it belongs to."""
        numbers = numbers_of([*entries])
        shapes = self._shapes.up_to(int(numbers.max(initial=0)))
        return [shapes.thread_names[code] for code in shapes.thread[numbers].tolist()]

    def all_threads(self, numbers: Numbers, among: Collection[str] = ()) -> set[str | None]:
        """The sessions and conversations of the given entries, optionally only those in `among`."""
        shapes = self._shapes.up_to(int(numbers.max(initial=0)))
        is_there = np.zeros(len(shapes.thread_names), bool)
        is_there[shapes.thread[numbers]] = True
        names = {shapes.thread_names[code] for code in np.flatnonzero(is_there).tolist()}
        return names & {*among} if among else names

    def within(self, numbers: Numbers, threads: Collection[str]) -> Numbers:
        """The entries that belong to one of the sessions or conversations."""
        shapes = self._shapes.up_to(int(numbers.max(initial=0)))
        wanted = np.zeros(len(shapes.thread_names), bool)
        wanted[[code for code in self._shapes.codes(threads) if code < len(wanted)]] = True
        inside: Numbers = numbers[wanted[shapes.thread[numbers]]]
        return inside

    @cached_property
    def _shapes(self) -> EntryShapes:
        return EntryShapes(self._database)


def entry_row(entry: Entry) -> list[Any]:
    """Values in the order of COLUMNS."""
    return _message_row(entry) if isinstance(entry, Message) else _memory_row(entry)


def _memory_row(m: Memory) -> list[Any]:
    return [
        m.id, Kind.MEMORY.value, m.text, heading(m), m.session, 0, "", "", m.project, m.surface, int(m.private),
        to_ms(m.created_at), to_ms(m.updated_at), m.summary, m.trust.value, m.key, m.category,
        m.priority.value, m.channel, json.dumps(m.tags), json.dumps(dict(m.metadata)),
    ]  # fmt: skip


def _message_row(m: Message) -> list[Any]:
    at = to_ms(m.created_at)
    return [
        m.id, Kind.MESSAGE.value, m.text, heading(m), m.conversation, m.seq, m.role, m.speaker, m.project,
        m.surface, 0, at, at, "", m.trust.value, None, None, None, None, None, None,
    ]  # fmt: skip


def _without_hiding(where: Filter) -> tuple[str, list[Any]]:
    """The condition on an entry, without the rule of privacy."""
    return where_clause(where._replace(public_or_in=None, repository_of=None))
