"""Which conversations hold a word or touched a file, told without reading a text.

Going from a message to its conversation by SQL reads the message's row. A list in memory knows as well, since a
number is never used again and a message never moves: it is read once and then only continued."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from ..domain.census import SourceCount, UnreadCount
from ..domain.filters import ConversationFilter
from ..domain.records import ConversationOutline
from .histories import talks_clause
from .statements import Statements, batches

if TYPE_CHECKING:
    from ..domain.words import Unit


class Threads(Protocol):
    def outline_talks(self, which: ConversationFilter) -> list[ConversationOutline]:
        """In no particular order."""

    def find_titles(self, which: ConversationFilter) -> list[tuple[str, str]]:
        """Ids and titles, in no particular order."""

    def entries_holding(self, unit: Unit) -> list[int]:
        """Every entry whose text holds the unit, the newest first."""

    def threads_of(self, entries: Iterable[int]) -> list[str | None]:
        """For each entry the session or conversation it belongs to."""

    def touching_files(self, conversations: Sequence[str]) -> set[str]:
        """Those in which a file was read or written."""

    def count_sources(self) -> list[SourceCount]: ...

    def count_unread(self) -> list[UnreadCount]:
        """Conversations that are encrypted, whatever is known of them, or of which only their existence is."""


class ThreadRows(Statements):
    def __init__(self) -> None:
        super().__init__()
        self._thread_of: list[str | None] = []
        self._following = threading.Lock()

    @abstractmethod
    def entries_holding(self, unit: Unit) -> list[int]: ...

    def outline_talks(self, which: ConversationFilter) -> list[ConversationOutline]:
        condition, values = talks_clause(which)
        names = "id, project, surface, kind, parent, subject, updated_at"
        rows = self._rows(f"SELECT {names} FROM conversation WHERE {condition}", values)
        return [ConversationOutline._make(row) for row in rows]

    def find_titles(self, which: ConversationFilter) -> list[tuple[str, str]]:
        condition, values = talks_clause(which)
        return [
            (id, title)
            for id, title in self._rows(f"SELECT id, title FROM conversation WHERE {condition}", values)
        ]

    def threads_of(self, entries: Iterable[int]) -> list[str | None]:
        numbers = list(entries)
        known = self._thread_of
        if numbers and max(numbers) >= len(known):
            known = self._follow()
        return [known[n] for n in numbers]

    def _follow(self) -> list[str | None]:
        with self._following:
            start = len(self._thread_of)
            # without a condition the index of threads holds all that is asked for, and no text is passed over
            newer, values = ("WHERE n >= ?", [start]) if start else ("", [])
            rows = self._rows(f"SELECT n, thread FROM entry {newer}", values)
            more: list[str | None] = [None] * (max((row[0] for row in rows), default=start - 1) + 1 - start)
            shared: dict[str, str] = {}
            for n, thread in rows:
                more[n - start] = thread and shared.setdefault(thread, thread)
            self._thread_of = [*self._thread_of, *more]
            return self._thread_of

    def touching_files(self, conversations: Sequence[str]) -> set[str]:
        sql = (
            "SELECT id FROM conversation c WHERE id IN ({}) AND EXISTS (SELECT 1 FROM entry e"
            " JOIN trace t ON t.entry = e.n WHERE e.thread = c.id AND t.kind IN ('read', 'written'))"
        )
        return {
            row[0] for marks, some in batches(conversations) for row in self._rows(sql.format(marks), some)
        }

    def count_sources(self) -> list[SourceCount]:
        sql = "SELECT reader, problem, count(*) FROM source GROUP BY reader, problem ORDER BY reader, problem"
        return [SourceCount._make(row) for row in self._rows(sql)]

    def count_unread(self) -> list[UnreadCount]:
        sql = (
            "SELECT surface, completeness, count(*) FROM conversation c WHERE completeness <> 'full'"
            " AND (completeness = 'encrypted' OR NOT EXISTS (SELECT 1 FROM entry e WHERE e.thread = c.id))"
            " GROUP BY surface, completeness ORDER BY surface, completeness"
        )
        return [UnreadCount._make(row) for row in self._rows(sql)]
