"""Read sentences: the things they name, and the relations between them by verb. The work is linear in the text's length."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from ...domain.words import STOP_WORDS
from .facts import Facts, Thing, listed, thing
from .names import NamedThing, find_names

LONGEST_GAP = 80
"""Characters between two things that a sentence still relates."""

LONGEST_SENTENCE = 4_000
_PLACES = frozenset(["file", "module", "package", "service", "class", "function"])
_OF_ITEM = frozenset(
    ["fixes", "implements", "uses", "replaces", "depends_on", "blocks", "tests", "imports", "configures"]
)
"""Predicates whose subject may be the note itself: "Fixed AUTH-12" has no other subject."""

_DECIDING = listed(
    "decide decided decides deciding decision chose choose chosen choosing picked adopt adopted"
)
_OBJECT = r"[^\W_][\w-]*+"
_NOBODY = listed(
    "He She We They It You I Who This That Everyone Nobody Someone Team User Users Client Customer Server Product"
    " Support Manager Design Legal Ops Security Engineering Marketing Claude Docs Documentation Error Test Tests"
)

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


def read_prose(text: str, facts: Facts, *, is_decision: bool = False) -> None:
    for sentence in _sentences(text):
        things = _with_own_name(sentence, _with_people(sentence, list(find_names(sentence))), facts.item)
        for each in things:
            facts.mention(each.thing)
        if things:
            _relate_to_item(sentence, things, facts, is_decision)
            _relate_neighbours(sentence, things, facts)


def _sentences(text: str) -> Iterator[str]:
    for sentence in _end().split(text):
        rest = sentence
        while len(rest) > LONGEST_SENTENCE:  # a line of a log has no end
            cut = (
                rest.rfind(" ", 1, LONGEST_SENTENCE) if " " in rest[1:LONGEST_SENTENCE] else LONGEST_SENTENCE
            )
            yield rest[:cut]
            rest = rest[cut:]
        yield rest


@cache
def _end() -> re.Pattern[str]:
    return re.compile(r"(?<=[.!?;])\s+|\n[ \t]*(?=[-*•>|#`A-Z@/]|\d+[.)]\s)|\n[ \t]*\n|\n[ \t]+at\s")


def _relate_to_item(sentence: str, things: list[NamedThing], facts: Facts, is_decision: bool) -> None:
    lead = sentence[max(0, things[0].start - LONGEST_GAP) : things[0].start]
    link = link_in(lead)
    if link and link.predicate in _OF_ITEM and not link.is_reversed and len(words_of(lead)) <= 6:
        for listed in _listed(sentence, things):
            facts.relate(facts.item, link.predicate, listed.thing, round(link.confidence - 0.1, 2))
    is_said = not _DECIDING.isdisjoint(_said_around(sentence, things))
    if is_said or is_decision:
        for each in things:
            if each.thing.type != "person":
                facts.relate(each.thing, "decided_in", facts.item, 0.85 if is_said else 0.7)


def _said_around(sentence: str, things: list[NamedThing]) -> Iterator[str]:
    """The words of a sentence that are not part of a name: `auth_decision` decides nothing."""
    end = 0
    for each in things:
        yield from words_of(sentence[end : each.start])
        end = each.end
    yield from words_of(sentence[end:])


def _listed(sentence: str, things: list[NamedThing]) -> Iterator[NamedThing]:
    """The first thing, and those joined to it by `and` and commas."""
    yield things[0]
    for left, right in pairwise(things):
        if not continues_list(sentence[left.end : right.start]):
            return
        yield right


def _relate_neighbours(sentence: str, things: list[NamedThing], facts: Facts) -> None:
    subject, link = things[0].thing, None
    for left, right in pairwise(things):
        gap = sentence[left.end : right.start]
        if link is not None and continues_list(gap):
            _relate(facts, subject, link.predicate, right.thing, link.is_reversed, link.confidence - 0.1)
            continue
        # "A calls B and needs C": A is the subject of both verbs
        subject = subject if link and words_of(gap)[:1] in (["and"], ["but"]) else left.thing
        link = link_in(gap) if len(gap) <= LONGEST_GAP else None
        if link is not None:
            _relate(facts, subject, link.predicate, right.thing, link.is_reversed, link.confidence)


def _relate(
    facts: Facts, left: Thing, predicate: str, right: Thing, is_reversed: bool, confidence: float
) -> None:
    if predicate == "located_in" and right.type not in _PLACES:
        return
    if (predicate == "assigned_to") != (right.type == "person"):
        return
    subject, object = (right, left) if is_reversed else (left, right)
    facts.relate(subject, predicate, object, round(confidence, 2))


def _with_people(sentence: str, things: list[NamedThing]) -> list[NamedThing]:
    """Names of people have no spelling of their own: a capital letter and something only people do."""
    people = [
        NamedThing(thing("person", match[group]), match.start(group), match.end(group))
        for match in _person().finditer(sentence)
        for group in ("doer", "partner")
        if match[group] and match[group] not in _NOBODY
    ]
    if not people:
        return things
    return sorted(_apart(people, things), key=lambda each: each.start)


def _apart(people: list[NamedThing], things: list[NamedThing]) -> Iterable[NamedThing]:
    taken = {place for each in things for place in (each.start, each.end)}
    return [*things, *(each for each in people if each.start not in taken and each.end not in taken)]


def _with_own_name(sentence: str, things: list[NamedThing], item: Thing) -> list[NamedThing]:
    """The things in a sentence, including plain words after the item's own name: in the item `shop`, "shop depends on
    stock"."""
    end = len(item.name)
    if sentence[:end].lower() != item.name.lower() or sentence[end : end + 1] != " ":
        return things
    objects = list(_objects(sentence, end))
    if not objects:
        return things
    return sorted(_apart([NamedThing(item, 0, end), *objects], things), key=lambda each: each.start)


