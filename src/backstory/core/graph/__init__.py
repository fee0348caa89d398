"""The knowledge graph: entities that memories mention, and their relations.

Nothing is extracted when a memory is saved. A query first reads the texts that were not read yet; its answer uses
only entries that the caller may see.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...domain.errors import InvalidInput, NotFound
from ...domain.filters import Filter, Kind
from ...domain.graph import Entity, Label, Relation
from ..part import CorePart
from .facts import IDENTIFIERS, thing
from .reading import extractor, read

AT_ONCE = 200
MOST_AT_A_CALL = 10_000
"""Maximum number of texts to analyse before a query is answered; the answer contains the number of remaining ones."""

MOST_STATEMENTS = 1_000
"""The number of relations that a step of a walk follows in each direction, shared among its entities, newest first:
an entity that everything mentions leads everywhere."""

MOST_EXPANDED = 100
"""Entities that one step of `related` continues from, most connected first."""

MOST_NODES = 400

COLORS = {
    "item": "#4e79a7", "file": "#59a14f", "function": "#f28e2b", "class": "#e15759", "module": "#b07aa1",
    "package": "#9c755f", "service": "#76b7b2", "person": "#edc948", "url": "#86bcb6", "issue": "#d37295",
    "config": "#fabfd2", "error": "#d62728", "endpoint": "#ff9da7",
}  # fmt: skip
PLAIN_COLOR = "#bab0ac"


class GraphAnalysis(NamedTuple):
    entities: list[Entity]
    relations: list[Relation]
    pending: int
    """Items that were not read yet."""


class GraphStep(NamedTuple):
    """An entity as a walk found it: how far from the start, and over which entities."""

    entity: Label
    distance: int
    path: tuple[str, ...]


class RelatedEntities(NamedTuple):
    start: list[Label]
    steps: list[GraphStep]
    relations: list[Relation]
    total: int
    """Entities found, before the limit."""
    pending: int
    is_whole: bool
    """False if an entity has too many relations and the walk followed only the newest."""


class GraphNode(NamedTuple):
    id: str
    label: str
    type: str
    size: int
    color: str


class GraphEdge(NamedTuple):
    source: str
    target: str
    label: str
    weight: float


class GraphView(NamedTuple):
    nodes: list[GraphNode]
    edges: list[GraphEdge]
    total_nodes: int
    pending: int


def entity_id(entity: Entity | Label) -> str:
    return f"{entity.type}:{entity.name}"


def certainty(relation: Relation) -> float:
    """The certainty of a relation: several items that state it are surer than one."""
    return round(1 - (1 - relation.confidence) ** relation.sources, 3)


class Graph(CorePart):
    def update(self) -> int:
        """Read texts that were not read yet, up to the limit of one call. Returns the number that remains."""
        store, where, version = self.engine.store, self._visible(Filter()), extractor()
        waiting = store.graph.count_unread(where, version)
        total = min(waiting, MOST_AT_A_CALL)
        count = 0
        while count < total:
            self.call.raise_if_cancelled()
            if count:
                self.call.progress(count, total, "Reading items for the knowledge graph")
            batch = store.graph.unread(where, version, min(AT_ONCE, total - count))
            if not batch:
                break
            store.graph.put([read(entry) for entry in batch], version)
            count += len(batch)
        return max(0, waiting - count)

    def analyze(self, where: Filter, max_depth: int) -> GraphAnalysis:
        """Relations up to `max_depth` steps from the matching items.

        Depth 1 are relations of the items themselves (mention, fix, decide), depth 2 adds relations of the mentioned
        entities in any visible item, and so on."""
        pending = self.update()
        narrowed = self._visible(where)
        relations = {
            relation[:3]: relation for relation in self.engine.store.graph.relations_of_entries(narrowed)
        }
        reached = self.engine.store.graph.of_entries(narrowed)
        linked = self._links(self._visible(Filter()), reached)
        relations |= {relation[:3]: relation for relation in linked if relation[:3] not in relations}
        frontier = _ends(relations.values()) - reached
        reached |= frontier
        for _ in range(1, max_depth):
            self.call.raise_if_cancelled()
            nearby = self.engine.store.graph.relations_at(frontier, self._visible(Filter()))
            relations.update({relation[:3]: relation for relation in nearby if relation[:3] not in relations})
            frontier = _ends(nearby) - reached
            if not frontier:
                break
            reached |= frontier
        entities = self._counted(reached, narrowed)
        return GraphAnalysis(entities, _surest(_among(relations.values(), entities)), pending)

    def related(self, key: str, max_depth: int, predicates: Sequence[str], limit: int) -> RelatedEntities:
        """The entities around an item or an entity, nearest and most connected first."""
        if not key.strip():
            raise InvalidInput("key is empty.", hint="Name an item or an entity.", field="key")
        pending = self.update()
        start = self._named(key)
        if not start:
            raise NotFound("item or entity", key)
        before: dict[int, int | None] = dict.fromkeys(start)
        distance = dict.fromkeys(start, 0)
        relations: dict[tuple[int, str, int], Relation] = {}
        frontier, everything, is_whole = list(start), self._visible(Filter()), True
        for depth in range(1, max_depth + 1):
            self.call.raise_if_cancelled()
            share = MOST_STATEMENTS // len(frontier)
            nearby = self.engine.store.graph.relations_near(frontier, everything, predicates, share)
            nearby += self._links(everything, frontier, predicates)
            relations.update({relation[:3]: relation for relation in nearby})
            is_whole = is_whole and len(frontier) < MOST_EXPANDED and _most_said(nearby) < share
            frontier = _expand(frontier, nearby, before)
            distance.update(dict.fromkeys(frontier, depth))
            if not frontier:
                break
            frontier = frontier[:MOST_EXPANDED]
        described = self._described(start, before, distance, relations, limit, pending)
        return described._replace(is_whole=is_whole)

    def view(self, where: Filter) -> GraphView:
        """The graph of the matching items for drawing: the most mentioned entities and their relations."""
        whole = self.analyze(where, 2)
        entities = {entity.number: entity for entity in whole.entities[:MOST_NODES]}
        nodes = [
            GraphNode(entity_id(each), each.name, each.type, each.times, COLORS.get(each.type, PLAIN_COLOR))
            for each in entities.values()
        ]
        edges = [
            GraphEdge(
                entity_id(entities[r.subject]), entity_id(entities[r.object]), r.predicate, certainty(r)
            )
            for r in whole.relations
            if r.subject in entities and r.object in entities
        ]
        return GraphView(nodes, edges, len(whole.entities), whole.pending)

    def sources(self, entities: Iterable[Entity], where: Filter) -> dict[int, list[str]]:
        """The items, by key, that last mentioned each entity."""
        numbers = [entity.number for entity in entities]
        within = self.engine.store.graph.sources(numbers, self._visible(where))
        beyond = self.engine.store.graph.sources(
            [n for n in numbers if n not in within], self._visible(Filter())
        )
        return within | beyond

    def entities(self, where: Filter) -> list[Entity]:
        """The entities that matching items mention, most mentioned first."""
        return self.engine.store.graph.entities(self._visible(where))

    def _links(
        self, where: Filter, entities: Iterable[int], predicates: Sequence[str] = ()
    ) -> list[Relation]:
        """The user's links to memories that are among the entities."""
        relations = self.engine.store.links.relations(where, entities)
        return [relation for relation in relations if not predicates or relation.predicate in predicates]

    def _visible(self, where: Filter) -> Filter:
        """The filter restricted to memories of one surface, or of all if there is none."""
        surfaces = (self.surface,) if self.surface else tuple(self.engine.store.memories.surfaces())
        narrowed = where._replace(kinds=(Kind.MEMORY,), surfaces=surfaces)
        return self.caller.visible(narrowed)

    def _counted(self, reached: set[int], narrowed: Filter) -> list[Entity]:
        """Mention counts in the matching items; for entities that only other items mention, the counts in those."""
        own = self.engine.store.graph.entities(narrowed)
        other = reached - {entity.number for entity in own}
        return own + (self.engine.store.graph.entities(self._visible(Filter()), other) if other else [])

    def _named(self, key: str) -> list[int]:
        """The item of that key; else every entity of that name, or the one of that id (`file:src/app.py`)."""
        everything = self._visible(Filter())
        item = thing("item", key).number
        if self.engine.store.graph.labels([item], everything):
            return [item]
        type, _, name = key.partition(":")
        names = {thing(each, key).name for each in ("file", "issue", "service", "url", "name")}
        names |= {key.removesuffix("()"), key.removeprefix("@").lower()}
        if entities := self.engine.store.graph.named(sorted(names), everything):
            return entities
        wanted = thing("item" if type in IDENTIFIERS else type, name).number
        return [wanted] if self.engine.store.graph.labels([wanted], everything) else []

    def _described(
        self,
        start: Sequence[int],
        before: dict[int, int | None],
        distance: dict[int, int],
        relations: dict[tuple[int, str, int], Relation],
        limit: int,
        pending: int,
    ) -> RelatedEntities:
        degree = _degrees(relations.values())
        order = sorted(
            (number for number in distance if distance[number]),
            key=lambda number: (distance[number], -degree.get(number, 0), number),
        )
        chosen = order[:limit]
        on_the_way = {step for number in chosen for step in _way(number, before)}
        known = {
            each.number: each
            for each in self.engine.store.graph.labels(sorted({*on_the_way, *start}), self._visible(Filter()))
        }
        steps = [
            GraphStep(known[n], distance[n], tuple(known[step].name for step in _way(n, before)))
            for n in chosen
            if known.keys() >= set(_way(n, before))
        ]
        first = [known[n] for n in start if n in known]
        entities = [*first, *(step.entity for step in steps)]
        return RelatedEntities(
            first, steps, _surest(_among(relations.values(), entities)), len(order), pending, True
        )


