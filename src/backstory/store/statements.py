"""What every part of the store needs of a backend: to run statements, alone or all together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

Row = Sequence[Any]


class Statements(ABC):
    """SQL is written once, with `?` for parameters, in what SQLite and PostgreSQL have in common."""

    @abstractmethod
    def _rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Run one statement and fetch what it returns."""

    @abstractmethod
    def _change(self, sql: str, parameters: Sequence[Any] = ()) -> int:
        """Run one statement inside a transaction and say how many rows it touched."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """Everything inside happens, or none of it does. Nests."""

    @abstractmethod
    def _among(self, column: str, numbers: Iterable[int]) -> tuple[str, Any]:
        """A condition that a column holds one of many numbers, and its one parameter."""
