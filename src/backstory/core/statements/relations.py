"""The relation of a later statement to an earlier one: it confirms it, supersedes it, or is unrelated.

In doubt both stay in force: showing two true lines is cheaper than losing one.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from ...domain.lazy import lazy_pattern
from ...domain.terms import terms_of
from ...search.terms import stem

SUBJECT_SHARE = 1 / 7
"""The share of the shorter statement's words that a reversal must have in common with the reversed statement."""
SAME_SHARE = 0.5
EXCHANGED_SHARE = 0.6
NEW_WORDS, NEW_WORDS_OF_REMINDER = 1, 3
"""Words that a restatement may bring of its own; more if it says that it repeats."""
MAX_CACHED_TERMS = 20_000
"""Terms whose stems a process keeps.

The texts of a project repeat their words, and stems are most of the cost of a state."""

_I = re.IGNORECASE
_REVERSES = lazy_pattern(
    r"\b(?:changed my mind|no longer|any ?more|actually|revert(?:ed|ing)?|roll(?:ed|ing)? back|dropp(?:ed|ing) the|drop the|switch(?:ed|ing)? (?:to|from|back)|not .{1,40} after all|scrap)\b",
    _I,
)
_EXCHANGES = lazy_pattern(r"\b(?:instead|rather|keep|only)\b", _I)
_REMINDS = lazy_pattern(
    r"\b(?:as (?:agreed|decided|said|discussed)|we (?:decided|agreed|chose|settled)|remember|again|still)\b",
    _I,
)
_HUMP = lazy_pattern(r"(?<=[a-z])(?=[A-Z])")
_DECIDING = frozenset(
    map(
        stem,
        (
            "decide", "decided", "decision", "agree", "agreed", "settle", "settled", "choose", "chose", "chosen", "pick", "picked", "use", "using", "keep",
            "going", "let", "lets", "make", "also", "instead", "rather", "just", "only", "say", "saying", "need", "want", "should", "prefer", "please", "actually",
            "remember", "changed", "mind", "bit", "about", "try", "don", "dont", "didn", "because", "since", "yes", "okay", "now", "new",
            "one", "ones",
        ),
    )
)  # fmt: skip
"""Words of choosing and counting: they say that something is decided and not what."""


class StatementRelation(StrEnum):
    NONE = "none"
    CONFIRMS = "confirms"
    SUPERSEDES = "supersedes"


class StatedText(NamedTuple):
    """A statement's text with its content words."""

    text: str
    words: frozenset[str]

    @classmethod
    def of(cls, text: str) -> StatedText:
        terms = terms_of(_HUMP.sub(" ", text))
        return cls(text, frozenset(part for term in terms for part in _stems(term)) - _DECIDING)


@lru_cache(maxsize=MAX_CACHED_TERMS)
def _stems(term: str) -> tuple[str, ...]:
    return tuple(stem(part) for part in re.split(r"[./_-]+", term) if len(part) > 1)


def is_same_subject(later: StatedText, earlier: StatedText) -> bool:
    """Return whether two statements have the same subject: the later one contains at least half of the earlier
    one's words, and at least two if it has two."""
    shared = len(later.words & earlier.words)
    return shared >= max(SAME_SHARE * len(earlier.words), min(2, len(earlier.words))) and shared > 0


def relation(later: StatedText, earlier: StatedText) -> StatementRelation:
    """The relation of a statement to an earlier one in the same project."""
    if not later.words or not earlier.words:
        return StatementRelation.NONE
    shared = later.words & earlier.words
    own, former = later.words - earlier.words, earlier.words - later.words
    shorter, longer = sorted((len(later.words), len(earlier.words)))
    # A reversal names the new choice and little of the old one, so a small share must be enough.
    if _REVERSES.search(later.text):
        is_reversal = own and former and len(shared) >= max(1, SUBJECT_SHARE * shorter)
        return StatementRelation.SUPERSEDES if is_reversal else StatementRelation.NONE
    # One says nothing that the other does not: the same statement, shorter or longer.
    if not own or not former:
        return StatementRelation.CONFIRMS if len(shared) >= SAME_SHARE * shorter else StatementRelation.NONE
    # Nearly all words are shared and some differ on both sides: a value was exchanged ("port 8080", "port 9090").
    is_exchange = len(shared) >= max(2, EXCHANGED_SHARE * longer)
    if is_exchange or (_EXCHANGES.search(later.text) and len(shared) >= SAME_SHARE * shorter):
        return StatementRelation.SUPERSEDES
    allowed = NEW_WORDS_OF_REMINDER if _REMINDS.search(later.text) else NEW_WORDS
    repeats = len(shared) >= SAME_SHARE * len(later.words) and len(own) <= allowed
    return StatementRelation.CONFIRMS if repeats else StatementRelation.NONE
