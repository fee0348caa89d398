"""Which memories the words of a query match."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import reduce
from typing import TYPE_CHECKING

from ...domain.entries import TextFields, numbers_of
from ...domain.numbers import common, united
from ...domain.query import Query, QueryTerm, holds, looked_up, says
from ...domain.records import Memory
from ...store import Store

if TYPE_CHECKING:
    from ...domain.entries import Numbers


class Matching:
    """Answers with the numbers of entries, which ascend."""

    def __init__(self, store: Store, fields: TextFields) -> None:
        self._store = store
        self._fields = fields

    def find(self, query: Query) -> Numbers | None:
        """Entries that every clause matches; None where the query only says what is not wanted."""
        if not query.clauses:
            return None if query.excluded else numbers_of([])
        return reduce(common, map(self.holding_any, query.clauses))

    def holding_any(self, terms: Iterable[QueryTerm]) -> Numbers:
        return reduce(united, map(self._holding, terms))

    def _holding(self, term: QueryTerm) -> Numbers:
        units = [self._store.text.match(looked_up(unit), self._fields) for unit in term.units]
        found = reduce(common, units) if units else numbers_of([])
        if term.is_checked:
            found = self._checked(found, term)
        if term.field is not None:
            wanted, named = term.field, term.field.field.split(".")[0]
            rows = self._store.memories.with_metadata(named).items()
            having = [entry for entry, metadata in rows if holds(json.loads(metadata), wanted)]
            found = united(found, numbers_of(sorted(having)))
        return found

    def _checked(self, entries: Numbers, term: QueryTerm) -> Numbers:
        checked = []
        for entry, record in self._store.entries.load(entries.tolist()).items():
            key = record.key or "" if isinstance(record, Memory) else ""
            texts = {TextFields.VALUE: (record.text,), TextFields.KEY: (key,)}
            if any(says(text, term) for text in texts.get(self._fields, (key, record.text))):
                checked.append(entry)
        return numbers_of(sorted(checked))
