"""The interface between the store's rooms and a database: statements and transactions.

SQL is written once, with `?` for parameters, in the subset that SQLite and PostgreSQL share. Where the two differ,
the database provides the wording.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from ..domain.entries import Passing
from ..domain.erasure import Residue
from ..domain.filters import Filter
from .columns import Columns, R

Row = Sequence[Any]

AT_ONCE = 500
"""Values in one statement; SQLite before 3.32 took 999."""

OUTSIDE = "a change is part of a transaction"


class PoolFigures(NamedTuple):
    """The connections of a pool at one moment."""

    used: int
    idle: int
    awaited: int
    """Callers that wait for a connection."""
    standby_searches: int = 0
    """Searches on a standby since the pool was opened."""
    primary_searches: int = 0
    """Searches that had to run on the primary, because the standby was behind, away or refused."""


NO_CONNECTIONS = PoolFigures(0, 0, 0)
"""The figures of a store without a pool."""


class Database(ABC):
    skip_locked = ""
    """The end of a SELECT that makes two concurrent readers take different rows."""
    generation = 0
    """A number that changes when another database replaces this one; data derived from the former one is then void."""

    @abstractmethod
    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run one statement and return its rows."""

    def records(self, columns: Columns[R], rest: str, parameters: Sequence[Any] = ()) -> list[R]:
        """Select a record's columns; `rest` begins with FROM."""
        return columns.read_all(self.rows(f"SELECT {columns.selected} {rest}", parameters))

    def values(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Run a statement with one column and return its values."""
        return [value for (value,) in self.rows(sql, parameters)]

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """Run a statement with one column and one row and return the value."""
        (value,) = self.values(sql, parameters)
        return value

    def pairs(self, sql: str, parameters: Sequence[Any] = ()) -> dict[Any, Any]:
        """Run a statement with two columns and return a dict from the first to the second."""
        rows: list[Any] = self.rows(sql, parameters)
        return dict(rows)

    def distinct(self, table: str, column: str, condition: str = "TRUE") -> list[Any]:
        """The values of an indexed column in their order, each looked up after the one before: DISTINCT would read the
        whole index. The condition is on `each.value`."""
        sql = (
            f"WITH RECURSIVE each (value) AS (SELECT min({column}) FROM {table} UNION ALL"
            f" SELECT (SELECT min(t.{column}) FROM {table} t WHERE t.{column} > each.value) FROM each"
            f" WHERE each.value IS NOT NULL) SELECT value FROM each WHERE value IS NOT NULL AND {condition} ORDER BY value"
        )
        return self.values(sql)

    @abstractmethod
    def change(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Run one statement inside a transaction and return the number of affected rows."""

    @abstractmethod
    def change_many(self, sql: str, rows: Sequence[Row]) -> None:
        """Run one statement inside a transaction, once for each row of parameters."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """Everything inside happens, or none of it does; committed when it ends. Nests."""

    @property
    @abstractmethod
    def in_transaction(self) -> bool:
        """True inside a transaction of this thread."""

    def joined(self) -> AbstractContextManager[None]:
        """Join the open transaction, or start one if there is none. The joined part fails with the whole.

        Nested transactions would be expensive: at every savepoint FTS5 flushes its pending words, and PostgreSQL
        needs two more round trips."""
        return nullcontext() if self.in_transaction else self.transaction()

    @abstractmethod
    def among(self, column: str, numbers: Iterable[int]) -> tuple[str, Any]:
        """A condition that a column equals one of many numbers, and its one parameter."""

    @abstractmethod
    def chosen_entries(self, numbers: Iterable[int]) -> tuple[str, Any]:
        """A FROM clause for the entries `e` with these numbers, and its one parameter.

        Each entry is looked up by its number, regardless of other conditions."""

    def passing(self, where: Filter) -> Passing | None:
        """The entries that a filter lets through, if that is known without asking for each."""
        return None

    @abstractmethod
    def json_array(self, values: Sequence[str]) -> str:
        """An expression that gives SQL values as the text of one JSON array, without line breaks."""

    @abstractmethod
    def byte_length(self, column: str) -> str:
        """An expression that gives the length of a text in bytes of UTF-8."""

    @abstractmethod
    def listed(self, column: str) -> str:
        """An expression that gives the numbers of a group as one text, with commas between them: reading it takes a
        quarter of the time of a row for each."""

    @abstractmethod
    def reserve(self, count: int) -> int:
        """Reserve `count` consecutive entry numbers for the current transaction and return the first."""

    @property
    def is_read_only(self) -> bool:
        """True if the store can be searched but not written."""
        return False

    def version(self) -> Hashable | None:
        """A value that changes with every commit of any process; None if the database cannot provide one."""
        return None

    @abstractmethod
    def last_number(self) -> int:
        """The highest that an entry ever had."""

    @abstractmethod
    def continue_after(self, last_number: int) -> None:
        """Let new rows get numbers after the existing ones, and entries numbers after `last_number`. Idempotent."""

    @abstractmethod
    def has_table(self, name: str) -> bool: ...

    @abstractmethod
    def run_script(self, script: str) -> None:
        """Run the statements of a migration inside a transaction."""

    @abstractmethod
    def column_names(self, table: str) -> list[str]: ...

    @abstractmethod
    def used_bytes(self) -> int:
        """The size of the stored data, excluding space freed by deletions."""

    @abstractmethod
    def total_bytes(self) -> int:
        """The size of the database on disk."""

    @abstractmethod
    def checks(self) -> dict[str, Callable[[], list[str]]]:
        """For each part that can be damaged, a function that lists its faults."""

    def made_at_ms(self) -> int:
        """The creation time of the store."""
        return int(self.value("SELECT min(applied_at) FROM migration"))

    def moment(self) -> str:
        """An identifier of this transaction, different from that of every other."""
        return os.urandom(8).hex()

    @abstractmethod
    def overwrite(self, residue: Residue, rest: Callable[[], None]) -> None:
        """Overwrite the bytes that rows left which are deleted, and call `rest` between transactions. Not within one."""

    def locked_bytes(self, residue: Residue) -> int:
        """The size of the largest table that `overwrite` locks for all others; 0 if it locks none for long."""
        return 0

    def overwrite_everywhere(self, rest: Callable[[], None]) -> list[str]:
        """Overwrite the bytes in all stores of this database that have some. Returns the names of these stores.

        Empty in a database that is one store, which `overwrite` handles."""
        return []

    def pending_erasures(self) -> list[str]:
        """The names of the stores of this database with bytes to overwrite. Empty in a database that is one store."""
        return []

    @abstractmethod
    def backup(self, target: Path, *, is_checked: bool) -> int:
        """Write a consistent copy while other processes continue.

        The file appears when it is complete; with `is_checked` only if every page and index is sound and every table
        has all its rows. Returns the number of rows, or 0 without a check."""

    @abstractmethod
    def close(self) -> None: ...


def batches(values: Iterable[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Values in portions that fit into one statement, each with the `?` marks it needs."""
    listed = list(values)
    for start in range(0, len(listed), AT_ONCE):
        some = listed[start : start + AT_ONCE]
        yield ", ".join("?" * len(some)), some