def _objects(sentence: str, start: int) -> Iterator[NamedThing]:
    """The objects of a verb right after `start`: `beta` and `gamma` in "calls the beta and gamma"."""
    match = _said().match(sentence, start)
    if match is None or (link := link_in(match["verb"])) is None or link.predicate in _WEAK:
        return
    for word in _object().finditer(sentence, *match.span("objects")):
        if word[0].lower() in STOP_WORDS:
            return
        yield NamedThing(thing("name", word[0]), *word.span())


@cache
def _said() -> re.Pattern[str]:
    """A pattern for a verb of at most three words and the list of objects after it."""
    objects = rf"{_OBJECT}(?:(?:, (?:and )?| and ){_OBJECT}(?=[,.;!]|$| and ))*"
    return re.compile(
        rf" (?:is |are |also )?(?P<verb>{'|'.join(sorted(map(' '.join, _phrases()), reverse=True))})"
        rf" (?:the |a |an |our )?(?P<objects>{objects})"
    )


@cache
def _object() -> re.Pattern[str]:
    return re.compile(rf"\b(?!and\b){_OBJECT}")


@cache
def _person() -> re.Pattern[str]:
    return re.compile(
        r"\b(?P<doer>[A-Z][a-z]+)(?:\s[A-Z][a-z]+)?\s(?:said|says|suggested|asked|reported|approved|proposed|confirmed"
        r"|mentioned|prefers|wants|thinks|reviewed|pointed\sout|agreed)\b"
        r"|\b(?:[Aa]ssigned\sto|[Rr]eviewed\sby|[Rr]eported\sby|[Oo]wned\sby|[Aa]pproved\sby|[Mm]aintained\sby|[Pp]aired\swith|[Ss]poke\s(?:to|with)"
        r"|[Tt]alked\s(?:to|with)|[Aa]ccording\sto)\s(?P<partner>[A-Z][a-z]+)\b(?![\w.(])"
    )


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
    """The link that the words between two things express.

    A verb beats a preposition; of several verbs the last one counts, because it is nearest to its object."""
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
            # the greater the distance of the words, the less certain is the relation
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
    """True for gaps as in `Y and Z` or `Y, Z`: a relation of the first also applies to the second."""
    return gap.strip(" ,`*/&'\"") in ("", "and", "or", "and the", "plus") and len(gap) < 12
