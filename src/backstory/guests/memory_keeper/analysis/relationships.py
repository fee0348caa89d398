"""Relationships from the knowledge graph, with the memories that support them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....core.graph import Graph, certainty
from ....core.insight.findings import MOST_EVIDENCE, EvidenceItem, Finding, Sample
from ....domain.filters import Filter
from ....domain.graph import Entity, Relation

MOST_HUBS = 15
MOST_RELATIONS = 40
LEAST_CONNECTED = 3  # minimum number of connections of a hub
NAMED = 5  # maximum number of connections named in its statement
ITEM = "item"


def relationships(
    graph: Graph, where: Filter, sample: Sample, max_depth: int, types: Sequence[str]
) -> list[Finding]:
    """Return the entities with the most connections, then the most certain relations."""
    analysis = graph.analyze(where, max_depth)
    known = {entity.number: entity for entity in analysis.entities}
    relations = [
        relation
        for relation in analysis.relations
        if relation.subject in known
        and relation.object in known
        and (not types or {known[relation.subject].type, known[relation.object].type} & set(types))
    ]
    hubs = _hubs(known, relations, types)
    between_names = [
        each for each in relations if ITEM not in (known[each.subject].type, known[each.object].type)
    ]
    between_names = (between_names or relations)[:MOST_RELATIONS]
    ends = [known[number] for each in between_names for number in (each.subject, each.object)]
    keys = graph.sources({entity.number: entity for entity in [*ends, *hubs]}.values(), where)
    ids = {memory.key or memory.id: memory.id for memory in reversed(sample.memories)}
    sources = {
        number: tuple(EvidenceItem(ids.get(key, key), key) for key in named) for number, named in keys.items()
    }
    return [
        *(_hub(entity, others, sources.get(entity.number, ())) for entity, others in hubs.items()),
        *(_relation(relation, known, sources) for relation in between_names),
    ]


def _hubs(
    known: Mapping[int, Entity], relations: Sequence[Relation], types: Sequence[str]
) -> dict[Entity, list[str]]:
    """Return the most connected entities, with the names of their neighbours."""
    others: dict[int, dict[int, None]] = {}
    for relation in relations:
        others.setdefault(relation.subject, {})[relation.object] = None
        others.setdefault(relation.object, {})[relation.subject] = None
    chosen = [
        number
        for number in others
        if len(others[number]) >= LEAST_CONNECTED
        and (known[number].type in types if types else known[number].type != ITEM)
    ]
    ranked = sorted(chosen, key=lambda number: (-len(others[number]), known[number].name, number))
    return {known[number]: [known[other].name for other in others[number]] for number in ranked[:MOST_HUBS]}


def _hub(entity: Entity, others: Sequence[str], evidence: tuple[EvidenceItem, ...]) -> Finding:
    named = ", ".join(others[:NAMED])
    more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
    return Finding(
        kind="hub",
        statement=f"{entity.name} ({entity.type}) is connected to {len(others)} others: {named}{more}.",
        times=len(others),
        evidence=evidence[:MOST_EVIDENCE],
        about=entity.name,
    )


def _relation(
    relation: Relation, known: Mapping[int, Entity], sources: Mapping[int, tuple[EvidenceItem, ...]]
) -> Finding:
    subject, object = known[relation.subject], known[relation.object]
    of_object = sources.get(relation.object, ())
    both = [source for source in sources.get(relation.subject, ()) if source in of_object]
    evidence = tuple(both) or sources.get(relation.subject, ()) or of_object
    verb = relation.predicate.replace("_", " ")
    return Finding(
        kind="relation",
        statement=f"{subject.name} ({subject.type}) {verb} {object.name} ({object.type}), certainty {certainty(relation):.2f}.",
        times=relation.sources,
        evidence=evidence[:MOST_EVIDENCE],
        about=f"{subject.name} {verb} {object.name}",
    )
