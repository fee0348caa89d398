"""The facts of one text: entities, how often each is mentioned, and their relations. Names are normalised only here.

The entity of an identifier is its exact spelling: `class:AuthService` in code, `AuthService` in a sentence and an
item saved under that key are one. All other entities are distinguished by their type as well.
"""

from __future__ import annotations

import posixpath
from hashlib import blake2b
from typing import NamedTuple

FOLDED = frozenset(["service", "person", "package"])
"""Types whose names are case-insensitive."""

IDENTIFIERS = frozenset(["class", "error", "function", "item", "name"])
_ERROR_ENDINGS = ("Error", "Exception", "Fault")
LONGEST_NAME = 200
MOST_ENTITIES = 2_000
MOST_RELATIONS = 4_000
"""The maximum number of relations per text: a generated file must not fill the graph."""


def listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


class Thing(NamedTuple):
    """An entity, named as everyone names it."""

    type: str
    name: str

    @property
    def number(self) -> int:
        """A stable number, equal in every process and database."""
        kind = "identifier" if self.type in IDENTIFIERS else self.type
        digest = blake2b(f"{kind}:{self.name}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big", signed=True)


def thing(type: str, name: str) -> Thing:
    name = " ".join(name.split())[:LONGEST_NAME]
    if type == "class" and name.endswith(_ERROR_ENDINGS):
        type = "error"
    if type == "file":
        name = _path(name)
    elif type == "issue":
        name = name if "#" in name else name.upper()
    elif type in FOLDED:
        name = name.lower()
    elif type == "url":
        scheme, _, rest = name.partition("://")
        host, slash, path = rest.partition("/")
        name = f"{scheme.lower()}://{host.lower()}{slash}{path}".rstrip("/")
    return Thing(type, name)


def _path(name: str) -> str:
    slashed = name.replace("\\", "/")
    return posixpath.normpath(slashed) + ("/" if slashed.endswith("/") and slashed.strip("/.") else "")


class Facts:
    """Collects the facts of a text. A relation does not count as a mention of its ends; the reader calls `mention`."""

    def __init__(self, item: Thing) -> None:
        self.item = item
        self.times: dict[Thing, int] = {item: 1}
        self.relations: dict[tuple[Thing, str, Thing], float] = {}

    def mention(self, thing: Thing) -> Thing:
        if thing in self.times or len(self.times) < MOST_ENTITIES:
            self.times[thing] = self.times.get(thing, 0) + 1
        return thing

    def relate(self, subject: Thing, predicate: str, object: Thing, confidence: float) -> None:
        if subject.number == object.number or not (subject in self.times and object in self.times):
            return
        claim = (subject, predicate, object)
        if claim in self.relations or len(self.relations) < MOST_RELATIONS:
            self.relations[claim] = max(confidence, self.relations.get(claim, 0.0))
