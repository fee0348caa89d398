"""Compute scores from evidence. Pure: the same evidence gives the same score.

A text is judged by its words (BM25, with related words), by the nearness of its vector, and by its kind: an answer to
a matching question counts more, a question that only repeats the query counts little.
A missing vector is replaced by the mean nearness of texts with such words, so a text neither gains nor loses while
it waits for its vector. The constants were chosen on the development questions
and the public sets, whose figures are in bench/RESULTS.md; one configuration serves all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..domain.arrays import np
from ..domain.lazy import lazy_pattern
from .evidence import Evidence
from .terms import TYPICAL_LENGTH, TYPICAL_LENGTH_ALONE, bm25
from .traits import Traits, traits_of

if TYPE_CHECKING:
    from .evidence import Flags, Floats, Ints

RELATED = 0.7  # share of a word's weight for a related word
TOGETHER = 0.3
MEANING = 1.2  # weight of the vectors' part; that of the words' part is at most 1
ALONE_MEANING = 6.0  # the same for a text without neighbours
FLOOR, LEAST_TOP = 0.15, 0.55  # cosines: of unrelated texts, and the minimum that counts as full
EXPECTED = 0.6  # vectors' part of a text without a vector, as a share of its words' part
EXPECTED_QUIET = 0.3
ASSISTANT = 1.15  # in coding conversations the answer is usually the assistant's
CHAT_ASSISTANT = 0.4  # in other chats it repeats the user's words, which are the source
QUIET = 0.6  # arguments and output of tools, and thinking
SHORT = 400  # characters: a longer message is judged alone
LENDER = 800  # characters: a longer neighbour contains many words by chance, so it adds none
FROM_BEFORE, FROM_AFTER = 0.5, 0.25  # shares of the neighbours' words that count for a short message
WINDOW_BEFORE, WINDOW_AFTER = 0.5, 0.25  # shares of the neighbours' nearness, relative to its own
NOTHING_BESIDE = 0.9
ASKING, ASKED, NAMED = 0.85, 1.15, 1.1  # between people
PROMPT = 0.3  # share of the score of the message that this one answers
SAME_PROMPT = 0.5  # if that message repeats the query
AGAIN = 0.15  # for a message that only repeats the query
AGAIN_COVERS = 0.6
AGAIN_LENGTH = 2.2  # times as long as the query
SHORTEST_AGAIN = 40  # characters: a query of two words is asked in a whole sentence
LONGEST_NO_ANSWER = 300  # characters
LONGEST_ASKED = 400
PLAN, LONGEST_PLAN = 0.75, 500  # a plan of an assistant says less than its result
UNANSWERED = 0.9  # a request says less than its result

_NO_ANSWER = lazy_pattern(
    r"\b(?:no answer|nothing\b.{0,60}\banswers?|found nothing|not sure|no (?:record|information|mention|trace|memory|idea)"
    r"|(?:don't|do not|didn't|did not) (?:know|have|see|recall|remember|find)"
    r"|(?:couldn't|could not|can't|cannot|unable to|not able to) (?:tell|say|find|see|locate|recall|determine|answer|confirm))\b",
    re.IGNORECASE,
)
_NO_ANSWER_HINTS = (
    "answer", "nothing", "not sure", "no record", "no information", "no mention", "no trace", "no memory", "no idea", "don't",
    "do not", "didn't", "did not", "couldn't", "could not", "can't", "cannot", "unable", "not able",
)  # fmt: skip
"""Every match of the pattern contains one of these; searching for them takes a tenth of the time."""
_ANNOUNCES = lazy_pattern(
    r"\b(?:(?:let me|i'll|i will|i'm going to|let's) (?:first |now |also |quickly )?(?:look|check|search|find|read|examine|explore|investigate|see|note|take a look|start by))\b"
    r"|\?\s*$",
    re.IGNORECASE,
)
_ANNOUNCES_HINTS = ("let me", "i'll", "i will", "i'm going", "let's", "?")
_PLAN = lazy_pattern(
    r"^\W*(?:(?:perfect|great|good|excellent|now|okay|ok|sure|right|first|next|alright)\b[^.\n]{0,40}[.,!:]?\s*)?(?:now )?"
    r"(?:let me|let's|i'll|i will|i'm going to|i need to|i should)\b",
    re.IGNORECASE,
)
_QUESTION = lazy_pattern(
    r"\?|^\W*(?:what|why|how|when|where|which|who|whose|whom|in (?:what|which)|did|do|does|is|are|was|were|can|could"
    r"|should|would|has|have|had|will|remind|tell|explain|asking)\b",
    re.IGNORECASE,
)


def is_answer(role: str, text: str) -> bool:
    """True for messages that may answer a question. Short questions of a user and announcements of an assistant do
    not."""
    if role == "assistant":
        return len(text) > LONGEST_PLAN or _PLAN.search(text) is None
    return len(text) > LONGEST_ASKED or not text.rstrip().endswith("?")


class Scores(NamedTuple):
    """The parts of each candidate's score, and their sum."""

    words: Floats
    """0 to 1, relative to the best."""
    meaning: Floats
    """0 to about 1; the expected value for a text without a vector."""
    prompt: Floats
    total: Floats
    coverage: Floats
    """Share of the query's weight whose words occur in the text."""
    evidence: Floats
    """The words' part, not relative to the best: comparable between queries."""
    is_apt: Flags
    """True if the text does more than repeat the query or deny an answer, and contains the rarest name of the query,
    if it has one."""


