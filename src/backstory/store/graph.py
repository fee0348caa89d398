"""The knowledge graph as rows: the entities each entry mentions, and the relations it states.

Every query joins the source entries and applies their Filter, so relations a caller may not see are not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..domain.filters import Filter
from ..domain.graph import Entity, Extract, Label, Relation, UnreadEntry
from .columns import Columns, marks
from .database import Database, Row
from .where import where_clause

_UNREAD = Columns(UnreadEntry, entry="n", name="coalesce(key, id)")
# "class" < "function" < "item" < "name": if a name has several types, min() takes the most reliable
_ENTITY = Columns(
    Entity, number="m.entity", type="min(m.type)", name="min(m.name)", times="sum(m.times)", sources="count(*)",
    first_ms="min(e.created_at)", last_ms="max(e.updated_at)",
)  # fmt: skip
_LABEL = Columns(Label, number="m.entity", type="m.type", name="m.name")
_STATEMENT = "SELECT r.entry, r.subject, r.predicate, r.object, r.confidence FROM relation r JOIN entry e ON e.n = r.entry"
_AT_ONCE = 50  # entities in one statement; SQLite joins at most 500 SELECTs

MOST_SOURCES = 5
"""Entries named as the sources of one entity."""


class GraphRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def unread(self, where: Filter, extractor: int, limit: int) -> list[UnreadEntry]:
        """Entries whose current text was not read by this extractor or a better one, newest first."""
        condition, values = _ungraphed(where, extractor)
        chosen = f"SELECT e.n FROM entry e {condition} ORDER BY e.n DESC LIMIT {limit:d}"
        among, numbers = self._database.among("n", self._database.values(chosen, values))
        return self._database.records(_UNREAD, f"FROM entry WHERE {among} ORDER BY n DESC", [numbers])

    def count_unread(self, where: Filter, extractor: int) -> int:
        condition, values = _ungraphed(where, extractor)
        return int(self._database.value(f"SELECT count(*) FROM entry e {condition}", values))

    def put(self, extracts: Sequence[Extract], extractor: int) -> None:
        """Store the extracts of entries whose text has not changed meanwhile, replacing earlier ones."""
        with self._database.transaction():
            among, numbers = self._database.among("n", [extract.entry for extract in extracts])
            sql = f"SELECT n, revision FROM entry WHERE {among}"
            present = self._database.pairs(sql, [numbers])
            for extract in extracts:
                if present.get(extract.entry) == extract.revision:
                    self._put_extract(extract, extractor)

    def _put_extract(self, extract: Extract, extractor: int) -> None:
        entry = extract.entry
        for table in ("graphed", "mention", "relation"):
            self._database.change(f"DELETE FROM {table} WHERE entry = ?", [entry])
        self._database.change(
            "INSERT INTO graphed (entry, revision, extractor, entity) VALUES (?, ?, ?, ?)",
            [entry, extract.revision, extractor, extract.entity],
        )
        self._database.change_many(
            "INSERT INTO mention (entry, entity, type, name, times) VALUES (?, ?, ?, ?, ?)",
            [(entry, m.entity, m.type, m.name, m.times) for m in extract.mentions],
        )
        self._database.change_many(
            "INSERT INTO relation (entry, subject, predicate, object, confidence) VALUES (?, ?, ?, ?, ?)",
            [(entry, r.subject, r.predicate, r.object, r.confidence) for r in extract.relations],
        )

    def entities(self, where: Filter, among: Iterable[int] | None = None) -> list[Entity]:
        """Entities that matching entries mention, the most mentioned first."""
        condition, values = where_clause(where)
        if among is not None:
            listed, numbers = self._database.among("m.entity", among)
            condition, values = f"{listed} AND {condition}", [numbers, *values]
        rest = (
            f"FROM mention m JOIN entry e ON e.n = m.entry WHERE {condition}"
            " GROUP BY m.entity ORDER BY sum(m.times) DESC, count(*) DESC, min(m.name), m.entity"
        )
        return self._database.records(_ENTITY, rest, values)

    def labels(self, entities: Sequence[int], where: Filter) -> list[Label]:
        """Entities that matching entries mention, without counting how often."""
        condition, values = where_clause(where)
        # one lookup for each, regardless of its number of mentions
        first = (
            f"SELECT * FROM (SELECT {_LABEL.selected} FROM mention m JOIN entry e ON e.n = m.entry"
            f" WHERE m.entity = ? AND {condition} ORDER BY m.type LIMIT 1) AS first"
        )
        return [_LABEL.read(row) for row in self._each(entities, [first], values)]

    def named(self, names: Sequence[str], where: Filter) -> list[int]:
        """Entities of these names that matching entries mention."""
        condition, values = where_clause(where)
        sql = (
            "SELECT DISTINCT m.entity FROM mention m JOIN entry e ON e.n = m.entry"
            f" WHERE m.name IN ({marks(names)}) AND {condition} ORDER BY m.entity"
        )
        return self._database.values(sql, [*names, *values])

    def of_entries(self, where: Filter) -> set[int]:
        """Matching entries themselves, as entities."""
        condition, values = where_clause(where)
        sql = f"SELECT g.entity FROM graphed g JOIN entry e ON e.n = g.entry WHERE {condition}"
        return set(self._database.values(sql, values))

    def relations_of_entries(self, where: Filter) -> list[Relation]:
        """The relations of matching entries themselves: the entities they mention, fix or decide."""
        condition, values = where_clause(where)
        sql = (
            "SELECT r.entry, r.subject, r.predicate, r.object, r.confidence FROM graphed g"
            " JOIN entry e ON e.n = g.entry"
            " JOIN relation r ON r.entry = g.entry AND (r.subject = g.entity OR r.object = g.entity)"
            f" WHERE {condition}"
        )
        return _merged(self._database.rows(sql, values))

    def relations_at(self, entities: Iterable[int], where: Filter) -> list[Relation]:
        """Every relation that begins or ends at the given entities."""
        condition, values = where_clause(where)
        numbers = list(entities)
        begins, listed = self._database.among("r.subject", numbers)
        ends, _ = self._database.among("r.object", numbers)
        sql = f"{_STATEMENT} WHERE ({begins} OR {ends}) AND {condition}"
        return _merged(self._database.rows(sql, [listed, listed, *values]))

    def relations_near(
        self, entities: Sequence[int], where: Filter, predicates: Sequence[str], most: int
    ) -> list[Relation]:
        """Relations that begin or end at the given entities.

        At most the newest `most` per entity and direction, so that a step costs the same for very common entities."""
        condition, values = where_clause(where)
        if predicates:
            condition = f"r.predicate IN ({marks(predicates)}) AND {condition}"
            values = [*predicates, *values]
        newest = [
            f"SELECT * FROM ({_STATEMENT} WHERE r.{end} = ? AND {condition} ORDER BY r.entry DESC LIMIT {most:d}) AS {end}s"
            for end in ("subject", "object")
        ]
        return _merged({tuple(row) for row in self._each(entities, newest, values)})

    def _each(self, entities: Sequence[int], selects: list[str], values: Sequence[Any]) -> Iterator[Row]:
        """Run each SELECT for each entity, batched into as few statements as possible."""
        for start in range(0, len(entities), _AT_ONCE):
            some = entities[start : start + _AT_ONCE]
            parameters = [value for number in some for _ in selects for value in (number, *values)]
            yield from self._database.rows(" UNION ALL ".join(selects * len(some)), parameters)

    def sources(self, entities: Iterable[int], where: Filter) -> dict[int, list[str]]:
        """The keys (or ids) of the last few entries that mention each entity."""
        condition, values = where_clause(where)
        among, numbers = self._database.among("m.entity", entities)
        sql = (
            "SELECT entity, name FROM (SELECT m.entity AS entity, coalesce(e.key, e.id) AS name, row_number()"
            " OVER (PARTITION BY m.entity ORDER BY e.updated_at DESC, e.n DESC) AS place"
            f" FROM mention m JOIN entry e ON e.n = m.entry WHERE {among} AND {condition}) AS ranked"
            f" WHERE place <= {MOST_SOURCES:d} ORDER BY entity, place"
        )
        by_number: dict[int, list[str]] = {}
        for entity, name in self._database.rows(sql, [numbers, *values]):
            by_number.setdefault(entity, []).append(name)
        return by_number


def _ungraphed(where: Filter, extractor: int) -> tuple[str, list[object]]:
    condition, values = where_clause(where)
    return (
        "WHERE NOT EXISTS (SELECT 1 FROM graphed g WHERE g.entry = e.n AND g.revision = e.revision"
        f" AND g.extractor >= ?) AND {condition}",
        [extractor, *values],
    )


def _merged(statements: Iterable[Row]) -> list[Relation]:
    """Merge equal statements of several entries into one relation, with the highest of their confidences."""
    merged: dict[tuple[int, str, int], tuple[float, int]] = {}
    for _, subject, predicate, object, confidence in statements:
        claim = (subject, predicate, object)
        surest, sources = merged.get(claim, (0.0, 0))
        merged[claim] = (max(surest, confidence), sources + 1)
    return [Relation(*claim, *weight) for claim, weight in merged.items()]
