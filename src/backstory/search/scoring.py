"""How evidence becomes a score. Pure: the same evidence gives the same score.

A text is judged by its words (BM25, with words that mean nearly the same), by the nearness of its vector, and by what
it is: an answer to a question that matches counts more, a question that only asks the same again counts little.
Where a vector is missing, the nearness that texts with such words have on average stands in for it: a text neither
gains nor loses by not being embedded yet. The constants were tuned on one half of the development questions and
checked on the other (bench/questions.py); one configuration serves all sets.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..domain.records import QUIET_ROLES
from ..readers import reader_names
from .evidence import Evidence
from .terms import LENGTH_SHARE, SATURATION, TYPICAL_LENGTH

if TYPE_CHECKING:
    from .evidence import Flags, Floats

RELATED = 0.7  # of a word's weight, for one that means nearly the same
TOGETHER = 0.3
MEANING = 1.2  # weight of the vectors' part beside the words' part, which is at most 1
FLOOR, LEAST_TOP = 0.15, 0.55  # cosines: what strangers have, and the least that counts as full
BEND = 0.85
EXPECTED_BASE, EXPECTED_SLOPE = 0.05, 0.6  # of the vectors' part, given the words' part
EXPECTED_QUIET = 0.3
ASSISTANT = 1.15  # in coding conversations the answer is usually the assistant's
CHAT_ASSISTANT = 0.4  # elsewhere it repeats at length what it was told, and the user's words are the source
QUIET = 0.6  # what a tool was given, or a model thought
PROMPT = 0.3  # of the score of what a message answers
SAME_PROMPT = 0.5  # when that asks the same
AGAIN = 0.15  # for a message that only asks the same
AGAIN_COVERS = 0.6
AGAIN_LENGTH = 2.2  # times as long as the query
AGAIN_COSINE = 0.8
SHORTEST_AGAIN = 40  # characters
FEWEST_ASKED = 4  # words: whoever writes as many, such as an error message, asks what to do about it
NO_ANSWER = 0.3
LONGEST_NO_ANSWER = 300  # characters

_NO_ANSWER = re.compile(
    r"\b(?:no answer|nothing\b.{0,60}\banswers?|found nothing|not sure|no (?:record|information|mention|trace|memory|idea)"
    r"|(?:don't|do not|didn't|did not) (?:know|have|see|recall|remember|find)"
    r"|(?:couldn't|could not|can't|cannot|unable to|not able to) (?:tell|say|find|see|locate|recall|determine|answer|confirm))\b",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"\b(?:(?:let me|i'll|i will|i'm going to|let's) (?:first |now |also |quickly )?(?:look|check|search|find|read|examine|explore|investigate|see|note|take a look|start by))\b"
    r"|\?\s*$",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"\?|^\W*(?:what|why|how|when|where|which|who|whose|whom|in (?:what|which)|did|do|does|is|are|was|were|can|could"
    r"|should|would|has|have|had|will|remind|tell|explain|asking)\b",
    re.IGNORECASE,
)


class Scores(NamedTuple):
    """The parts of each candidate's score, and their sum."""

    words: Floats
    """0 to 1, in relation to the best."""
    meaning: Floats
    """0 to about 1; where there is no vector, what is expected."""
    prompt: Floats
    total: Floats
    coverage: Floats
    """Share of the query's weight whose words are there."""
    evidence: Floats
    """The words' part before it is put in relation to the best: comparable between queries."""
    asks_again: Flags
    is_apt: Flags
    """Does more than ask the same, and holds the rarest name of the query if that has one."""


def score(evidence: Evidence) -> Scores:
    roles = [outline.role for outline in evidence.outlines]
    is_quiet = np.array([role in QUIET_ROLES for role in roles], bool)
    is_assistant = np.array([role == "assistant" for role in roles], bool)
    is_coding = np.array([outline.surface in _coding_assistants() for outline in evidence.outlines], bool)
    sizes = np.array([outline.size for outline in evidence.outlines], np.float64)
    absolute, coverage = _words(evidence, sizes)
    words = absolute / _best(absolute, ~is_quiet)
    meaning = _meaning(evidence.cosine, words, is_quiet)
    base = np.where((words > 0) | ~np.isnan(evidence.cosine), words + MEANING * meaning, 0.0)
    again = _asks_again(evidence, coverage, sizes, is_assistant | is_quiet) & is_coding
    replied = np.where(is_coding, ASSISTANT, CHAT_ASSISTANT)
    factor = np.where(is_assistant, replied, np.where(is_quiet, QUIET, 1.0))
    factor = np.where(again, factor * AGAIN, factor)
    is_short = is_assistant & (sizes <= LONGEST_NO_ANSWER)
    knows_nothing = _says(_NO_ANSWER, evidence, is_short)
    factor = np.where(knows_nothing, factor * NO_ANSWER, factor)
    gives_none = knows_nothing | _says(_ANNOUNCES, evidence, is_short)
    prompt = _prompt_part(evidence, base, again, gives_none | ~is_coding)
    total = np.where(evidence.is_candidate, base * factor + prompt, 0.0)
    return Scores(words, meaning, prompt, total, coverage, absolute, again, _holds_name(evidence) & ~again)


