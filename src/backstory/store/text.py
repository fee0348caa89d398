"""The text index: which entries contain a word. Its storage is the one part of search that differs between databases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ..domain.entries import ALL, Posting, PostingRange, TermQuery, TextFields, numbers_of
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
    """The words of an entry, as the index stores them."""

    n: int
    text: str
    heading: str
    key: str | None


class TextIndex(ABC):
    at_once: int
    """Number of entries to read for a word that is not cached yet, even if fewer are wanted: the next query may need more."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def match(self, unit: Unit, fields: TextFields) -> Numbers:
        """Every entry that contains the unit in its text, its key or either, each once, lowest first."""
        if fields is TextFields.VALUE:
            return self.holding(unit)[::-1]
        keyed = self.holding_in_key(unit)[::-1]
        if fields is TextFields.KEY:
            return keyed
        return united(self.holding(unit)[::-1], keyed)

    def holding(self, unit: Unit) -> Numbers:
        """Every entry whose text contains the unit, newest first."""
        return self._newest([TermQuery.of(unit, in_text=True)], ALL)[0]

    def postings(self, units: Sequence[Unit], budget: int, where: Filter | None = None) -> list[Posting]:
        """The entries of each unit, reading at most about `budget` entries in total.

        With a Filter only matching entries, which may cost several times as much; `frequency` always refers to the
        whole store."""
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

    def rare_postings(self, units: Sequence[Unit], most: int) -> list[Posting]:
        """The entries of each unit that at most `most` entries contain. Others have a `frequency` above that, and no entries."""
        terms = [*map(TermQuery.of, units)]
        if self._database.in_transaction:
            lists = [each if len(each) <= most else None for each in self._newest(terms, most + 1)]
        else:
            lists = self._mirror.rare(terms, most)
        nothing: Numbers = numbers_of([])
        return [
            Posting(unit, most + 1, nothing, False)
            if numbers is None
            else Posting(unit, len(numbers), numbers, True)
            for unit, numbers in zip(units, lists, strict=True)
        ]

    def _newest(self, terms: Sequence[TermQuery], limit: int) -> list[Numbers]:
        if self._database.in_transaction:  # there may be entries that are never committed
            return self.read([PostingRange(each, range(ALL), limit) for each in terms])
        return self._mirror.newest(terms, limit)

    @cached_property
    def _mirror(self) -> PostingMirror:
        return PostingMirror(self.state, self.read, self.at_once)

    @abstractmethod
    def state(self) -> tuple[Hashable, int]:
        """A value that changes when words are removed from the index, and the highest entry."""

    @abstractmethod
    def read(self, ranges: Sequence[PostingRange]) -> list[Numbers]:
        """The numbers of each, the highest first."""

    @abstractmethod
    def narrowed(self, postings: Sequence[Posting], where: Filter, limit: int) -> list[Posting]:
        """The postings with at most `limit` of their entries that pass the filter."""

    @abstractmethod
    def holding_in_key(self, unit: Unit) -> Numbers:
        """Every entry whose key contains the unit, newest first."""

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
        """Free the space of removed words. Reads and writes the whole index."""

    @abstractmethod
    def checks(self) -> dict[str, Callable[[], list[str]]]:
        """For each part that can be damaged, a function that lists its faults."""


def _frequency(newest: Numbers, size: int) -> int:
    """Estimate the number of entries from the density of the newest ones; counting would read them all."""
    return max(len(newest) * size // int(newest[0] - newest[-1] + 1), len(newest))
