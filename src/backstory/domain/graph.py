"""The knowledge graph: what each entry mentions, and what it says of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class UnreadEntry(NamedTuple):
    """An entry that was not read yet, or changed since."""

    entry: int
    revision: int
    name: str
    category: str | None
    text: str


class Mention(NamedTuple):
    """An entry names an entity so many times."""

    entity: int
    type: str
    name: str
    times: int


class Relation(NamedTuple):
    """Entries say this of two entities."""

    subject: int
    predicate: str
    object: int
    confidence: float
    sources: int = 1
    """How many entries say so."""


class Extract(NamedTuple):
    """All that was found in an entry, which is itself the `entity`."""

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
