"""Which memories the words of a query match, and how well."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence, Set
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from ...domain.entries import ALL, IndexedText, TextFields, numbers_of
from ...domain.filters import Filter, Order
from ...domain.numbers import are_among, common, united
from ...domain.query import Query, QueryTerm, holds, looked_up, says
from ...domain.records import Memory
from ...domain.words import Unit
from ...search.terms import bm25, rarity, stem
from ...store import Store

if TYPE_CHECKING:
    from ...domain.entries import Numbers


class _Term(NamedTuple):
    stems: Sequence[str]
    rarity: float
    holders: Set[int]


class Matching:
    """Answers with the numbers of entries."""

    def __init__(self, store: Store, fields: TextFields) -> None:
        self._store = store
        self._fields = fields
        self._places: dict[Unit, Numbers] = {}

    def ranked(self, entries: Sequence[int], query: Query) -> list[int]:
        """The best first, by BM25 over texts and headings, in which a word counts twice; equal ones as they come."""
        size, numbers = self._store.entries.size_hint(), numbers_of(sorted(entries))
        terms = []
        for unit in query.units:
            places = self._look_up(unit)
            holders = {*common(numbers, places).tolist()}
            terms.append(_Term([*map(stem, looked_up(unit).words)], rarity(len(places), size), holders))
        found = self._store.entries.texts(entries) if terms else []
        typical = sum(len(each.text) for each in found) / max(len(found), 1) or 1.0
        scores = {each.entry: _score(each, terms, typical) for each in found}
        return sorted(entries, key=lambda entry: -scores.get(entry, 0.0))

    def find(self, query: Query, where: Filter, order: Order, ordered: int = ALL) -> Numbers:
        """Entries that match and pass: at least so many in order, then the others."""
        numbers, found = self._store.memories.numbers, self._holding_all(query)
        if not query.excluded:
            return numbers(where, order, found, ordered)
        entries = numbers(where, order, found)
        return entries[~are_among(entries, self._holding_any(query.excluded))]

    def _holding_all(self, query: Query) -> Numbers | None:
        """Entries that every clause matches; None where the query only says what is not wanted."""
        if not query.clauses:
            return None if query.excluded else numbers_of([])
        return reduce(common, map(self._holding_any, query.clauses))

    def _holding_any(self, terms: Iterable[QueryTerm]) -> Numbers:
        return reduce(united, map(self._holding, terms))

    def _holding(self, term: QueryTerm) -> Numbers:
        found = reduce(common, map(self._look_up, term.units)) if term.units else numbers_of([])
        if term.is_checked:
            found = self._checked(found, term)
        if term.field is not None:
            wanted, named = term.field, term.field.field.split(".")[0]
            rows = self._store.memories.with_metadata(named).items()
            having = [entry for entry, metadata in rows if holds(json.loads(metadata), wanted)]
            found = united(found, numbers_of(sorted(having)))
        return found

    def _look_up(self, unit: Unit) -> Numbers:
        if unit not in self._places:
            self._places[unit] = self._store.text.match(looked_up(unit), self._fields)
        return self._places[unit]

    def _checked(self, entries: Numbers, term: QueryTerm) -> Numbers:
        checked = []
        for entry, record in self._store.entries.load(entries.tolist()).items():
            key = record.key or "" if isinstance(record, Memory) else ""
            texts = {TextFields.VALUE: (record.text,), TextFields.KEY: (key,)}
            if any(says(text, term) for text in texts.get(self._fields, (key, record.text))):
                checked.append(entry)
        return numbers_of(sorted(checked))


def _score(found: IndexedText, terms: Sequence[_Term], typical: float) -> float:
    text, heading = found.text.lower(), found.heading.lower()
    length = len(text) / typical
    score = 0.0
    for term in terms:
        if found.entry in term.holders:
            counts = [text.count(stem) + 2 * heading.count(stem) for stem in term.stems]
            count = min(counts) or 1  # the index knows forms of a word that do not begin as it does
            score += term.rarity * bm25(count, length)
    return score
