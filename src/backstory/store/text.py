"""The text index: which entries hold a word. How it is kept is the one thing in search that each database does its
own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ..domain.entries import ALL, Posting, PostingRange, TermQuery, TextFields
from ..domain.filters import Filter
from ..domain.numbers import united
from .columns import marks
from .database import Database, Row
from .entries import COLUMNS
from .postings import PostingMirror

if TYPE_CHECKING:
    from ..domain.entries import Numbers
    from ..domain.words import Unit
    from .postings import PostingMirror

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
    at_once: int
    """So many entries are read of a word that is not known yet, though fewer may be wanted: the next query may want more."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def match(self, unit: Unit, fields: TextFields) -> Numbers:
        """Every entry that holds the unit in its text, in its key, or in one of them; each once, the lowest first."""
        if fields is TextFields.VALUE:
            return self.holding(unit)[::-1]
        keyed = self.holding_in_key(unit)[::-1]
        if fields is TextFields.KEY:
            return keyed
        return united(self.holding(unit)[::-1], keyed)

    def holding(self, unit: Unit) -> Numbers:
        """Every entry whose text holds the unit, the newest first."""
        return self._newest([TermQuery.of(unit, in_text=True)], ALL)[0]

    def postings(self, units: Sequence[Unit], budget: int, where: Filter | None = None) -> list[Posting]:
        """Where each unit stands, reading at most about `budget` entries in all. With a Filter only what it lets
        through, which may cost several times as much; `frequency` is always that of the whole store."""
        if not units:
            return []
        share = max(budget // len(units), LEAST_SHARE)
        newest = self._newest([*map(TermQuery.of, units)], share)
        is_whole = [len(numbers) < share for numbers in newest]
        size = 0 if all(is_whole) else self._database.value("SELECT coalesce(max(n), 0) FROM entry")
        postings = [
            Posting(unit, len(numbers) if whole else _frequency(numbers, size), numbers, whole)
            for unit, numbers, whole in zip(units, newest, is_whole, strict=True)
        ]
        return postings if where is None else self.narrowed(postings, where, share)

    def _newest(self, terms: Sequence[TermQuery], limit: int) -> list[Numbers]:
        if self._database.in_transaction:  # there may be entries that are never committed
            return self.read([PostingRange(each, range(ALL), limit) for each in terms])
        return self._mirror.newest(terms, limit)

    @cached_property
    def _mirror(self) -> PostingMirror:
        return PostingMirror(self.state, self.read, self.at_once)

    @abstractmethod
    def state(self) -> tuple[Hashable, int]:
        """What is another whenever words were taken out of the index, and the highest entry."""

    @abstractmethod
    def read(self, ranges: Sequence[PostingRange]) -> list[Numbers]:
        """The numbers of each, the highest first."""

    @abstractmethod
    def narrowed(self, postings: Sequence[Posting], where: Filter, limit: int) -> list[Posting]:
        """The same units with at most so many of the entries that a filter lets through."""

    @abstractmethod
    def holding_in_key(self, unit: Unit) -> Numbers:
        """Every entry whose key holds the unit, the newest first."""

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


def _frequency(newest: Numbers, size: int) -> int:
    """Counting them all would read them all; the newest tell how densely they lie."""
    return max(len(newest) * size // int(newest[0] - newest[-1] + 1), len(newest))
