"""The text index of PostgreSQL: tsvectors under a GIN index, built from the words that SQLite's index would see.

PostgreSQL's own parser would recognise hosts, paths and versions where we want words, and other letters in another
locale. Words are therefore split here; the database stems and finds them. A long text takes several rows: a tsvector
is limited to a megabyte and records at most 256 positions per word.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from ...domain.arrays import np
from ...domain.entries import Posting, PostingRange, TermQuery, numbers_of
from ...domain.filters import Filter
from ...domain.lazy import lazy_pattern
from ...domain.words import indexed_text
from ..database import Row
from ..entries import COLUMNS
from ..text import INSERT, TextIndex, Words
from ..where import where_clause
from .database import PostgresDatabase

if TYPE_CHECKING:
    from ...domain.entries import Numbers
    from ...domain.words import Unit

PART = 2000  # number of words in a row of the table
# words that a row repeats from the previous row, so that phrases of this length are found across both
OVERLAP = 20
LONGEST_WORD = 100  # maximum characters of a word; the rest is ignored
FEW = 2_000  # up to this number, entries are checked one by one; for more, the index is used

_WORD = lazy_pattern(r"[^\W_]+")
_ACCENTS = dict.fromkeys(range(0x300, 0x370))
_QUERY = "unit_query(?, ?)"
_ADD_TEXTS = (
    "INSERT INTO entry_text (entry, field, part, words)"
    " SELECT entry, field, part, words_vector(string_to_array(words, ' '))"
    " FROM unnest(?::bigint[], ?::text[], ?::integer[], ?::text[]) AS cut (entry, field, part, words)"
)
# servers then read their in-memory parts of the index again
_COUNT_REMOVAL = "INSERT INTO removal (one, count) SELECT 1, 1 WHERE {} ON CONFLICT (one) DO UPDATE SET count = removal.count + 1"
_ADDED = (
    "WITH added AS MATERIALIZED (SELECT entry, field, words FROM entry_text WHERE entry >= ? AND entry < ?)"
)
_ADD_KEYS = (
    "INSERT INTO key_text (entry, words) SELECT entry, words_vector(string_to_array(words, ' '))"
    " FROM unnest(?::bigint[], ?::text[]) AS cut (entry, words)"
)


class PostgresText(TextIndex):
    _database: PostgresDatabase
    at_once = 100_000  # the index always returns all entries, even if few are needed

    def state(self) -> tuple[Hashable, int]:
        # a database that was restored from a dump has new tables, but may reach the same count as the former one
        sql = (
            "SELECT 'removal'::regclass::oid::bigint, (SELECT coalesce(max(count), 0) FROM removal),"
            " (SELECT coalesce(max(n), 0) FROM entry)"
        )
        ((table, removals, last),) = self._database.rows(sql)
        table = (table << 32) + self._database.tenant.number
        self._database.generation = table  # every search begins here
        return (table, removals), last

    def read(self, ranges: Sequence[PostingRange]) -> list[Numbers]:
        """One statement for all: each asks a database that may be far away."""
        if not ranges:
            return []
        span = range(min(each.among.start for each in ranges), max(each.among.stop for each in ranges))
        are_few = len(span) <= FEW
        chosen = ", ".join(_listed("added" if are_few else "entry_text", each) for each in ranges)
        values = [
            value
            for term, among, limit, _ in ranges
            for value in (*_asked(term), among.start, among.stop, limit)
        ]
        if are_few:
            (row,) = self._database.rows(f"{_ADDED} SELECT {chosen}", [span.start, span.stop, *values])
        else:
            (row,) = self._database.rows(f"SELECT {chosen}", values)
        return [np.fromstring(listed, np.int64, sep=",") for listed in row]

    def insert(self, row: Row) -> int | None:
        """Insert an entry and its words in one statement, because other writers wait meanwhile."""
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
        self._database.change(_COUNT_REMOVAL.format("TRUE"))
        among, numbers = self._database.among("entry", [entry.n for entry in entries])
        for table in ("entry_text", "key_text"):
            self._database.change(f"DELETE FROM {table} WHERE {among}", [numbers])

    def remove_where(self, condition: str, values: Sequence[Any]) -> None:
        """The rows of the index refer to their entry, and go with it."""
        some = f"EXISTS (SELECT 1 FROM entry e WHERE {condition})"
        self._database.change(_COUNT_REMOVAL.format(some), values)

    def compact(self) -> None:
        """Nothing: the database cleans up behind a deletion."""

    def holding_in_key(self, unit: Unit) -> Numbers:
        sql = f"SELECT entry FROM key_text WHERE words @@ {_QUERY} ORDER BY entry DESC"
        return numbers_of(self._database.values(sql, _asked(unit)))

    def narrowed(self, postings: Sequence[Posting], where: Filter, limit: int) -> list[Posting]:
        condition, values = where_clause(where)
        chosen = (
            f"ARRAY(SELECT DISTINCT ON (t.entry) t.entry FROM entry_text t JOIN entry e ON e.n = t.entry AND {condition}"
            f" WHERE t.words @@ {_QUERY} ORDER BY t.entry DESC LIMIT {limit:d})"
        )
        parameters = [value for posting in postings for value in (*values, *_asked(posting.unit))]
        (row,) = self._database.rows(f"SELECT {', '.join([chosen] * len(postings))}", parameters)
        return [
            posting._replace(entries=numbers_of(count), is_whole=len(count) < limit)
            for posting, count in zip(postings, row, strict=True)
        ]

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


def _indexing(source: str, entry: Words) -> tuple[str, list[Any]]:
    """The part of a statement that indexes the entry with number `n` in `source`, and its parameters."""
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
    return _words(indexed_text(text))


def _parts(text: str) -> Iterator[list[str]]:
    words = _indexed(text)
    for start in range(0, max(len(words) - OVERLAP, 1), PART - OVERLAP):
        yield words[start : start + PART]


def _asked(unit: Unit | TermQuery) -> list[Any]:
    """The parameters of `unit_query`."""
    return [[word for part in unit.words for word in _words(part)], unit.is_prefix]


def _listed(source: str, wanted: PostingRange) -> str:
    field = "t.field = 'body' AND " if wanted.term.in_text else ""
    # ON: a plain DISTINCT is hashed before it is sorted, which takes twice the time. + 0: by the numbers PostgreSQL would
    # read every text. As one text, numbers are read in a fraction of the time that an array takes
    numbers = (
        f"SELECT DISTINCT ON (t.entry) t.entry FROM {source} t WHERE {field}t.words @@ {_QUERY}"
        " AND t.entry + 0 >= ? AND t.entry + 0 < ? ORDER BY t.entry DESC LIMIT ?"
    )
    return f"array_to_string(ARRAY({numbers}), ',')"