def _ends(relations: Iterable[Relation]) -> set[int]:
    return {end for relation in relations for end in (relation.subject, relation.object)}


def _among(relations: Iterable[Relation], entities: Iterable[Entity | Label]) -> list[Relation]:
    """Relations between the given entities. Another process may have deleted the sources of the others."""
    numbers = {entity.number for entity in entities}
    return [relation for relation in relations if relation.subject in numbers and relation.object in numbers]


def _surest(relations: Iterable[Relation]) -> list[Relation]:
    return sorted(relations, key=lambda r: (-certainty(r), -r.sources, r.predicate, r.subject, r.object))


def _degrees(relations: Iterable[Relation]) -> dict[int, int]:
    degrees: dict[int, int] = {}
    for relation in relations:
        for end in (relation.subject, relation.object):
            degrees[end] = degrees.get(end, 0) + 1
    return degrees


def _most_said(relations: Iterable[Relation]) -> int:
    """Statements about the one entity, in one direction, that has the most of them."""
    counts: dict[tuple[str, int], int] = {}
    for relation in relations:
        for end in (("subject", relation.subject), ("object", relation.object)):
            counts[end] = counts.get(end, 0) + relation.sources
    return max(counts.values(), default=0)


def _expand(
    frontier: Sequence[int], relations: Sequence[Relation], before: dict[int, int | None]
) -> list[int]:
    """The entities one step further, the most connected first; `before` learns how each was reached."""
    inside = set(frontier)
    ways: dict[int, tuple[float, int]] = {}
    degree: dict[int, int] = {}
    for subject, _, object, confidence, _ in relations:
        for here, there in ((subject, object), (object, subject)):
            if here in inside and there not in before:
                ways[there] = min(ways.get(there, (1.0, here)), (-confidence, here))
                degree[there] = degree.get(there, 0) + 1
    before.update({there: here for there, (_, here) in ways.items()})
    return sorted(ways, key=lambda number: (-degree[number], number))


def _way(number: int, before: dict[int, int | None]) -> list[int]:
    way: list[int] = []
    step: int | None = number
    while step is not None:
        way.append(step)
        step = before[step]
    return way[::-1]
