"""Find the memories that contain the words a query requires."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import reduce
from typing import TYPE_CHECKING

from ..domain.entries import ALL, TextFields, numbers_of
from ..domain.filters import Filter, Order
from ..domain.numbers import are_among, common, united
from ..domain.query import Query, QueryTerm, holds, looked_up, says
from ..domain.records import Memory
from ..domain.words import Unit
from ..store import Store

if TYPE_CHECKING:
    from ..domain.entries import Numbers


class Matching:
    """Answers with the numbers of entries."""

    def __init__(self, store: Store, fields: TextFields) -> None:
        self._store = store
        self._fields = fields
        self._places: dict[Unit, Numbers] = {}

    def find(self, query: Query, where: Filter, order: Order, ordered: int = ALL) -> Numbers:
        """Entries that match and pass the filter: at least `ordered` of them in order, then the others."""
        numbers, holding = self._store.memories.numbers, self._holding_all(query)
        if not query.excluded:
            return numbers(where, order, holding, ordered)
        entries = numbers(where, order, holding)
        return entries[~are_among(entries, self._holding_any(query.excluded))]

    def _holding_all(self, query: Query) -> Numbers | None:
        """Entries that every clause matches; None if the query only excludes."""
        if not query.clauses:
            return None if query.excluded else numbers_of([])
        return reduce(common, map(self._holding_any, query.clauses))

    def _holding_any(self, terms: Iterable[QueryTerm]) -> Numbers:
        return reduce(united, map(self._holding, terms))

    def _holding(self, term: QueryTerm) -> Numbers:
        entries = reduce(common, map(self._look_up, term.units)) if term.units else numbers_of([])
        if term.is_checked:
            entries = self._checked(entries, term)
        if term.field is not None:
            wanted, named = term.field, term.field.field.split(".")[0]
            rows = self._store.memories.with_metadata(named).items()
            having = [entry for entry, metadata in rows if holds(json.loads(metadata), wanted)]
            entries = united(entries, numbers_of(sorted(having)))
        return entries

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
