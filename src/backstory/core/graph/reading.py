"""One text → its facts: code is read as code, the rest as sentences."""

from __future__ import annotations

from ...domain.graph import Extract, Mention, Relation, Ungraphed
from .code import pieces, read_code
from .facts import Facts, thing
from .prose import read_prose
from .traces import read_traces
from .trees import is_installed

VERSION = 1
"""Raised when reading gets better: everything is then read again, little by little."""

LONGEST_TEXT = 100_000
MENTIONS = "mentions"


def extractor() -> int:
    """Which reader this is; a higher number reads better. Parsers of more languages make it one better."""
    return 2 * VERSION + is_installed()


def read(entry: Ungraphed) -> Extract:
    item = thing("item", entry.name)
    facts = Facts(item)
    for piece in pieces(read_traces(entry.text[:LONGEST_TEXT], facts)):
        if piece.language is None or not read_code(piece, facts):
            read_prose(piece.text, facts, is_decision=entry.category == "decision")
    for found in facts.times:
        facts.relate(item, MENTIONS, found, 1.0)
    return Extract(entry.entry, entry.revision, item.number, _mentions(facts), _relations(facts))


def _mentions(facts: Facts) -> list[Mention]:
    """One for each entity: a class that a sentence names without saying that it is one is still that class."""
    merged: dict[int, Mention] = {}
    for each, times in facts.times.items():
        known = merged.get(each.number)
        type = min(known.type, each.type) if known else each.type
        merged[each.number] = Mention(each.number, type, each.name, times + (known.times if known else 0))
    return list(merged.values())


def _relations(facts: Facts) -> list[Relation]:
    merged: dict[tuple[int, str, int], float] = {}
    for (subject, predicate, object), confidence in facts.relations.items():
        claim = (subject.number, predicate, object.number)
        merged[claim] = max(confidence, merged.get(claim, 0.0))
    return [Relation(*claim, confidence) for claim, confidence in merged.items()]
