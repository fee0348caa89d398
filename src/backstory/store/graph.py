"""The knowledge graph as rows: what each entry mentions, and what it says of it.

Every question joins the entries it draws on and takes their Filter, so what a caller may not see is not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from ..domain.filters import Filter
from ..domain.graph import Entity, Extract, Label, Relation, Ungraphed
from .statements import Row, Statements
from .where import where_clause

_STATEMENT = "SELECT r.entry, r.subject, r.predicate, r.object, r.confidence FROM relation r JOIN entry e ON e.n = r.entry"
_AT_ONCE = 50  # entities in one statement; SQLite joins at most 500 SELECTs

MOST_SOURCES = 5
"""Entries named as the sources of one entity."""


class Graphs(Protocol):
    def find_ungraphed(self, where: Filter, extractor: int, limit: int) -> list[Ungraphed]:
        """Entries whose present text this extractor, or a better one, has not read; newest first."""

    def count_ungraphed(self, where: Filter, extractor: int) -> int: ...

    def put_extracts(self, extracts: Sequence[Extract], extractor: int) -> None:
        """Keep what was found in texts that did not change meanwhile, in place of what was known of them."""

    def entities(self, where: Filter, among: Iterable[int] | None = None) -> list[Entity]:
        """Entities that matching entries mention, the most mentioned first."""

    def labels(self, entities: Sequence[int], where: Filter) -> list[Label]:
        """Entities that matching entries mention, without counting how often."""

    def entities_named(self, names: Sequence[str], where: Filter) -> list[int]: ...

    def entities_of(self, where: Filter) -> set[int]:
        """Matching entries themselves, as entities."""

    def relations_of_entries(self, where: Filter) -> list[Relation]:
        """What matching entries say of themselves: what they mention, fix, decide."""

    def relations_at(self, entities: Iterable[int], where: Filter) -> list[Relation]:
        """Every relation that begins or ends at the given entities."""

    def relations_near(
        self, entities: Sequence[int], where: Filter, predicates: Sequence[str], most: int
    ) -> list[Relation]:
        """Relations that begin or end at the given entities: of each entity the newest `most` that are said of it
        in either direction, so that a step costs the same however much is known of one thing."""

    def sources(self, entities: Iterable[int], where: Filter) -> dict[int, list[str]]:
        """The keys (or ids) of the last few entries that mention each entity."""


class GraphRows(Statements):
    def find_ungraphed(self, where: Filter, extractor: int, limit: int) -> list[Ungraphed]:
        condition, values = _ungraphed(where, extractor)
        chosen = self._rows(f"SELECT e.n FROM entry e {condition} ORDER BY e.n DESC LIMIT {limit:d}", values)
        among, numbers = self._among("e.n", [row[0] for row in chosen])
        sql = f"SELECT e.n, e.revision, coalesce(e.key, e.id), e.category, e.text FROM entry e WHERE {among} ORDER BY e.n DESC"
        return [Ungraphed(*row) for row in self._rows(sql, [numbers])]

    def count_ungraphed(self, where: Filter, extractor: int) -> int:
        condition, values = _ungraphed(where, extractor)
        return int(self._rows(f"SELECT count(*) FROM entry e {condition}", values)[0][0])

    def put_extracts(self, extracts: Sequence[Extract], extractor: int) -> None:
        with self.transaction():
            among, numbers = self._among("n", [extract.entry for extract in extracts])
            sql = f"SELECT n, revision FROM entry WHERE {among}"
            present = {row[0]: row[1] for row in self._rows(sql, [numbers])}
            for extract in extracts:
                if present.get(extract.entry) == extract.revision:
                    self._put_extract(extract, extractor)

    def _put_extract(self, extract: Extract, extractor: int) -> None:
        entry = extract.entry
        for table in ("graphed", "mention", "relation"):
            self._change(f"DELETE FROM {table} WHERE entry = ?", [entry])
        self._change(
            "INSERT INTO graphed (entry, revision, extractor, entity) VALUES (?, ?, ?, ?)",
            [entry, extract.revision, extractor, extract.entity],
        )
        for m in extract.mentions:
            sql = "INSERT INTO mention (entry, entity, type, name, times) VALUES (?, ?, ?, ?, ?)"
            self._change(sql, [entry, *m])
        for r in extract.relations:
            sql = (
                "INSERT INTO relation (entry, subject, predicate, object, confidence) VALUES (?, ?, ?, ?, ?)"
            )
            self._change(sql, [entry, r.subject, r.predicate, r.object, r.confidence])

    def entities(self, where: Filter, among: Iterable[int] | None = None) -> list[Entity]:
        condition, values = where_clause(where)
        if among is not None:
            listed, numbers = self._among("m.entity", among)
            condition, values = f"{listed} AND {condition}", [numbers, *values]
        # "class" < "function" < "item" < "name": where one name has several types, min() takes the best founded
        sql = (
            "SELECT m.entity, min(m.type), min(m.name), sum(m.times), count(*), min(e.created_at), max(e.updated_at)"
            f" FROM mention m JOIN entry e ON e.n = m.entry WHERE {condition}"
            " GROUP BY m.entity ORDER BY sum(m.times) DESC, count(*) DESC, min(m.name), m.entity"
        )
        return [Entity(*row) for row in self._rows(sql, values)]

    def labels(self, entities: Sequence[int], where: Filter) -> list[Label]:
        condition, values = where_clause(where)
        # one look-up for each, however often it is mentioned
        first = (
            "SELECT * FROM (SELECT m.entity, m.type, m.name FROM mention m JOIN entry e ON e.n = m.entry"
            f" WHERE m.entity = ? AND {condition} ORDER BY m.type LIMIT 1) AS first"
        )
        return [Label(*row) for row in self._each(entities, [first], values)]

    def entities_named(self, names: Sequence[str], where: Filter) -> list[int]:
        condition, values = where_clause(where)
        marks = ", ".join("?" * len(names))
        sql = (
            "SELECT DISTINCT m.entity FROM mention m JOIN entry e ON e.n = m.entry"
            f" WHERE m.name IN ({marks}) AND {condition} ORDER BY m.entity"
        )
        return [row[0] for row in self._rows(sql, [*names, *values])]

    def entities_of(self, where: Filter) -> set[int]:
        condition, values = where_clause(where)
        sql = f"SELECT g.entity FROM graphed g JOIN entry e ON e.n = g.entry WHERE {condition}"
        return {row[0] for row in self._rows(sql, values)}

    def relations_of_entries(self, where: Filter) -> list[Relation]:
        condition, values = where_clause(where)
        sql = (
            "SELECT r.entry, r.subject, r.predicate, r.object, r.confidence FROM graphed g"
            " JOIN entry e ON e.n = g.entry"
            " JOIN relation r ON r.entry = g.entry AND (r.subject = g.entity OR r.object = g.entity)"
            f" WHERE {condition}"
        )
        return _merged(self._rows(sql, values))

    def relations_at(self, entities: Iterable[int], where: Filter) -> list[Relation]:
        condition, values = where_clause(where)
        numbers = list(entities)
        begins, listed = self._among("r.subject", numbers)
        ends, _ = self._among("r.object", numbers)
        sql = f"{_STATEMENT} WHERE ({begins} OR {ends}) AND {condition}"
        return _merged(self._rows(sql, [listed, listed, *values]))

    def relations_near(
        self, entities: Sequence[int], where: Filter, predicates: Sequence[str], most: int
    ) -> list[Relation]:
        condition, values = where_clause(where)
        if predicates:
            condition = f"r.predicate IN ({', '.join('?' * len(predicates))}) AND {condition}"
            values = [*predicates, *values]
        newest = [
            f"SELECT * FROM ({_STATEMENT} WHERE r.{end} = ? AND {condition} ORDER BY r.entry DESC LIMIT {most:d}) AS {end}s"
            for end in ("subject", "object")
        ]
        return _merged({tuple(row) for row in self._each(entities, newest, values)})

    def _each(self, entities: Sequence[int], selects: list[str], values: Sequence[Any]) -> Iterator[Row]:
        """What each SELECT gives for each entity, in as few statements as may be."""
        for start in range(0, len(entities), _AT_ONCE):
            some = entities[start : start + _AT_ONCE]
            parameters = [value for number in some for _ in selects for value in (number, *values)]
            yield from self._rows(" UNION ALL ".join(selects * len(some)), parameters)

    def sources(self, entities: Iterable[int], where: Filter) -> dict[int, list[str]]:
        condition, values = where_clause(where)
        among, numbers = self._among("m.entity", entities)
        sql = (
            "SELECT entity, name FROM (SELECT m.entity AS entity, coalesce(e.key, e.id) AS name, row_number()"
            " OVER (PARTITION BY m.entity ORDER BY e.updated_at DESC, e.n DESC) AS place"
            f" FROM mention m JOIN entry e ON e.n = m.entry WHERE {among} AND {condition}) AS ranked"
            f" WHERE place <= {MOST_SOURCES:d} ORDER BY entity, place"
        )
        found: dict[int, list[str]] = {}
        for entity, name in self._rows(sql, [numbers, *values]):
            found.setdefault(entity, []).append(name)
        return found


def _ungraphed(where: Filter, extractor: int) -> tuple[str, list[object]]:
    condition, values = where_clause(where)
    return (
        "WHERE NOT EXISTS (SELECT 1 FROM graphed g WHERE g.entry = e.n AND g.revision = e.revision"
        f" AND g.extractor >= ?) AND {condition}",
        [extractor, *values],
    )


def _merged(statements: Iterable[Row]) -> list[Relation]:
    """One relation for what several entries say, as sure as the surest of them."""
    merged: dict[tuple[int, str, int], tuple[float, int]] = {}
    for _, subject, predicate, object, confidence in statements:
        claim = (subject, predicate, object)
        surest, sources = merged.get(claim, (0.0, 0))
        merged[claim] = (max(surest, confidence), sources + 1)
    return [Relation(*claim, *weight) for claim, weight in merged.items()]
