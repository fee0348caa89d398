"""Graph: the subjects of memories around one subject, as a drawing and as a table.

Edges are springs, and nodes repel each other (Fruchterman, Reingold 1991). The same graph always looks the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice

from ...core import Core
from ...core.graph import COLORS, RelatedEntities, certainty, entity_id
from ...core.names import short_memory_id
from ...domain.arrays import np
from ...domain.errors import NotFound
from ...domain.filters import Filter
from ...domain.graph import Entity, Label
from ..figures import figure
from ..page_query import PageQuery
from ..view import Json, View

MOST_NODES = 60
MOST_RELATIONS = 200
MOST_THINGS = 60
EVERY_SURFACE = ""
TYPES = tuple(COLORS)
ITEM = "item"
STEPS = 60
WARMTH = 0.12  # of the width, that a node may move in the first step


def page(core: Core, asked: PageQuery) -> View:
    graph = core.through(EVERY_SURFACE).graph
    about = asked.text("about")
    body: Json = {
        "about": about,
        "pending": 0,
        "nodes": [],
        "relations": [],
        "things": [],
        "missing": False,
        "total": 0,
        "types": [],
    }
    if about:
        try:
            related = graph.related(about, asked.number("steps", 2, least=1, most=3), (), MOST_NODES)
            body |= _around(related, _texts(core, related)) | {"pending": related.pending}
        except NotFound:
            body["missing"] = True
    if not body["nodes"]:
        body["pending"] = graph.update()
        body["things"] = figure(core, "things", lambda: _things(graph.entities(Filter())))
    return View("graph.html", body, about or "Graph")


def _things(entities: Sequence[Entity]) -> list[Json]:
    """The most frequent subjects of memories. An entity without a key is skipped: its name is a meaningless id."""
    named = (each for each in entities if each.type != ITEM or short_memory_id(each.name) == each.name)
    return [_thing(each) for each in islice(named, MOST_THINGS)]


def _thing(entity: Entity) -> Json:
    return {
        "id": entity_id(entity),
        "name": entity.name,
        "type": entity.type,
        "times": entity.times,
        "sources": entity.sources,
    }


def _texts(core: Core, related: RelatedEntities) -> dict[str, str]:
    """The beginnings of memories without a key, which are identified by their id."""
    names = tuple(label.name for label in _labels(related) if label.type == ITEM)
    return {id: memory.text for id, memory in core.memories.by_id(names).items()}


def _labels(related: RelatedEntities) -> list[Label]:
    return [*related.start, *(step.entity for step in related.steps)]


def _around(related: RelatedEntities, texts: dict[str, str]) -> Json:
    labels = _labels(related)
    places = {label.number: place for place, label in enumerate(labels)}
    relations = [each for each in related.relations if each.subject in places and each.object in places]
    edges = [(places[each.subject], places[each.object]) for each in relations]
    degrees = Counter(end for edge in edges for end in edge)
    distances = [0] * len(related.start) + [step.distance for step in related.steps]
    spots = layout(len(labels), edges)
    return {
        "nodes": [
            {
                "id": entity_id(label),
                "name": label.name,
                "label": texts.get(label.name, label.name),
                "type": label.type,
                "distance": distances[place],
                "degree": degrees[place],
                "x": spots[place][0],
                "y": spots[place][1],
            }
            for place, label in enumerate(labels)
        ],
        "relations": [
            {
                "subject": places[each.subject],
                "predicate": each.predicate.replace("_", " "),
                "object": places[each.object],
                "certainty": certainty(each),
                "sources": each.sources,
            }
            for each in relations[:MOST_RELATIONS]
        ],
        "total": related.total,
        "types": [name for name in TYPES if any(label.type == name for label in labels)],
    }


def layout(count: int, edges: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """The position of each node, x and y from 0 to 1."""
    if count == 0:
        return []
    turn = np.arange(count) * 2.399963  # the golden angle: no two begin in one line
    place = np.sqrt(np.arange(count) / count) / 2 * np.exp(1j * turn)  # x and y as one complex number
    ideal = 0.8 / np.sqrt(count)
    first, second = np.array(edges, np.int64).reshape(-1, 2).T
    for step in range(STEPS):
        apart = place[:, None] - place
        force = (apart * (ideal**2 / np.maximum(apart.real**2 + apart.imag**2, 1e-6))).sum(1)
        along = place[first] - place[second]
        pull = along * np.abs(along) / ideal
        np.add.at(force, first, -pull)
        np.add.at(force, second, pull)
        length = np.maximum(np.abs(force), 1e-6)
        place += force / length * np.minimum(length, WARMTH * (1 - step / STEPS))
    spots = np.stack([place.real, place.imag], axis=1)
    low, high = spots.min(0), spots.max(0)
    width = np.maximum(high - low, 1.5 * ideal)  # two or three are not torn to the edges
    fitted = 0.5 + (spots - (low + high) / 2) / width
    return [(round(float(x), 4), round(float(y), 4)) for x, y in fitted]