def score(evidence: Evidence) -> Scores:
    traits = traits_of(evidence)
    absolute, coverage = _words(evidence, traits)
    words = absolute / _best(absolute, ~traits.is_quiet)
    meaning = _meaning(_window_nearness(evidence, traits), words, traits.is_quiet)
    is_known = (words > 0) | ~np.isnan(evidence.cosine)
    base = np.where(is_known, _mixed(words, meaning, coverage, traits.is_alone), 0.0)
    is_short = traits.is_assistant & (traits.size <= LONGEST_NO_ANSWER)
    knows_nothing = _says(_NO_ANSWER, evidence, is_short, _NO_ANSWER_HINTS)
    gives_none = knows_nothing | _says(_ANNOUNCES, evidence, is_short, _ANNOUNCES_HINTS)
    again = _asks_again(evidence, coverage, traits)
    again |= _asks_in_vain(evidence, coverage, traits, knows_nothing, gives_none)
    factor = _role_factor(traits) * _turn_factor(evidence, traits)
    factor = np.where(traits.is_unanswered, factor * UNANSWERED, factor)
    factor = np.where(again, factor * AGAIN, factor)
    prompt = _prompt_part(evidence, base, again, gives_none | ~traits.is_coding)
    may_plan = traits.is_assistant & traits.is_coding & (traits.size <= LONGEST_PLAN)
    worth = np.where(_says(_PLAN, evidence, may_plan), PLAN, 1.0)
    total = np.where(evidence.is_candidate, worth * (base * factor + prompt), 0.0)
    is_apt = _holds_name(evidence) & ~again & ~knows_nothing
    return Scores(words, meaning, prompt, total, coverage, absolute, is_apt)


def _mixed(words: Floats, meaning: Floats, coverage: Floats, is_alone: Flags) -> Floats:
    """A text without neighbours is judged more by its meaning, and by its words weighted with their coverage of the query,
    because no neighbour has the other words. Both kinds use the same scale, because they are compared."""
    alone = (words * coverage + ALONE_MEANING * meaning) * (1 + MEANING) / (1 + ALONE_MEANING)
    return np.where(is_alone, alone, words + MEANING * meaning)


def _role_factor(traits: Traits) -> Floats:
    replied = np.where(traits.is_coding, ASSISTANT, CHAT_ASSISTANT)
    return np.where(traits.is_assistant, replied, np.where(traits.is_quiet, QUIET, 1.0))


def _turn_factor(evidence: Evidence, traits: Traits) -> Floats:
    """Between people, questions count less than their answers, and messages of a person that the query names count more."""
    if not traits.is_between_people.any():
        return np.ones(len(evidence.entry))
    asks = np.array(["?" in reading.text for reading in evidence.readings], bool)
    is_asked = (evidence.before >= 0) & asks[evidence.before]
    wanted = {word for term in evidence.terms for word in term.unit.words}
    is_named = np.array([outline.speaker.lower() in wanted for outline in evidence.outlines], bool)
    factor = np.where(asks, ASKING, 1.0) * np.where(is_asked, ASKED, 1.0) * np.where(is_named, NAMED, 1.0)
    return np.where(traits.is_between_people, factor, 1.0)


def _prompt_part(evidence: Evidence, base: Floats, again: Flags, gives_none: Flags) -> Floats:
    """The bonus of a message for the question it answers; highest if that is the query itself."""
    if not len(base):
        return base
    share = np.where(again[evidence.prompt], SAME_PROMPT, np.where(base > 0, PROMPT, 0.0))
    gain: Floats = np.where((evidence.prompt >= 0) & ~gives_none, share * base[evidence.prompt], 0.0)
    return gain


def _words(evidence: Evidence, traits: Traits) -> tuple[Floats, Floats]:
    """BM25 as a share of the query's total weight, and the share of that weight whose words occur at all."""
    rarities = evidence.rarities
    total = rarities.sum() or 1.0
    counts = evidence.counts
    length = traits.size / np.where(traits.is_alone, TYPICAL_LENGTH_ALONE, TYPICAL_LENGTH)
    own = rarities[:, None] * bm25(counts, length)
    near = RELATED * evidence.related * bm25(1, length)
    weights = _with_borrowed(np.maximum(own, near), evidence, traits)
    absolute = weights.sum(0) / total + TOGETHER * evidence.together / total
    coverage = ((counts > 0) * rarities[:, None]).sum(0) / total
    return absolute, coverage


