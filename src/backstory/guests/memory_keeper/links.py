"""Links that the user creates between items, and traversal along them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

from ...core import Core
from ...domain.errors import InvalidInput, NotFound
from ...domain.filters import Filter, Page, Sorting
from ...domain.links import MemoryLink
from ...domain.metadata import as_given, as_object
from ...domain.records import Memory
from ...domain.when import iso
from ...tools import ADDS, READS
from ...tools.budget import fitting, size
from ...tools.origin import safe_text
from ...tools.params import Json, Range
from .fitting import AnswerItem, cut
from .vocabulary import surface

Relationship = Literal[
    "contains", "depends_on", "references", "implements", "extends", "related_to", "blocks", "blocked_by", "parent_of",
    "child_of", "has_task", "documented_in", "serves", "leads_to",
]  # fmt: skip
Direction = Literal["outgoing", "incoming", "both"]
RELATED_BYTES = 40_000
"""Size limit of the related items with their values.

The graph and the flat list repeat the keys and get 20,000 each."""
LIST_BYTES = 20_000
VALUE_BYTES = 4_000  # size limit of one related item
LABEL_CHARS = 50


class LinkAnswer(TypedDict):
    operation: str
    relationshipId: str
    sourceKey: str
    targetKey: str
    relationship: str
    metadata: NotRequired[Any]
    created: bool
    timestamp: str


class RelatedItem(TypedDict):
    key: str
    value: str
    category: str | None
    priority: str
    relationshipType: str
    relationshipId: str
    metadata: Any
    direction: str
    distance: int
    path: list[str]


class RelatedLists(TypedDict):
    outgoing: list[RelatedItem]
    incoming: list[RelatedItem]


class FlatItem(TypedDict):
    key: str
    category: str | None
    priority: str
    relationshipType: str
    direction: str
    distance: int
    path: list[str]


class LinkNode(TypedDict):
    id: str
    label: str
    type: str


class LinkEdge(TypedDict):
    source: str
    target: str
    type: str
    label: str
    metadata: Any


class LinkGraph(TypedDict):
    nodes: list[LinkNode]
    edges: list[LinkEdge]
    maxDepth: int


class LinkSummary(TypedDict):
    totalNodes: int
    totalEdges: int
    relationshipTypes: list[str]


class RelatedAnswer(TypedDict):
    operation: str
    key: str
    related: RelatedLists
    totalRelated: int
    items: list[FlatItem]
    totalCount: int
    graph: LinkGraph
    visualization: NotRequired[Json]
    summary: NotRequired[LinkSummary]
    message: NotRequired[str]
    notices: NotRequired[list[str]]


@surface.tool("Link items", ADDS)
def context_link(
    core: Core,
    source_key: Annotated[str, "Key of the item that the link begins at"],
    target_key: Annotated[str, "Key of the item that it leads to"],
    relationship: Annotated[Relationship, "How the first is related to the second"],
    metadata: Annotated[Any, "Any further JSON"] = None,
) -> LinkAnswer:
    """Link two items.

    Linking them again in the same way changes nothing but the metadata, if some is given. Links go with their items."""
    source, target = _item(core, source_key), _item(core, target_key)
    if source.id == target.id:
        raise InvalidInput(
            "targetKey is the item itself.", hint="Link two different items.", field="targetKey"
        )
    store, now = core.engine.store, core.engine.now()
    with store.transaction():
        known = store.links.get(source.id, target.id, relationship)
        link = known or MemoryLink(core.engine.new_id(), source.id, target.id, relationship, now, now)
        if known is None or metadata is not None:
            link = link._replace(metadata=as_object(metadata), updated_at=now)
            core.engine.check_room()
            store.links.put(link)
            store.changes.note_update((source.id, target.id), now)
    reply: LinkAnswer = {
        "operation": "context_link",
        "relationshipId": link.id,
        "sourceKey": source_key,
        "targetKey": target_key,
        "relationship": relationship,
        "created": known is None,
        "timestamp": iso(now),
    }
    return {**reply, "metadata": as_given(link.metadata)} if link.metadata else reply


@surface.tool("Get linked items", READS)
def context_get_related(
    core: Core,
    key: Annotated[str, "Key of the item to start from"],
    relationship: Annotated[Relationship | None, "Follow only links of this kind"] = None,
    depth: Annotated[int, "How many links away to go", Range(low=1, high=10)] = 1,
    direction: Annotated[Direction, "Which links to follow, from each item on the way"] = "both",
) -> RelatedAnswer:
    """Follow the links of an item.

    Each item is listed once, at its shortest distance, with the path that leads to it; context_find_related also
    follows what the texts of items say."""
    start = _item(core, key)
    steps, links = _walk(core, start, relationship, depth, direction)
    related = _related(steps)
    flat: list[FlatItem] = fitting(map(_flat, steps), LIST_BYTES, least=0)
    graph = _graph(start, steps, links, depth)
    reply: RelatedAnswer = {
        "operation": "context_get_related",
        "key": key,
        "related": related,
        "totalRelated": len(steps),
        "items": flat,
        "totalCount": len(steps),
        "graph": graph,
    }
    if not steps:
        reply["message"] = "No relationships found."
    if depth > 1:
        reply["summary"] = {
            "totalNodes": len(steps) + 1,
            "totalEdges": len(links),
            "relationshipTypes": sorted({link.relationship for link in links}),
        }
        reply["visualization"] = {"format": "graph", **_drawing(graph)}
    fitting_steps = len(related["outgoing"]) + len(related["incoming"])
    if fitting_steps < len(steps):
        left = len(steps) - fitting_steps
        reply["notices"] = [
            f"{left:,} more items do not fit into this answer; a smaller depth or one relationship narrows it."
        ]
    return reply


def _item(core: Core, key: str) -> Memory:
    """Return the item with a key like context_get: of the own session first, then public ones of all sessions."""
    listing = core.retrieval.items(Filter(keys=(key,)), Sorting(), limit=1, offset=0)
    if not listing.memories:
        raise NotFound("item", key)
    return listing.memories[0]


class LinkStep(NamedTuple):
    """An item that a traversal along links reached."""

    memory: Memory
    link: MemoryLink
    direction: Literal["outgoing", "incoming"]
    """Direction of the link, as seen from the previous item."""
    path: tuple[str, ...]
    """Keys from the start to the item."""


def _walk(
    core: Core, start: Memory, relationship: str | None, depth: int, direction: Direction
) -> tuple[list[LinkStep], list[MemoryLink]]:
    """The steps to the related items, and all links between the start and these."""
    steps: dict[str, LinkStep | None] = {start.id: None}
    links_seen: dict[str, MemoryLink] = {}
    frontier: dict[str, tuple[str, ...]] = {start.id: (_name(start),)}
    for _ in range(depth):
        core.call.raise_if_cancelled()
        touching = core.engine.store.links.at(frontier)
        links = [link for link in touching if relationship in (None, link.relationship)]
        visible = _visible(core, {end for link in links for end in (link.source, link.target)})
        links_seen |= {link.id: link for link in links if {link.source, link.target} <= visible.keys()}
        ahead: dict[str, tuple[str, ...]] = {}
        for here, there, way, link in _ways(links, frontier, direction):
            if there in steps or there not in visible:
                continue
            path = (*frontier[here], _name(visible[there]))
            steps[there] = LinkStep(visible[there], link, way, path)
            ahead[there] = path
        frontier = ahead
        if not frontier:
            break
    among = [link for link in links_seen.values() if {link.source, link.target} <= steps.keys()]
    return [step for step in steps.values() if step is not None], among


def _ways(
    links: Sequence[MemoryLink], frontier: dict[str, tuple[str, ...]], direction: Direction
) -> Iterator[tuple[str, str, Literal["outgoing", "incoming"], MemoryLink]]:
    """Yield, for each item of the frontier, the item, the next one, and the link between them."""
    for link in links:
        if direction != "incoming" and link.source in frontier:
            yield link.source, link.target, "outgoing", link
        if direction != "outgoing" and link.target in frontier:
            yield link.target, link.source, "incoming", link


def _visible(core: Core, ids: set[str]) -> dict[str, Memory]:
    if not ids:
        return {}
    return {memory.id: memory for memory in core.memories.find(Filter(ids=tuple(sorted(ids))), Page())}


def _name(memory: Memory) -> str:
    return memory.key or memory.id


def _related(steps: Sequence[LinkStep]) -> RelatedLists:
    """Return the nearest items that fit, by direction."""
    bodies = ((step.direction, cut(AnswerItem(step.memory.id, _body(step)), VALUE_BYTES)) for step in steps)
    fitting_steps = fitting(bodies, RELATED_BYTES, cost=lambda pair: size(pair[1]))
    return {
        "outgoing": [body for way, body in fitting_steps if way == "outgoing"],
        "incoming": [body for way, body in fitting_steps if way == "incoming"],
    }


def _body(step: LinkStep) -> Json:
    memory, link = step.memory, step.link
    return {
        "key": _name(memory),
        "value": safe_text(memory.text, memory.trust),
        "category": memory.category,
        "priority": memory.priority.value,
        "relationshipType": link.relationship,
        "relationshipId": link.id,
        "metadata": as_given(link.metadata) if link.metadata else None,
        "direction": step.direction,
        "distance": len(step.path) - 1,
        "path": list(step.path),
    }


def _flat(step: LinkStep) -> FlatItem:
    return {
        "key": _name(step.memory),
        "category": step.memory.category,
        "priority": step.memory.priority.value,
        "relationshipType": step.link.relationship,
        "direction": step.direction,
        "distance": len(step.path) - 1,
        "path": list(step.path),
    }


def _graph(start: Memory, steps: list[LinkStep], links: list[MemoryLink], depth: int) -> LinkGraph:
    memories = [start, *(step.memory for step in steps)]
    names = {memory.id: _name(memory) for memory in memories}
    nodes: Iterator[LinkNode] = (
        {
            "id": _name(memory),
            "label": safe_text(memory.text[:LABEL_CHARS], memory.trust),
            "type": memory.category or "default",
        }
        for memory in memories
    )
    edges: Iterator[LinkEdge] = (
        {
            "source": names[link.source],
            "target": names[link.target],
            "type": link.relationship,
            "label": link.relationship.replace("_", " "),
            "metadata": as_given(link.metadata) if link.metadata else None,
        }
        for link in links
    )
    return {
        "nodes": fitting(nodes, LIST_BYTES // 2),
        "edges": fitting(edges, LIST_BYTES // 2, least=0),
        "maxDepth": depth,
    }


def _drawing(graph: LinkGraph) -> Json:
    """Return the graph with MCP Memory Keeper's names for the ends of edges."""
    edges = [
        {"from": edge["source"], "to": edge["target"], "type": edge["type"], "label": edge["label"]}
        for edge in graph["edges"]
    ]
    return {"nodes": graph["nodes"], "edges": edges}
