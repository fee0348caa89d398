"""Memories, their former values, and counts per kind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ..domain.census import ChannelTally, HourTally, Tally
from ..domain.entries import ALL, ListedMemory, numbers_of
from ..domain.filters import Filter, Kind, Order, Page
from ..domain.memory_trail import is_followed, note_changed, note_read
from ..domain.numbers import common
from ..domain.records import Former, Memory, Priority
from ..domain.when import to_ms
from .columns import FLAG, FORMER, MEMORY, PRIORITY, TIME, Columns, marks
from .database import Database
from .where import MEMORIES, bounds, literal, order_clause, where_clause
from .writing import EntryWriter

if TYPE_CHECKING:
    from ..domain.entries import Numbers

_LISTED = Columns(ListedMemory, entry="e.n", key="e.key")
_TALLY = Columns(
    Tally, {"priority": PRIORITY, "first": TIME, "last": TIME}, category="e.category", priority="e.priority",
    total="count(*)", first="min(e.created_at)", last="max(e.updated_at)",
)  # fmt: skip
_HOUR = Columns(
    HourTally, {"priority": PRIORITY}, hour="e.created_at / 3600000", category="e.category",
    priority="e.priority", total="count(*)",
)  # fmt: skip


class MemoryRoom:
    def __init__(self, database: Database, writer: EntryWriter) -> None:
        self._database = database
        self._writer = writer

    def put(self, memories: Sequence[Memory]) -> None:
        """Insert memories, or replace those with the same id. A replaced memory retains its entry number."""
        note_changed(memory.id for memory in memories)
        with self._database.joined():
            if len(memories) == 1:
                self._writer.put(memories[0])
            else:
                self._writer.put_all(memories)

    def find(self, where: Filter, page: Page) -> list[Memory]:
        condition, values = where_clause(where)
        order = f"ORDER BY {order_clause(page.order)}"
        chosen = f"{MEMORIES} AND {condition}"
        if page.limit is not None or page.offset:
            # numbers are sorted and cut first, so that the texts of other pages are never read
            chosen = (
                f"e.n IN (SELECT e.n FROM entry e WHERE {chosen} {order} {bounds(page.limit, page.offset)})"
            )
        memories = self._database.records(MEMORY, f"FROM entry e WHERE {chosen} {order}", values)
        note_read(memory.id for memory in memories)
        return memories

    def ids_beginning(self, text: str, limit: int) -> list[str]:
        sql = f"SELECT e.id FROM entry e WHERE {MEMORIES} AND substr(e.id, 1, ?) = ? ORDER BY e.id LIMIT ?"
        return self._database.values(sql, [len(text), text, limit])

    def stamps(self, where: Filter) -> list[tuple[str, int]]:
        """Id and time of the last change in milliseconds of each memory that matches, by id."""
        condition, values = where_clause(where)
        sql = f"SELECT e.id, e.updated_at FROM entry e WHERE {MEMORIES} AND {condition} ORDER BY e.id"
        return [(id, int(at)) for id, at in self._database.rows(sql, values)]

    def projects(self) -> list[str]:
        """The projects that memories belong to."""
        return [project for project in self._distinct("project") if project]

    def projects_of(self, where: Filter) -> list[str]:
        """The projects of the memories that match."""
        condition, values = where_clause(where)
        sql = f"SELECT DISTINCT e.project FROM entry e WHERE {MEMORIES} AND {condition}"
        return self._database.values(sql, values)

    def surfaces(self) -> list[str]:
        """The surfaces that memories were saved through."""
        return self._distinct("surface")

    def _distinct(self, column: str) -> list[str]:
        of_memory = f"EXISTS (SELECT 1 FROM entry e WHERE e.{column} = each.value AND {MEMORIES})"
        return self._database.distinct("entry", column, of_memory)

    def delete(self, where: Filter) -> int:
        """Delete the matching memories with all derived data. Returns their number."""
        condition, values = where_clause(where)
        with self._database.joined():
            if is_followed():
                note_changed(id for id, _ in self.stamps(where))
            return self._writer.delete(f"{MEMORIES} AND {condition}", values)

    def listing(self, where: Filter, order: Order) -> list[ListedMemory]:
        """Memories that match, in order."""
        condition, values = where_clause(where)
        rest = f"FROM entry e WHERE {MEMORIES} AND {condition} ORDER BY {order_clause(order)}"
        return self._database.records(_LISTED, rest, values)

    def numbers(self, where: Filter, order: Order, among: Numbers | None, ordered: int = ALL) -> Numbers:
        """Entry numbers of matching memories: at least the first `ordered` in order, then the rest in any order.

        With `among`, an ascending array, only these entries are considered."""
        passing = self._database.passing(where._replace(kinds=(Kind.MEMORY,)))
        if among is not None and passing is not None and order is Order.NEWEST:
            return passing.newest(among[::-1], ordered)
        condition, values = where_clause(where)
        source = "entry e"
        if among is not None:
            if where.channels:
                among = self._in_channels(among, where.channels)
            source, chosen = self._database.chosen_entries(among.tolist())
            values = [chosen, *values]
        sql = f"SELECT e.n FROM {source} WHERE {MEMORIES} AND {condition} ORDER BY {order_clause(order)}"
        return numbers_of(self._database.values(sql, values))

    def _in_channels(self, numbers: Numbers, channels: Sequence[str]) -> Numbers:
        """The numbers of memories in one of the channels.

        Channels have an index, and reading it is much faster than checking every row that contains a word."""
        sql = f"SELECT e.n FROM entry e WHERE {MEMORIES} AND e.channel || '' IN ({marks(channels)}) AND e.channel IS NOT NULL"
        return common(numbers, numbers_of(sorted(self._database.values(sql, channels))))

    def with_metadata(self, field: str) -> dict[int, str]:
        """Memories whose metadata may have this field: entry number and metadata as JSON."""
        # matches the condition of a partial index: memories with any
        sql = (
            f"SELECT e.n, e.metadata FROM entry e WHERE {MEMORIES} AND e.metadata <> '{{}}'"
            " AND e.metadata LIKE ? ESCAPE '!'"
        )
        return self._database.pairs(sql, [f"%{literal(json.dumps(field))}%"])

    def count_by_session(self, where: Filter) -> dict[str, int]:
        """The number of matching memories per session."""
        condition, values = where_clause(where)
        sql = (
            f"SELECT e.thread, count(*) FROM entry e WHERE {MEMORIES} AND e.thread IS NOT NULL"
            f" AND {condition} GROUP BY e.thread"
        )
        return self._database.pairs(sql, values)

    def tally(self, where: Filter) -> list[Tally]:
        condition, values = where_clause(where)
        rest = f"FROM entry e WHERE {MEMORIES} AND {condition} GROUP BY e.category, e.priority"
        return self._database.records(_TALLY, rest, values)

    def tally_channels(self, where: Filter) -> list[ChannelTally]:
        """The number of matching memories by channel, session, category, priority and privacy."""
        condition, values = where_clause(where)
        columns = Columns(
            ChannelTally, {"priority": PRIORITY, "is_private": FLAG, "first": TIME, "last": TIME},
            channel="e.channel", session="e.thread", category="e.category", priority="e.priority",
            is_private="e.private", total="count(*)", bytes=f"sum({self._database.byte_length('e.text')})",
            first="min(e.created_at)", last="max(e.updated_at)",
        )  # fmt: skip
        alike = "e.channel, e.thread, e.category, e.priority, e.private"
        rest = f"FROM entry e WHERE {MEMORIES} AND {condition} GROUP BY {alike} ORDER BY {alike}"
        return self._database.records(columns, rest, values)

    def count_updated(self, where: Filter, since: datetime) -> int:
        """The number of matching memories that were last changed at or after `since`."""
        condition, values = where_clause(where)
        again = "EXISTS (SELECT 1 FROM former f WHERE f.entry = e.n)"
        sql = (
            f"SELECT count(*) FROM entry e WHERE {MEMORIES} AND e.updated_at >= ? AND {again} AND {condition}"
        )
        return int(self._database.value(sql, [to_ms(since), *values]))

    def former_channels(self, where: Filter) -> list[str]:
        """Former channels of matching memories. Private former values are included only for their own session."""
        condition, values = where_clause(where)
        sql = (
            "SELECT DISTINCT f.channel FROM former f JOIN entry e ON e.n = f.entry"
            f" WHERE {MEMORIES} AND f.channel IS NOT NULL AND (f.private = 0 OR e.thread = ?) AND {condition}"
        )
        return self._database.values(sql, [where.public_or_in or "", *values])

    def tally_hours(self, where: Filter) -> list[HourTally]:
        """The number of matching memories per hour, in chronological order."""
        condition, values = where_clause(where)
        rest = f"FROM entry e WHERE {MEMORIES} AND {condition} GROUP BY hour, e.category, e.priority ORDER BY hour"
        return self._database.records(_HOUR, rest, values)

    def leading(self, where: Filter, tallies: Sequence[Tally], each: int) -> list[str]:
        """Ids of the first memories of each category, by priority and then latest change, given the counts of each kind."""
        condition, values = where_clause(where)
        chosen: list[str] = []
        room: dict[str | None, int] = {}
        for tally in sorted(tallies, key=lambda tally: list(Priority).index(tally.priority)):
            category = tally.category
            left = room.setdefault(category, each)
            if not left:
                continue
            same = "e.category IS NULL" if category is None else "e.category = ?"
            sql = (
                f"SELECT e.id FROM entry e WHERE {MEMORIES} AND {same} AND e.priority = ? AND {condition}"
                " ORDER BY e.updated_at DESC, e.n DESC LIMIT ?"
            )
            group = [] if category is None else [category]
            ids = self._database.values(sql, [*group, tally.priority, *values, left])
            chosen += ids
            room[category] -= len(ids)
        return chosen

    def add_former(self, memory: Memory) -> None:
        """Save the current value of a memory to its history, before it is replaced."""
        sql = (
            "INSERT INTO former (entry, place, text, category, priority, channel, metadata, private,"
            " saved_at) SELECT n, (SELECT count(*) + 1 FROM former f WHERE f.entry = n), text, category, priority, channel,"
            " metadata, private, updated_at FROM entry WHERE id = ?"
        )
        with self._database.joined():
            self._database.change(sql, [memory.id])

    def former(self, id: str) -> list[Former]:
        """The former values of a memory, oldest first."""
        entry = "SELECT n FROM entry WHERE id = ?"
        return self._database.records(FORMER, f"FROM former WHERE entry = ({entry}) ORDER BY place", [id])

    def openings(self, where: Filter, length: int) -> list[tuple[str, str]]:
        """The beginnings of current and former values, each with the memory's id."""
        condition, values = where_clause(where)
        sql = (
            f"SELECT e.id, substr(e.text, 1, {length:d}) FROM entry e WHERE {MEMORIES} AND {condition} UNION ALL"
            f" SELECT e.id, substr(f.text, 1, {length:d}) FROM former f JOIN entry e ON e.n = f.entry"
            f" WHERE {MEMORIES} AND {condition}"
        )
        return [(id, text) for id, text in self._database.rows(sql, values * 2)]

    def count_former(self, where: Filter) -> dict[str, int]:
        """The number of former values of each matching memory that has any."""
        condition, values = where_clause(where)
        if where.public_or_in is not None:  # a value may have been private before the memory became public
            condition += " AND (f.private = 0 OR e.thread = ?)"
            values.append(where.public_or_in)
        sql = (
            "SELECT e.id, count(*) FROM former f JOIN entry e ON e.n = f.entry"
            f" WHERE {MEMORIES} AND {condition} GROUP BY e.id"
        )
        return self._database.pairs(sql, values)
