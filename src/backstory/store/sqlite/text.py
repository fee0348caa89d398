"""The text index of SQLite: FTS5 without contents; the text itself is stored once, in the entry."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from ...domain.arrays import np
from ...domain.entries import ALL, Passing, Posting, PostingRange, TermQuery
from ...domain.filters import Filter
from ..columns import Columns
from ..database import Row
from ..entries import COLUMNS
from ..text import INSERT, LEAST_SHARE, TextIndex, Words
from ..where import where_clause
from .database import SqliteDatabase
from .facts import as_numbers, highest_numbers
from .fts import INDEXES

if TYPE_CHECKING:
    from ...domain.entries import Numbers
    from ...domain.words import Unit

DEPTH = 5  # factor by which more entries are read if few pass the filter

_WORDS = Columns(Words)


class SqliteText(TextIndex):
    _database: SqliteDatabase
    at_once = 1_000

    def state(self) -> tuple[Hashable, int]:
        # read first: another thread may open another store right after
        generation = self._database.generation
        sequences = self._database.pairs(
            "SELECT name, seq FROM sqlite_sequence WHERE name IN ('entry', 'moved')"
        )
        return (generation, sequences.get("moved", 0)), sequences.get("entry", 0)

    def read(self, ranges: Sequence[PostingRange]) -> list[Numbers]:
        sql = "SELECT rowid AS n FROM entry_text WHERE entry_text MATCH ? AND rowid >= ? AND rowid < ?"
        lists: dict[PostingRange, Numbers] = {}
        together: dict[tuple[int, int], list[PostingRange]] = {}
        for each in ranges:
            if not each.among.start and (each.is_any_enough or each.limit >= each.among.stop):
                together.setdefault((each.among.stop, each.limit), []).append(each)
            else:
                bounds = [each.among.start, each.among.stop]
                lists[each] = self._numbers(sql, [_query(each.term), *bounds], each.limit)
        for (stop, limit), some in together.items():
            words = [_query(each.term) for each in some]
            numbers = self._whole(words, stop) if limit >= stop else self._lowest(words, stop, limit)
            lists |= zip(some, numbers, strict=True)
        return [lists[each] for each in ranges]

    def _whole(self, words: Sequence[str], stop: int) -> list[Numbers]:
        """All numbers of each word, the highest first. In one statement, and forwards: a query asks for some sixty words, and FTS5
        reads backwards for a quarter longer."""
        # Without ORDER BY and bounds, which SQLite would apply to a subquery: that takes a quarter longer.
        sql = (
            "SELECT (SELECT json_group_array(rowid) FROM entry_text WHERE entry_text MATCH word.value)"
            " FROM json_each(?) AS word"
        )
        lists = [_ascending(as_numbers(each)) for each in self._database.values(sql, [json.dumps(words)])]
        return [numbers[: np.searchsorted(numbers, stop)][::-1] for numbers in lists]

    def _lowest(self, words: Sequence[str], stop: int, limit: int) -> list[Numbers]:
        """The lowest `limit` numbers of each word, the highest first."""
        sql = (
            "SELECT (SELECT json_group_array(n) FROM (SELECT rowid AS n FROM entry_text"
            " WHERE entry_text MATCH word.value AND rowid < ? ORDER BY n LIMIT ?)) FROM json_each(?) AS word"
        )
        listed = self._database.values(sql, [stop, limit, json.dumps(words)])
        return [as_numbers(each)[::-1] for each in listed]

    def holding_in_key(self, unit: Unit) -> Numbers:
        return self._numbers("SELECT rowid AS n FROM key_text WHERE key_text MATCH ?", [_phrase(unit)])

    def narrowed(self, postings: Sequence[Posting], where: Filter, limit: int) -> list[Posting]:
        passing = self._database.passing(where)
        if passing is not None:
            return [self._passing(posting, passing, limit) for posting in postings]
        condition, values = where_clause(where)
        sql = f"SELECT t.rowid AS n FROM entry_text t JOIN entry e ON e.n = t.rowid WHERE t.entry_text MATCH ? AND {condition}"
        numbers = (self._numbers(sql, [_phrase(posting.unit), *values], limit) for posting in postings)
        return [
            posting._replace(entries=entries, is_whole=len(entries) < limit)
            for posting, entries in zip(postings, numbers, strict=True)
        ]

    def _passing(self, posting: Posting, passing: Passing, limit: int) -> Posting:
        entries, is_whole = posting.entries[passing.among(posting.entries)], posting.is_whole
        if not is_whole and len(entries) < LEAST_SHARE:
            # Search only the range of numbers in which entries pass.
            span = passing.flags.nonzero()[0][[0, -1]] if passing.flags.any() else (1, 0)
            sql = "SELECT rowid AS n FROM entry_text WHERE entry_text MATCH ? AND rowid BETWEEN ? AND ?"
            more = self._numbers(sql, [_phrase(posting.unit), *map(int, span)], DEPTH * limit)
            entries, is_whole = more[passing.among(more)][:limit], len(more) < DEPTH * limit
        return posting._replace(entries=entries, is_whole=is_whole and len(entries) < limit)

    def _numbers(self, sql: str, parameters: Sequence[Any], limit: int = ALL) -> Numbers:
        return highest_numbers(self._database, sql, parameters, limit)

    def insert(self, row: Row) -> int | None:
        values = dict(zip(COLUMNS, row, strict=True))
        inserted = self._database.values(INSERT, [*row, values["id"]])
        self.add([Words(n, values["text"], values["heading"], values["key"]) for n in inserted])
        return inserted[0] if inserted else None

    def add(self, entries: Sequence[Words]) -> None:
        for index in INDEXES:
            self._database.change_many(index.insertion, index.rows(entries))

    def remove(self, entries: Sequence[Words]) -> None:
        # A row in `moved` makes every process read its cached postings again.
        self._database.change_many(
            "INSERT OR REPLACE INTO moved (entry) VALUES (?)", [(entry.n,) for entry in entries]
        )
        for index in INDEXES:
            self._database.change_many(index.deletion, index.rows(entries))

    def remove_where(self, condition: str, values: Sequence[Any]) -> None:
        self.remove(self._database.records(_WORDS, f"FROM entry e WHERE {condition}", values))

    def compact(self) -> None:
        """A removal is a note of its own, and may be as large as the words; both go when the segments are merged."""
        for index in INDEXES:
            self._database.change(index.command("optimize"))

    def checks(self) -> dict[str, Callable[[], list[str]]]:
        return {"text index": self._faults}

    def _faults(self) -> list[str]:
        if not self._database.is_read_only:  # the check is an INSERT statement, which needs the write lock
            with self._database.transaction():
                for index in INDEXES:
                    self._database.change(index.command("integrity-check"))
        unindexed = "SELECT count(*) FROM entry WHERE n NOT IN (SELECT id FROM entry_text_docsize)"
        stray = "SELECT count(*) FROM entry_text_docsize WHERE id NOT IN (SELECT n FROM entry)"
        keyless = (
            "SELECT count(*) FROM entry WHERE key IS NOT NULL AND n NOT IN (SELECT id FROM key_text_docsize)"
        )
        faults = {
            "texts are not in the text index": unindexed,
            "rows of the text index have no text": stray,
            "keys are not in the key index": keyless,
        }
        counts = {fault: self._database.value(sql) for fault, sql in faults.items()}
        return [f"{count} {fault}" for fault, count in counts.items() if count]


def _ascending(numbers: Numbers) -> Numbers:
    """FTS5 reads in the order of the numbers, though it promises that only with ORDER BY."""
    return numbers if (numbers[1:] > numbers[:-1]).all() else np.sort(numbers)


def _phrase(unit: Unit | TermQuery) -> str:
    """A unit in the syntax of the text index. Words contain only letters and digits, so quotes need no escaping."""
    return f'"{" ".join(unit.words)}"{"*" if unit.is_prefix else ""}'


def _query(term: TermQuery) -> str:
    return f"{{body}} : {_phrase(term)}" if term.in_text else _phrase(term)
