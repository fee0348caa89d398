"""The knowledge graph: entities that items mention, and their relations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict

from ...core import Core
from ...core.graph import certainty, entity_id
from ...domain.filters import Filter
from ...domain.when import from_ms, iso
from ...tools import READS
from ...tools.budget import fitting
from ...tools.params import Range
from .vocabulary import surface

if TYPE_CHECKING:
    from ...core.graph import GraphAnalysis
    from ...domain.graph import Entity, Label, Relation

LIST_BYTES = 30_000  # size limit of the entities, and separately of the relations


class EntityBody(TypedDict):
    id: str
    type: str
    name: str
    count: int
    attributes: dict[str, Any]


class RelationBody(TypedDict):
    subject: str
    predicate: str
    object: str
    confidence: float


class GraphStats(TypedDict):
    totalEntities: int
    totalRelations: int
    types: dict[str, int]


class GraphAnswer(TypedDict):
    entities: list[EntityBody]
    relations: list[RelationBody]
    stats: GraphStats
    notices: NotRequired[list[str]]


class RelatedEntity(TypedDict):
    id: str
    name: str
    type: str
    distance: int
    path: list[str]


class RelatedThings(TypedDict):
    entities: list[RelatedEntity]
    relations: list[RelationBody]
    totalEntities: int
    notices: NotRequired[list[str]]


MOST_RELATED = 500
Depth = Annotated[int, "How many relations away to go", Range(low=1)]


@surface.tool("Analyze context", READS)
def context_analyze(
    core: Core,
    categories: Annotated[list[str] | None, "Analyze only items of these categories"] = None,
    session_id: Annotated[str | None, "Analyze only items of this session"] = None,
    max_depth: Depth = 2,
) -> GraphAnswer:
    """List the things that saved items speak of (files, functions, classes, modules, packages, services, people,
    URLs, issues, settings, errors, other items) with how often, and how they relate. maxDepth 1 gives what the items
    themselves mention, fix or decide; 2 adds what any item says of those things; more goes further from them."""
    where = _narrowed(core, categories, session_id)
    analysis = core.graph.analyze(where, max_depth)
    entities = _entity_bodies(core, analysis.entities, where)
    relations = _relation_bodies(analysis.relations, analysis.entities)
    types: dict[str, int] = {}
    for entity in analysis.entities:
        types[entity.type] = types.get(entity.type, 0) + 1
    reply: GraphAnswer = {
        "entities": entities,
        "relations": relations,
        "stats": {
            "totalEntities": len(analysis.entities),
            "totalRelations": len(analysis.relations),
            "types": dict(sorted(types.items())),
        },
    }
    notices = [*_left_out(analysis, len(entities), len(relations)), *_unread(analysis.pending)]
    return {**reply, "notices": notices} if notices else reply


@surface.tool("Find related", READS)
def context_find_related(
    core: Core,
    key: Annotated[str, "Key of an item, or the name of a file, function, class, issue, setting …"],
    max_depth: Depth = 2,
    relation_types: Annotated[
        list[str] | None, "Follow only these relations, such as calls, imports, depends_on, fixes, mentions"
    ] = None,
    limit: Annotated[int, "Maximum number of entities", Range(low=1)] = 50,
) -> RelatedThings:
    """Find what is related to an item or a thing, nearest first, each with the path that leads to it."""
    related = core.graph.related(key, max_depth, relation_types or (), min(limit, MOST_RELATED))
    entities: list[RelatedEntity] = [
        {
            "id": entity_id(step.entity),
            "name": step.entity.name,
            "type": step.entity.type,
            "distance": step.distance,
            "path": list(step.path),
        }
        for step in related.steps
    ]
    relations = _relation_bodies(
        related.relations, [*related.start, *(step.entity for step in related.steps)]
    )
    reply: RelatedThings = {"entities": entities, "relations": relations, "totalEntities": related.total}
    notices = _unread(related.pending)
    if not related.is_whole:
        notices.append(
            "Some things are mentioned so often that only what was said last of them was followed."
        )
    if related.total > len(entities):
        how = "a larger limit shows them" if limit < MOST_RELATED else "relationTypes narrows them"
        notices.append(f"{related.total - len(entities)} more entities are related; {how}.")
    if len(related.relations) > len(relations):
        notices.append(
            f"{len(related.relations) - len(relations)} less sure relations do not fit into this answer."
        )
    return {**reply, "notices": notices} if notices else reply


def _narrowed(core: Core, categories: list[str] | None, session_id: str | None) -> Filter:
    threads = () if session_id is None else (core.sessions.get(session_id).id,)
    return Filter(categories=tuple(categories or ()), threads=threads)


def _entity_bodies(core: Core, entities: list[Entity], where: Filter) -> list[EntityBody]:
    """Return the most mentioned entities that fit."""
    likely = entities[: LIST_BYTES // 100]
    sources = core.graph.sources(likely, where)
    bodies: Iterator[EntityBody] = (
        {
            "id": entity_id(entity),
            "type": entity.type,
            "name": entity.name,
            "count": entity.times,
            "attributes": {
                "firstSeen": iso(from_ms(entity.first_ms)),
                "lastSeen": iso(from_ms(entity.last_ms)),
                "sources": sources.get(entity.number, []),
                "sourceCount": entity.sources,
            },
        }
        for entity in likely
    )
    return fitting(bodies, LIST_BYTES, least=0)


def _relation_bodies(relations: list[Relation], entities: Sequence[Entity | Label]) -> list[RelationBody]:
    """Return the most certain relations that fit."""
    ids = {entity.number: entity_id(entity) for entity in entities}
    bodies: Iterator[RelationBody] = (
        {
            "subject": ids[relation.subject],
            "predicate": relation.predicate,
            "object": ids[relation.object],
            "confidence": certainty(relation),
        }
        for relation in relations
    )
    return fitting(bodies, LIST_BYTES, least=0)


def _left_out(analysis: GraphAnalysis, entities: int, relations: int) -> list[str]:
    parts = [
        f"{total - listed} {noun}"
        for noun, listed, total in (
            ("entities", entities, len(analysis.entities)),
            ("relations", relations, len(analysis.relations)),
        )
        if listed < total
    ]
    if not parts:
        return []
    return [
        f"The most mentioned are shown; {' and '.join(parts)} are left out."
        " Narrow by categories or sessionId, or ask context_find_related."
    ]


def _unread(pending: int) -> list[str]:
    return [f"{pending} items are not read yet; calling again goes on."] if pending else []
