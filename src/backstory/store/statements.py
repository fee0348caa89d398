"""What every part of the store needs of a backend: to run statements, alone or all together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

Row = Sequence[Any]

_AT_ONCE = 500
"""Values in one statement; SQLite before 3.32 took 999."""


class Statements(ABC):
    """SQL is written once, with `?` for parameters, in what SQLite and PostgreSQL have in common."""

    @abstractmethod
    def _rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run one statement and fetch what it returns."""

    @abstractmethod
    def _change(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Run one statement inside a transaction and say how many rows it touched."""

    @abstractmethod
    def _change_many(self, sql: str, rows: Sequence[Row]) -> None:
        """Run one statement inside a transaction, once for each row of parameters."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """Everything inside happens, or none of it does. Nests."""

    def _joined(self) -> AbstractContextManager[None]:
        """A part of the transaction that is open, which fails with it, or else one of its own. For what is done
        many times in one transaction, where nesting costs more than the work."""
        return self.transaction()

    @abstractmethod
    def _among(self, column: str, numbers: Iterable[int]) -> tuple[str, Any]:
        """A condition that a column holds one of many numbers, and its one parameter."""


def batches(values: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Values in portions that fit into one statement, each with the `?` marks it needs."""
    for start in range(0, len(values), _AT_ONCE):
        some = values[start : start + _AT_ONCE]
        yield ", ".join("?" * len(some)), some
