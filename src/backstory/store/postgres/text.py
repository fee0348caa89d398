"""The text arm: tsvectors under a GIN index, made of the words that SQLite's index would see.

PostgreSQL's own parser would see hosts, paths and versions where we see words, and other letters in another locale;
so words are cut here, and the database stems them and finds them. A long text takes several rows: a tsvector has
no more than a megabyte, and forgets where a word stands after it has stood in 256 places.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from ...domain.entries import Posting, TextFields, numbers_of
from ...domain.filters import Filter
from ..database import Row
from ..entries import COLUMNS
from ..text import INSERT, LEAST_SHARE, TextIndex, Words
from ..where import where_clause
from .database import PostgresDatabase

if TYPE_CHECKING:
    from ...domain.entries import Numbers
    from ...domain.words import Unit

PART = 2000  # words in a row
OVERLAP = 20  # words that a row repeats of the one before: a phrase of as many is found across both
LONGEST_WORD = 100  # characters; what follows is not looked at
SCORED = 8_000  # postings read to tell how rare the units of a query are

_WORD = re.compile(r"[^\W_]+")
_ACCENTS = dict.fromkeys(range(0x300, 0x370))
_QUERY = "unit_query(?, ?)"
_ADD_TEXTS = (
    "INSERT INTO entry_text (entry, field, part, words)"
    " SELECT entry, field, part, words_vector(string_to_array(words, ' '))"
    " FROM unnest(?::bigint[], ?::text[], ?::integer[], ?::text[]) AS cut (entry, field, part, words)"
)
_ADD_KEYS = (
    "INSERT INTO key_text (entry, words) SELECT entry, words_vector(string_to_array(words, ' '))"
    " FROM unnest(?::bigint[], ?::text[]) AS cut (entry, words)"
)


class PostgresText(TextIndex):
    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    def insert(self, row: Row) -> int | None:
        """In one statement: while it is written, other writers wait."""
        values = dict(zip(COLUMNS, row, strict=True))
        indexing, words = _indexing("new", Words(0, values["text"], values["heading"], values["key"]))
        sql = f"WITH new AS ({INSERT}), {indexing} SELECT n FROM new"
        inserted = self._database.values(sql, [*row, values["id"], *words])
        return inserted[0] if inserted else None

    def add(self, entries: Sequence[Words]) -> None:
        """All in one statement for each table: between two the database waits for us."""
        texts = [(entry.n, *cut) for entry in entries for cut in _cut(entry)]
        keys = [(entry.n, _key_words(entry.key)) for entry in entries if entry.key is not None]
        for insert, rows in ((_ADD_TEXTS, texts), (_ADD_KEYS, keys)):
            if rows:
                # arrays of arrays would have to be of one length, so words come with spaces between them
                *others, words = map(list, zip(*rows, strict=True))
                self._database.change(insert, [*others, [" ".join(each) for each in words]])

    def remove(self, entries: Sequence[Words]) -> None:
        among, numbers = self._database.among("entry", [entry.n for entry in entries])
        for table in ("entry_text", "key_text"):
            self._database.change(f"DELETE FROM {table} WHERE {among}", [numbers])

    def remove_where(self, condition: str, values: Sequence[Any]) -> None:
        """Nothing: the rows of the index refer to their entry, and go with it."""

    def compact(self) -> None:
        """Nothing: the database cleans up behind a deletion."""

    def match(self, unit: Unit, fields: TextFields) -> Numbers:
        sources = {
            TextFields.VALUE: ("entry_text WHERE field = 'body' AND",),
            TextFields.KEY: ("key_text WHERE",),
            TextFields.BOTH: ("entry_text WHERE field = 'body' AND", "key_text WHERE"),
        }
        found = {
            n
            for source in sources[fields]
            for n in self._database.values(f"SELECT entry FROM {source} words @@ {_QUERY}", _asked(unit))
        }
        return numbers_of(sorted(found))

    def holding(self, unit: Unit) -> Numbers:
        sql = f"SELECT DISTINCT entry FROM entry_text WHERE field = 'body' AND words @@ {_QUERY} ORDER BY entry DESC"
        return numbers_of(self._database.values(sql, _asked(unit)))

    def scores(self, units: Sequence[Unit], entries: Iterable[int]) -> dict[int, float]:
        """Each unit counts by its rarity and by how often and how near the words stand, in the heading twice."""
        if not units:
            return {}
        size = self._database.value("SELECT coalesce(max(n), 0) FROM entry")
        scores: dict[int, float] = {}
        among, numbers = self._database.among("entry", entries)
        sql = (
            "SELECT entry, sum(CASE field WHEN 'heading' THEN 2 ELSE 1 END * ts_rank(words, query, 1))"
            f" FROM entry_text, {_QUERY} AS query WHERE words @@ query AND {among} GROUP BY entry"
        )
        for posting in self.postings(units, SCORED):
            rarity = math.log(1 + (max(size - posting.frequency, 0) + 0.5) / (posting.frequency + 0.5))
            for entry, score in self._database.rows(sql, [*_asked(posting.unit), numbers]):
                scores[entry] = scores.get(entry, 0.0) + rarity * float(score)
        return scores

    def postings(self, units: Sequence[Unit], budget: int, where: Filter | None = None) -> list[Posting]:
        if not units:
            return []
        share = max(budget // len(units), LEAST_SHARE)
        size, *found = self._newest("", [], units, share)
        kept = found
        if where is not None:
            condition, values = where_clause(where)
            narrowed = f"JOIN entry e ON e.n = t.entry AND {condition}"
            _, *kept = self._newest(narrowed, values, units, share)
        return [
            Posting(unit, _frequency(all_of_it, share, size), numbers_of(entries), len(entries) < share)
            for unit, all_of_it, entries in zip(units, found, kept, strict=True)
        ]

    def _newest(self, narrowed: str, values: Sequence[Any], units: Sequence[Unit], limit: int) -> Row:
        """The size of the store, and the highest entries of each unit: one statement, for each asks a database
        that may be far away."""
        # ON: a plain DISTINCT is hashed before it is sorted, which takes twice the time
        chosen = (
            f", ARRAY(SELECT DISTINCT ON (t.entry) t.entry FROM entry_text t {narrowed}"
            f" WHERE t.words @@ {_QUERY} ORDER BY t.entry DESC LIMIT {limit:d})"
        )
        parameters = [value for unit in units for value in (*values, *_asked(unit))]
        sql = f"SELECT (SELECT coalesce(max(n), 0) FROM entry){chosen * len(units)}"
        (row,) = self._database.rows(sql, parameters)
        return row

    def checks(self) -> dict[str, Callable[[], list[str]]]:
        return {"text index": self._faults}

    def _faults(self) -> list[str]:
        faults = {
            "texts are not in the text index": (
                "SELECT count(*) FROM entry e WHERE NOT EXISTS"
                " (SELECT 1 FROM entry_text t WHERE t.entry = e.n AND t.field = 'body')"
            ),
            "keys are not in the key index": (
                "SELECT count(*) FROM entry e WHERE key IS NOT NULL AND NOT EXISTS"
                " (SELECT 1 FROM key_text t WHERE t.entry = e.n)"
            ),
        }
        counts = {fault: self._database.value(sql) for fault, sql in faults.items()}
        return [f"{count} {fault}" for fault, count in counts.items() if count]


def _frequency(newest: Sequence[int], share: int, size: int) -> int:
    if len(newest) < share:
        return len(newest)
    # counting them all would read them all; the newest tell how densely they lie
    return max(share * size // (newest[0] - newest[-1] + 1), share)


def _indexing(source: str, entry: Words) -> tuple[str, list[Any]]:
    """The part of a statement that indexes the entry whose number `n` is in `source`, and its parameters."""
    parts = list(_cut(entry))
    marks = ", ".join(["(?, ?::integer, ?::text[])"] * len(parts))
    sql = (
        "texts AS (INSERT INTO entry_text (entry, field, part, words) SELECT n, field, part, words_vector(words)"
        f" FROM {source}, (VALUES {marks}) AS cut (field, part, words))"
    )
    values = [value for part in parts for value in part]
    if entry.key is not None:
        sql += f", keyed AS (INSERT INTO key_text (entry, words) SELECT n, words_vector(?) FROM {source})"
        values.append(_key_words(entry.key))
    return sql, values


def _cut(entry: Words) -> Iterator[tuple[str, int, list[str]]]:
    """Field, number and words of each row that the text index has of an entry."""
    fields = {"body": entry.text} | ({"heading": entry.heading} if entry.heading else {})
    for field, written in fields.items():
        for number, words in enumerate(_parts(written)):
            yield field, number, words


def _key_words(key: str) -> list[str]:
    return _indexed(key)[:PART]


def _words(text: str) -> list[str]:
    """Words without case and accents, as SQLite's tokenizer cuts and folds them."""
    folded = text.lower()
    if not folded.isascii():
        folded = normalize("NFC", normalize("NFD", folded).translate(_ACCENTS))
    return [word[:LONGEST_WORD] for word in _WORD.findall(folded)]


def _indexed(text: str) -> list[str]:
    from ...domain.words import indexed_text  # compiling its patterns is not for start-up

    return _words(indexed_text(text))


def _parts(text: str) -> Iterator[list[str]]:
    words = _indexed(text)
    for start in range(0, max(len(words) - OVERLAP, 1), PART - OVERLAP):
        yield words[start : start + PART]


def _asked(unit: Unit) -> list[Any]:
    """The parameters of `unit_query`."""
    return [[word for part in unit.words for word in _words(part)], unit.is_prefix]
