"""The columns that filters compare, in memory and by entry number: filters a hundred thousand entries in a millisecond.

Each column is read once, from a covering index, so that no text is read; then it is extended. Deleted entries stay
in the arrays: neither words nor vectors match them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from ...domain.arrays import np
from ...domain.entries import ALL, Passing
from ...domain.filters import Filter
from ...domain.when import to_ms
from ..mirror import Mirror
from ..where import CONFINED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...domain.entries import Numbers
    from ..database import Database

    Flags = NDArray[np.bool_]

SOURCE, PROJECT, THREAD = "surface, kind", "project", "thread"
COMPARED = {"kinds", "projects", "surfaces", "threads", "created_after", "created_before"}
VISIBILITY = {"public_or_in", "repository_of"}
MAX_KNOWN_FILTERS = 8
"""One call applies the same filter several times, and the next call often does too."""
PRIVATE, REPOSITORY = "private = 1", CONFINED


class EntryFacts:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._mirror = Mirror(lambda: _KnownFacts(database))

    def passing(self, where: Filter) -> Passing | None:
        """The entries that pass the filter.

        None if the filter only restricts visibility, or compares columns that are not in memory."""
        fields = {name for name, value in where._asdict().items() if value not in ((), None)} - VISIBILITY
        if not fields or not fields.issubset(COMPARED) or self._database.in_transaction:
            return None  # a transaction may see entries that are never committed
        with self._mirror.at(self._database.generation) as facts:
            return facts.passing(where)


class _KnownFacts:
    """The columns that were read, up to `_count` and to the `_moved`th change of an entry."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._count = self._moved = 0
        self._known: dict[Filter, Passing] = {}  # oldest first
        self._created = np.zeros(0, np.int64)
        self._codes = {column: np.zeros(0, np.int32) for column in (SOURCE, PROJECT, THREAD)}
        self._flagged = {flag: np.zeros(0, bool) for flag in (PRIVATE, REPOSITORY)}
        self._values: dict[str, dict[tuple[Any, ...], int]] = {column: {} for column in self._codes}

    def passing(self, where: Filter) -> Passing:
        self._follow()
        if where not in self._known:
            self._known[where] = Passing(self._flags(where), self._created)
            if len(self._known) > MAX_KNOWN_FILTERS:
                del self._known[next(iter(self._known))]
        return self._known[where]

    def _flags(self, where: Filter) -> Flags:
        flags = np.ones(self._count, bool)
        if where.surfaces or where.kinds:
            flags &= self._having(SOURCE, lambda s, k: _among(s, where.surfaces) and _among(k, where.kinds))
        if where.projects:
            flags &= self._having(PROJECT, lambda project: project in where.projects)
        if where.threads:
            threads = set(where.threads)
            flags &= self._having(THREAD, lambda thread: thread in threads)
        if where.created_after is not None:
            flags &= self._created[: self._count] >= to_ms(where.created_after)
        if where.created_before is not None:
            flags &= self._created[: self._count] < to_ms(where.created_before)
        if where.public_or_in is not None and self._flagged[PRIVATE].any():
            own = self._having(THREAD, lambda thread: thread == where.public_or_in)
            flags &= own | ~self._flagged[PRIVATE][: self._count]
        if where.repository_of is not None and self._flagged[REPOSITORY].any():
            own = self._having(PROJECT, lambda project: project == where.repository_of)
            flags &= own | ~self._flagged[REPOSITORY][: self._count]
        return flags

    def _having(self, column: str, passes: Callable[..., bool]) -> Flags:
        """Flags of the entries whose value passes. Unused numbers do not pass."""
        # Code 0 belongs to numbers without an entry.
        passing = np.array([False, *(passes(*value) for value in self._values[column])], bool)
        flags: Flags = passing[self._codes[column][: self._count]]
        return flags

    def _follow(self) -> None:
        """Read the rows that any process added or changed since the last call."""
        last, moved = self._database.rows(
            "SELECT (SELECT coalesce(max(n), 0) FROM entry), (SELECT coalesce(max(m), 0) FROM moved)"
        )[0]
        if last + 1 == self._count and moved == self._moved:
            return
        self._known.clear()
        self._reserve(last + 1)
        if not self._count:
            self._read_indexes(last)
        elif last >= self._count:
            self._read_rows(f"n >= {self._count:d} AND n <= {last:d}")
        if moved > self._moved:
            self._read_rows(f"n IN (SELECT entry FROM moved WHERE m > {self._moved:d}) AND n <= {last:d}")
        self._count, self._moved = last + 1, moved

    def _read_indexes(self, last: int) -> None:
        # Later additions wait for the next call. `+n` makes SQLite read the index instead of the table.
        condition = f"+n <= {last:d}"
        for column in self._codes:
            sql = f"SELECT {column}, json_group_array(n) FROM entry WHERE {condition} GROUP BY {column}"
            for *value, listed in self._database.rows(sql):
                self._set(column, as_numbers(listed), tuple(value))
        # CAST: SQLite columns also accept fractions, which another program may have written.
        times_of = "json_group_array(CAST(created_at AS INTEGER))"
        sql = f"SELECT json_group_array(n), {times_of} FROM entry WHERE {condition}"
        ((listed, times),) = self._database.rows(sql)
        self._created[as_numbers(listed)] = as_numbers(times)
        for flag, flagged in self._flagged.items():
            sql = f"SELECT json_group_array(n) FROM entry WHERE {flag} AND {condition}"
            flagged[as_numbers(self._database.value(sql))] = True

    def _read_rows(self, condition: str) -> None:
        """Read new and changed rows. There are few of them, so reading the indexes would take longer."""
        columns = f"n, CAST(created_at AS INTEGER), {PRIVATE}, {REPOSITORY}, {SOURCE}, {PROJECT}, {THREAD}"
        sql = f"SELECT {columns} FROM entry WHERE {condition}"
        for n, created_ms, is_private, is_repository, *source, project, thread in self._database.rows(sql):
            self._created[n] = created_ms
            self._flagged[PRIVATE][n], self._flagged[REPOSITORY][n] = is_private, is_repository
            self._set(SOURCE, n, tuple(source))
            self._set(PROJECT, n, (project,))
            self._set(THREAD, n, (thread,))

    def _set(self, column: str, numbers: Numbers | int, value: tuple[Any, ...]) -> None:
        values = self._values[column]
        self._codes[column][numbers] = values.setdefault(value, len(values) + 1)

    def _reserve(self, size: int) -> None:
        # Grow by half, so that a few new entries do not copy all arrays each time.
        more = max(size, len(self._created) * 3 // 2) - len(self._created)
        if size > len(self._created):
            self._created = np.pad(self._created, (0, more))
            self._codes = {column: np.pad(codes, (0, more)) for column, codes in self._codes.items()}
            self._flagged = {flag: np.pad(flagged, (0, more)) for flag, flagged in self._flagged.items()}


def as_numbers(listed: str) -> Numbers:
    """Parse a JSON array of numbers made by SQLite. This costs a quarter of fetching one row per number."""
    return np.fromstring(listed[1:-1], np.int64, sep=",")


def highest_numbers(database: Database, sql: str, parameters: Sequence[Any], limit: int) -> Numbers:
    """The highest `n` that a query selects, the highest first."""
    if limit == ALL:  # FTS5 reads forwards in three quarters of the time it needs backwards
        return as_numbers(database.value(f"SELECT json_group_array(n) FROM ({sql} ORDER BY n)", parameters))[
            ::-1
        ]
    listed = f"SELECT json_group_array(n) FROM ({sql} ORDER BY n DESC LIMIT ?)"
    return as_numbers(database.value(listed, [*parameters, limit]))


def _among(value: str, wanted: Collection[str]) -> bool:
    return not wanted or value in wanted