def _with_borrowed(weights: Floats, evidence: Evidence, traits: Traits) -> Floats:
    """Between people, the words of neighbouring messages count for a short message too, those of the previous one most."""
    takes = traits.is_between_people & (traits.size < SHORT)
    if not takes.any():
        return weights
    borrowed = weights
    for beside, share in ((evidence.before, FROM_BEFORE), (evidence.after, FROM_AFTER)):
        lends = takes & (beside >= 0) & (traits.size[beside] < LENDER)
        borrowed = np.maximum(borrowed, np.where(lends, share * weights[:, beside], 0.0))
    return borrowed


def _window_nearness(evidence: Evidence, traits: Traits) -> Floats:
    """Between people, the nearness of a short message is averaged with that of its neighbours; a missing neighbour
    lowers it a little."""
    takes = traits.is_between_people & (traits.size < SHORT) & ~traits.is_alone
    if not takes.any():
        return evidence.nearness
    known = np.nan_to_num(evidence.cosine)
    before = np.where(evidence.before >= 0, known[evidence.before], NOTHING_BESIDE * known)
    after = np.where(evidence.after >= 0, known[evidence.after], NOTHING_BESIDE * known)
    window = (known + WINDOW_BEFORE * before + WINDOW_AFTER * after) / (1 + WINDOW_BEFORE + WINDOW_AFTER)
    return evidence.nearness + np.where(takes, window - known, 0.0)


def _best(values: Floats, among: Flags) -> float:
    best = values[among].max(initial=0.0) or values.max(initial=0.0)
    return float(best) or 1.0


def _meaning(nearness: Floats, words: Floats, is_quiet: Flags) -> Floats:
    known = ~np.isnan(nearness)
    expected = np.where(is_quiet, EXPECTED_QUIET, EXPECTED) * words
    if not known.any():
        return expected
    top = max(float(nearness[known].max()), LEAST_TOP)
    near = np.maximum((np.where(known, nearness, 0.0) - FLOOR) / (top - FLOOR), 0.0)
    # if few texts have vectors, the nearest of them is seldom the right one, so vectors count less
    share = np.sqrt(known[~is_quiet].mean()) if not is_quiet.all() else 1.0
    return np.where(known, expected + share * (near - expected), expected)


def _asks_again(evidence: Evidence, coverage: Floats, traits: Traits) -> Flags:
    """Questions of a person with the query's words and little else. Statements never count, because they may
    be the answer."""
    is_person = traits.is_coding & ~traits.is_assistant & ~traits.is_quiet
    is_short = traits.size <= AGAIN_LENGTH * max(len(evidence.query), SHORTEST_AGAIN)
    return _says(_QUESTION, evidence, is_person & is_short & (coverage >= AGAIN_COVERS))


def _asks_in_vain(
    evidence: Evidence, coverage: Floats, traits: Traits, knows_nothing: Flags, gives_none: Flags
) -> Flags:
    """Messages of a person about the subject of the query that got no answer, in any form."""
    replies = traits.is_assistant & (evidence.prompt >= 0)
    is_answered, is_denied, is_put_off = (
        _at(evidence.prompt[replies & flags], len(replies))
        for flags in (~gives_none, knows_nothing, gives_none)
    )
    asks = traits.is_coding & ~traits.is_assistant & ~traits.is_quiet & (coverage >= AGAIN_COVERS)
    asks &= (traits.size <= LONGEST_ASKED) & ~is_answered
    gets_none = is_put_off | traits.is_unanswered
    vain: Flags = asks & (is_denied | (gets_none & _says(_QUESTION, evidence, asks)))
    return vain


def _at(columns: Ints, size: int) -> Flags:
    flags = np.zeros(size, bool)
    flags[columns] = True
    return flags


def _says(pattern: re.Pattern[str], evidence: Evidence, among: Flags, hints: Sequence[str] = ("",)) -> Flags:
    flags = np.zeros(len(among), bool)
    for column in np.flatnonzero(among).tolist():
        lowered = evidence.lowered[column]
        for hint in hints:
            if hint in lowered:
                flags[column] = pattern.search(evidence.readings[column].text) is not None
                break
    return flags


def _holds_name(evidence: Evidence) -> Flags:
    rare = [(term.rarity, row) for row, term in enumerate(evidence.terms) if term.is_rare_name]
    present = [(rarity, row) for rarity, row in rare if evidence.counts[row].any()]
    if not present:
        return np.ones(len(evidence.entry), bool)
    flags: Flags = evidence.counts[max(present)[1]] > 0
    return flags
