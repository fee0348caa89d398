"""Graph: the things that memories speak of around one of them, drawn and as a table."""

from __future__ import annotations

from collections import Counter

from ...core import Core
from ...core.graph import COLORS, Related, certainty, entity_id
from ...domain.errors import NotFound
from ...domain.filters import Filter, Page
from ...domain.graph import Entity, Label
from ..asked import Asked
from ..layout import layout
from ..view import Json, View

MOST_NODES = 60
MOST_RELATIONS = 200
MOST_THINGS = 60
EVERY_SURFACE = ""
TYPES = tuple(COLORS)
ITEM = "item"


def page(core: Core, asked: Asked) -> View:
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
        body["things"] = [_thing(each) for each in graph.entities(Filter())[:MOST_THINGS]]
    return View("graph.html", body, about or "Graph")


def _thing(entity: Entity) -> Json:
    return {
        "id": entity_id(entity),
        "name": entity.name,
        "type": entity.type,
        "times": entity.times,
        "sources": entity.sources,
    }


def _texts(core: Core, related: Related) -> dict[str, str]:
    """How memories without a key begin: these are known by their id."""
    names = tuple(label.name for label in _labels(related) if label.type == ITEM)
    where = core.caller.visible(Filter(ids=names))
    return {each.id: each.text for each in core.engine.store.memories.find(where, Page())} if names else {}


def _labels(related: Related) -> list[Label]:
    return [*related.start, *(step.entity for step in related.steps)]


def _around(related: Related, texts: dict[str, str]) -> Json:
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
