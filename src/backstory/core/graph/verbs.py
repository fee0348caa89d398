"""Words that relate one thing to another: verb → predicate, and which of the two does it."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from .facts import listed

# predicate: words for "left PREDICATE right"; after the bar, words for "right PREDICATE left"
_TABLE = {
    "calls": "call calls calling invoke invokes invoking | called by, invoked by",
    "imports": "import imports importing | imported by, imported from",
    "extends": "extend extends extending subclass subclasses, inherits from, inherit from | extended by, subclassed by",
    "implements": "implement implements implementing implemented | implemented by, implemented in",
    "contains": "contain contains containing include includes, consists of, made of | contained in, included in",
    "defines": "define defines declare declares | defined in, declared in, defined by",
    "depends_on": "depends on, depend on, depending on, requires, require, relies on, rely on, needs, blocked by, waits for"
    " | required by, needed by",
    "uses": "use uses using, talks to, connects to, reads from, writes to, queries, switched to, moved to, migrated to"
    " | used by, used in",
    "fixes": "fix fixes fixed fixing resolve resolves resolved close closes closed, solved | fixed by, fixed in, resolved by,"
    " resolved in, closed by",
    "causes": "cause causes caused raise raises raised throw throws threw, leads to, results in, fails with, failed with,"
    " crashes with | caused by, thrown by, thrown in, raised by, raised in, due to",
    "replaces": "replace replaces replaced replacing, instead of, supersedes, over | replaced by, replaced with, superseded by",
    "returns": "return returns returning | returned by, returned from",
    "tests": "tests testing covers verifies | tested by, tested in, covered by",
    "configures": "configure configures, controls | configured by, configured in, configured with, controlled by, read from",
    "blocks": "blocks blocking",
    "assigned_to": "assigned to, owned by, reviewed by, reported by, maintained by",
    "located_in": "in, at, inside, within, lives in, located in, found in, from",
    "part_of": "part of, belongs to, module of, method of, member of",
}


class Link(NamedTuple):
    predicate: str
    is_reversed: bool
    confidence: float


@cache
def _phrases() -> dict[tuple[str, ...], tuple[str, bool]]:
    phrases = {}
    for predicate, words in _TABLE.items():
        for side, is_reversed in zip(words.split("|"), (False, True), strict=False):
            for group in side.split(","):
                listed = group.split()
                # a group without prepositions is a list of single words
                several = len(listed) > 1 and not _SMALL.isdisjoint(listed)
                for phrase in [listed] if several else [[word] for word in listed]:
                    phrases[tuple(phrase)] = (predicate, is_reversed)
    return phrases


_SMALL = listed("by in on of to with from for")
_NEGATIONS = listed("not never no without n't don't doesn't didn't cannot can't isn't")
_WEAK = frozenset(["located_in"])
_LONGEST_PHRASE = 2


@cache
def _word() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z']+")


def words_of(gap: str) -> list[str]:
    return [word.lower() for word in _word().findall(gap)]


def link_in(gap: str) -> Link | None:
    """What the words between two things say of them; a verb beats a preposition, and of several the last
    one, which stands nearest to what it is said of."""
    words = words_of(gap)
    if not _NEGATIONS.isdisjoint(words):
        return None
    strong: Link | None = None
    weak: Link | None = None
    place = 0
    while place < len(words):
        for length in range(min(_LONGEST_PHRASE, len(words) - place), 0, -1):
            known = _phrases().get(tuple(words[place : place + length]))
            if known is None:
                continue
            # the further the words stand apart, the less sure that they belong together
            link = Link(*known, round(0.85 - 0.03 * min(len(words) - length, 10), 2))
            if known[0] in _WEAK:
                weak = weak or link
            else:
                strong = link
            place += length - 1
            break
        place += 1
    return strong or (weak if len(words) <= 3 else None)


def continues_list(gap: str) -> bool:
    """`Y and Z`, `Y, Z`: what was said of the one holds for the other."""
    return gap.strip(" ,`*/&'\"") in ("", "and", "or", "and the", "plus") and len(gap) < 12
