"""The knowledge graph: entities that entries mention, and relations between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class UnreadEntry(NamedTuple):
    """An entry that was not analysed yet, or changed since."""

    entry: int
    revision: int
    name: str
    category: str | None
    text: str


class Mention(NamedTuple):
    """An entity and the number of times an entry mentions it."""

    entity: int
    type: str
    name: str
    times: int


class Relation(NamedTuple):
    """A relation between two entities, as stated by entries."""

    subject: int
    predicate: str
    object: int
    confidence: float
    sources: int = 1
    """Number of entries that state this relation."""


class Extract(NamedTuple):
    """Everything extracted from an entry. The entry itself is the entity `entity`."""

    entry: int
    revision: int
    entity: int
    mentions: Sequence[Mention]
    relations: Sequence[Relation]


class Label(NamedTuple):
    number: int
    type: str
    name: str


class Entity(NamedTuple):
    number: int
    type: str
    name: str
    times: int
    sources: int
    first_ms: int
    last_ms: int
