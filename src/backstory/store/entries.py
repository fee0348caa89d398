"""Entries: what search numbers. Every memory and message is one, with a number that is never used again, so that a
hundred thousand can be ranked without loading one text."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..domain.census import ProjectActivity
from ..domain.entries import COUNTED, EntryText, IndexedText, Outline, Passing, numbers_of
from ..domain.filters import EVERYTHING, Filter, Kind
from ..domain.records import QUIET_ROLES, Entry, Memory, Message, heading
from ..domain.when import from_ms, to_ms
from .columns import MEMORY, MESSAGE, Columns
from .database import Database
from .where import where_clause

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..domain.entries import Numbers

SHARED_COLUMNS = (
    "id", "kind", "text", "heading", "thread", "seq", "role", "speaker", "project", "surface", "private",
    "created_at", "updated_at", "summary", "trust",
)  # fmt: skip
COLUMNS = (*SHARED_COLUMNS, "key", "category", "priority", "channel", "tags", "metadata")
"""Those that only memories have stand last; in a message they are NULL."""
SPOKEN = f"role NOT IN {QUIET_ROLES}"

_NUMBERED = ("n", *COLUMNS)
_KIND = _NUMBERED.index("kind")
_memory, _message = MEMORY.picker(_NUMBERED), MESSAGE.picker(_NUMBERED)
_INDEXED = Columns(IndexedText, entry="e.n", text=f"substr(e.text, 1, {COUNTED})", heading="e.heading")
_OUTLINE = Columns(
    Outline, entry="e.n", thread="e.thread", seq="e.seq", role="e.role", speaker="e.speaker",
    size="length(e.text)", project="e.project", created_ms="e.created_at", surface="e.surface",
)  # fmt: skip


class EntryRoom:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._code_of: NDArray[np.int32] | None = None
        self._codes: dict[str | None, int] = {None: 0}
        self._threads: list[str | None] = [None]
        self._generation = database.generation
        self._following = threading.Lock()

    def count(self, where: Filter) -> int:
        """How many entries match."""
        condition, values = where_clause(where)
        return int(self._database.value(f"SELECT count(*) FROM entry e WHERE {condition}", values))

    def tally_hours(self, where: Filter) -> list[tuple[int, int]]:
        """How many entries that match were made in each hour since 1970 in which one was, in the order of time."""
        # what may be hidden is little and has indexes of its own: looked at apart, so that no other row is read
        unhidden, bounds = where_clause(where._replace(public_or_in=None, repository_of=None))
        visible, values = where_clause(where)
        hours = "SELECT e.created_at / 3600000 AS hour, count(*) FROM {} WHERE {} GROUP BY hour"
        counts = self._database.pairs(hours.format("entry e", unhidden), bounds)
        apart = "SELECT n FROM entry WHERE private = 1 UNION SELECT n FROM entry WHERE trust = 'project'"
        source, numbers = self._database.chosen_entries(self._database.values(apart))
        hidden = hours.format(source, f"{unhidden} AND ({visible}) IS NOT TRUE")
        for hour, count in self._database.rows(hidden, [numbers, *bounds, *values]):
            counts[hour] -= count
        return [(hour, count) for hour, count in sorted(counts.items()) if count]

    def size_hint(self) -> int:
        """About how many entries there are; never less, cheap to ask."""
        return int(self._database.value("SELECT coalesce(max(n), 0) FROM entry"))

    def passing(self, where: Filter) -> Passing | None:
        """Those that match, if that is known without looking at each."""
        return self._database.passing(where)

    def projects(self) -> list[str]:
        """Those of all entries."""
        return self._database.distinct("entry", "project")

    def activity(self, project: str | None = None) -> list[ProjectActivity]:
        """How much each project has, or one of them, and when something of it last changed; messages count by their conversations."""
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
        """Those of all entries."""
        return self._database.distinct("entry", "surface")

    def outlines(self, entries: Iterable[int], where: Filter) -> list[Outline]:
        """Outlines of those entries that match, in no particular order."""
        condition, values = where_clause(where)
        source, numbers = self._database.chosen_entries(entries)
        return self._database.records(_OUTLINE, f"FROM {source} WHERE {condition}", [numbers, *values])

    def sizes(self, entries: Iterable[int], where: Filter) -> list[tuple[int, int, bool]]:
        """Of those entries that match: the number, how many characters the text has, and whether nobody said or saved it,
        as what a tool printed; in no particular order."""
        condition, values = where_clause(where)
        source, numbers = self._database.chosen_entries(entries)
        sql = f"SELECT e.n, length(e.text), e.role IN {QUIET_ROLES} FROM {source} WHERE {condition}"
        return [(n, size, is_quiet) for n, size, is_quiet in self._database.rows(sql, [numbers, *values])]

    def readings(self, entries: Collection[int], where: Filter) -> list[EntryText]:
        """Outlines and texts of those entries that match, in no particular order."""
        if not entries:
            return []
        condition, values = where_clause(where)
        source, numbers = self._database.chosen_entries(entries)
        return self._texts(f"FROM {source} WHERE {condition}", [numbers, *values])

    def texts(self, entries: Iterable[int]) -> list[IndexedText]:
        """Of those that are there, in no particular order."""
        source, numbers = self._database.chosen_entries(entries)
        return self._database.records(_INDEXED, f"FROM {source}", [numbers])

    def _texts(self, rest: str, parameters: Sequence[Any]) -> list[EntryText]:
        rows = self._database.rows(f"SELECT {_OUTLINE.selected}, e.text {rest}", parameters)
        outlines = _OUTLINE.read_all([row[:-1] for row in rows])
        return [EntryText(outline, row[-1]) for outline, row in zip(outlines, rows, strict=True)]

    def prompts(self, places: Sequence[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """For places in conversations the last message of a user before each, where there is one."""
        before = (
            "SELECT e.n FROM entry e WHERE e.thread = p.thread AND e.role = 'user' AND e.seq < p.seq"
            " ORDER BY e.seq DESC LIMIT 1"
        )
        return {place: entry for place, entry in self._beside(places, before) if entry is not None}

    def replies(self, places: Sequence[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """For places of a user's messages the assistant's last one before the user speaks again, where there is one."""
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
        """What was said just before and after the given messages, in their conversations, if it matches."""
        places = {(o.thread, o.seq + step) for o in outlines for step in (-1, 1) if o.is_said}
        if not places:
            return []
        condition, values = where_clause(where)
        # CROSS: the places drive the join, so that each is one look-up in the index of (thread, seq)
        rest = (
            f"FROM (VALUES {', '.join(['(?, ?)'] * len(places))}) AS p CROSS JOIN entry e"
            f" WHERE e.thread = p.column1 AND e.seq = p.column2"
            f" AND e.kind = ? AND e.{SPOKEN} AND {condition}"
        )
        flat = [value for place in places for value in place]
        return self._texts(rest, [*flat, Kind.MESSAGE, *values])

    def load(self, entries: Iterable[int], where: Filter = EVERYTHING) -> dict[int, Entry]:
        """The records of those entries that are there, and match now: they may have changed since they were found."""
        if not (wanted := [*entries]):
            return {}
        condition, values = where_clause(where)
        source, numbers = self._database.chosen_entries(wanted)
        selected = ", ".join(f"e.{column}" for column in _NUMBERED)
        rows = self._database.rows(f"SELECT {selected} FROM {source} WHERE {condition}", [numbers, *values])
        return {row[0]: (_message if row[_KIND] == Kind.MESSAGE else _memory)(row) for row in rows}

    def threads(self, entries: Iterable[int]) -> list[str | None]:
        """For each entry the session or conversation it belongs to."""
        codes = self._thread_codes(numbers_of([*entries]))
        return [self._threads[code] for code in codes.tolist()]

    def all_threads(self, numbers: Numbers, among: Collection[str] = ()) -> set[str | None]:
        """The sessions and conversations, or those of them, that any of so many entries belong to."""
        import numpy as np

        codes = self._thread_codes(numbers)
        # looked up before the flags are made: another call may learn of more threads meanwhile
        wanted = [(thread, code) for thread in among if (code := self._codes.get(thread))]
        is_there = np.zeros(len(self._codes), bool)
        is_there[codes] = True
        if among:
            return {thread for thread, code in wanted if is_there[code]}
        return {self._threads[code] for code in np.flatnonzero(is_there).tolist()}

    def within(self, numbers: Numbers, threads: Collection[str]) -> Numbers:
        """Those of so many entries that belong to one of the sessions or conversations."""
        import numpy as np

        codes = self._thread_codes(numbers)
        own = [code for thread in threads if (code := self._codes.get(thread, 0))]
        wanted = np.zeros(len(self._codes), bool)
        wanted[own] = True
        found: Numbers = numbers[wanted[codes]]
        return found

    def _thread_codes(self, numbers: Numbers) -> NDArray[np.int32]:
        """Going from a message to its conversation by SQL reads the message's row. An array in memory knows as well, since
        a number is never used again and a message never moves: it is read once and then only continued. 0 is no thread."""
        import numpy as np

        with self._following:
            if self._generation != (generation := self._database.generation):
                self._generation, self._code_of = generation, None
            known = np.zeros(0, np.int32) if self._code_of is None else self._code_of
            last = int(numbers.max(initial=-1))
            if last >= len(known):
                # without a condition the index of threads holds all that is asked for, and no text is passed over
                newer, values = ("WHERE n >= ?", [len(known)]) if len(known) else ("", [])
                rows = self._database.rows(f"SELECT n, thread FROM entry {newer}", values)
                known = np.pad(known, (0, max([last, *(n for n, _ in rows)]) + 1 - len(known)))
                for n, thread in rows:
                    known[n] = self._codes.setdefault(thread, len(self._codes))
                self._code_of, self._threads = known, list(self._codes)
            codes: NDArray[np.int32] = known[numbers]
            return codes


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