@lru_cache(maxsize=1)
def _coding_assistants() -> frozenset[str]:
    return frozenset(reader_names())


def _prompt_part(evidence: Evidence, base: Floats, again: Flags, gives_none: Flags) -> Floats:
    """What a message gains by what it answers; most when that asks the very same."""
    if not len(base):
        return base
    share = np.where(again[evidence.prompt], SAME_PROMPT, np.where(base > 0, PROMPT, 0.0))
    gain: Floats = np.where((evidence.prompt >= 0) & ~gives_none, share * base[evidence.prompt], 0.0)
    return gain


def _words(evidence: Evidence, sizes: Floats) -> tuple[Floats, Floats]:
    """BM25 as a share of the query's whole weight, and the share that is covered at all."""
    rarities = evidence.rarities
    total = rarities.sum() or 1.0
    length = 1 - LENGTH_SHARE + LENGTH_SHARE * sizes / TYPICAL_LENGTH
    counts = evidence.counts
    own = rarities[:, None] * counts * (SATURATION + 1) / (counts + SATURATION * length)
    near = RELATED * evidence.related * (SATURATION + 1) / (1 + SATURATION * length)
    absolute = np.maximum(own, near).sum(0) / total + TOGETHER * evidence.together / total
    coverage = ((counts > 0) * rarities[:, None]).sum(0) / total
    return absolute, coverage


def _best(values: Floats, among: Flags) -> float:
    best = values[among].max(initial=0.0) or values.max(initial=0.0)
    return float(best) or 1.0


def _meaning(cosine: Floats, words: Floats, is_quiet: Flags) -> Floats:
    known = ~np.isnan(cosine)
    expected = np.where(is_quiet, EXPECTED_QUIET * words, EXPECTED_BASE + EXPECTED_SLOPE * words)
    expected = np.where(words > 0, expected, 0.0)
    if not known.any():
        return expected
    top = max(float(cosine[known].max()), LEAST_TOP)
    near = np.maximum((np.where(known, cosine, 0.0) - FLOOR) / (top - FLOOR), 0.0) ** BEND
    return np.where(known, near, expected)


def _asks_again(evidence: Evidence, coverage: Floats, sizes: Floats, is_other: Flags) -> Flags:
    """Messages of a person that have the question's words or meaning and hardly anything else. To a few words
    that are no question only a question counts as asking: a remark may well be what is looked for."""
    is_message = np.array([bool(outline.role) for outline in evidence.outlines], bool)
    is_short = sizes <= AGAIN_LENGTH * max(len(evidence.query), SHORTEST_AGAIN)
    cosine = np.where(np.isnan(evidence.cosine), 0.0, evidence.cosine)
    same = (coverage >= AGAIN_COVERS) | (cosine >= AGAIN_COSINE)
    again: Flags = is_message & ~is_other & is_short & same
    is_asking = len(evidence.query.split()) >= FEWEST_ASKED or _QUESTION.search(evidence.query)
    return again if is_asking else again & _says(_QUESTION, evidence, again)


def _says(pattern: re.Pattern[str], evidence: Evidence, among: Flags) -> Flags:
    readings = zip(among, evidence.readings, strict=True)
    return np.array([bool(one and pattern.search(reading.text)) for one, reading in readings], bool)


def _holds_name(evidence: Evidence) -> Flags:
    rare = [(term.rarity, row) for row, term in enumerate(evidence.terms) if term.is_rare_name]
    held = [(rarity, row) for rarity, row in rare if evidence.counts[row].any()]
    if not held:
        return np.ones(len(evidence.entry), bool)
    flags: Flags = evidence.counts[max(held)[1]] > 0
    return flags
