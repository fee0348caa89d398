"""The text index: which entries hold a word. How it is kept is the one thing in search that each database does its
own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..domain.entries import Posting, TextFields
from ..domain.filters import Filter
from .columns import marks
from .database import Row
from .entries import COLUMNS

if TYPE_CHECKING:
    from ..domain.entries import Numbers
    from ..domain.words import Unit

LEAST_SHARE = 1000  # entries read for a unit however many units a query has

INSERT = (
    f"INSERT INTO entry ({', '.join(COLUMNS)}) SELECT {marks(COLUMNS)}"
    " WHERE NOT EXISTS (SELECT 1 FROM entry WHERE id = ?) RETURNING n"
)
"""An entry that is not there yet; its id is the last parameter."""


class Words(NamedTuple):
    """What the index knows an entry by."""

    n: int
    text: str
    heading: str
    key: str | None


class TextIndex(ABC):
    @abstractmethod
    def match(self, unit: Unit, fields: TextFields) -> Numbers:
        """Every entry that holds the unit in its text, in its key, or in one of them; each once, the lowest first."""

    @abstractmethod
    def holding(self, unit: Unit) -> Numbers:
        """Every entry whose text holds the unit, the newest first."""

    @abstractmethod
    def scores(self, units: Sequence[Unit], entries: Iterable[int]) -> dict[int, float]:
        """How well the given entries match any of the units; more is better."""

    @abstractmethod
    def postings(self, units: Sequence[Unit], budget: int, where: Filter | None = None) -> list[Posting]:
        """Where each unit stands, reading at most about `budget` entries in all. With a Filter only what it lets
        through, which may cost several times as much; `frequency` is always that of the whole store."""

    @abstractmethod
    def insert(self, row: Row) -> int | None:
        """Insert a row of entry COLUMNS and make its words findable; its number, or None where the id is known."""

    @abstractmethod
    def add(self, entries: Sequence[Words]) -> None:
        """Make the words of entries findable."""

    @abstractmethod
    def remove(self, entries: Sequence[Words]) -> None:
        """Undo `add`, which was given the same words."""

    @abstractmethod
    def remove_where(self, condition: str, values: Sequence[Any]) -> None:
        """Remove the entries `e` that are about to be deleted."""

    @abstractmethod
    def compact(self) -> None:
        """Give back the room of words that were removed. It reads and writes the whole index."""

    @abstractmethod
    def checks(self) -> dict[str, Callable[[], list[str]]]:
        """For each part that can be damaged, what tells its faults."""
