"""One text → its facts: stack traces call by call, code as code, the rest as sentences."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from ...domain.graph import Extract, Mention, Relation, UnreadEntry
from .code import pieces, read_code
from .facts import Facts, Thing, thing
from .prose import read_prose
from .trees import is_installed

VERSION = 2
"""Raised when reading gets better: everything is then read again, little by little."""

LONGEST_TEXT = 100_000
MENTIONS = "mentions"
CONFIDENCE = 0.9


def extractor() -> int:
    """The version of the extractor; a higher number reads better. Installed parsers raise it by one."""
    return 2 * VERSION + is_installed()


def read(entry: UnreadEntry) -> Extract:
    item = thing("item", entry.name)
    facts = Facts(item)
    for piece in pieces(read_traces(entry.text[:LONGEST_TEXT], facts)):
        if piece.language is None or not read_code(piece, facts):
            read_prose(piece.text, facts, is_decision=entry.category == "decision")
    for time in facts.times:
        facts.relate(item, MENTIONS, time, 1.0)
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


@cache
def _python() -> re.Pattern[str]:
    return re.compile(r'^[ \t]*File "([^"\n]+)", line \d+, in (\w+|<\w+>)[ \t]*$', re.MULTILINE)


@cache
def _javascript() -> re.Pattern[str]:
    return re.compile(
        r"^[ \t]*at (?:async )?([\w$.<>]+)(?: \[as \w+\])? \((?:file://)?([^()\n]+?):\d+(?::\d+)?\)[ \t]*$",
        re.MULTILINE,
    )


def read_traces(text: str, facts: Facts) -> str:
    """Read stack frames, and return the text without them: a frame is not a sentence."""
    if "line " in text:
        _relate(_frames([(name, path) for path, name in _python().findall(text)], facts), facts)
        text = _python().sub("\n", text)
    if "at " in text:
        inner_first = _frames(_javascript().findall(text), facts)
        _relate(inner_first[::-1], facts)
        text = _javascript().sub("\n", text)
    return text


def _frames(pairs: list[tuple[str, str]], facts: Facts) -> list[tuple[Thing, Thing]]:
    """The function and the file of each frame."""
    return [
        (facts.mention(thing("function", name)), facts.mention(thing("file", path)))
        for name, path in pairs
        if not name.startswith("<")
    ]


def _relate(frames: list[tuple[Thing, Thing]], facts: Facts) -> None:
    """Frames from the outermost call to the innermost."""
    for function, file in frames:
        facts.relate(function, "located_in", file, CONFIDENCE)
    for (outer, _), (inner, _) in pairwise(frames):
        facts.relate(outer, "calls", inner, CONFIDENCE)
