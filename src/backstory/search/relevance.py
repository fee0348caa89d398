"""Decide whether a query is related to the contents of the store. If it is not, nothing is returned.

It is related if a text contains one of its words or a related word, or if the nearest vector is nearer than
those of unrelated texts. All numbers were measured with MiniLM (docs/scores.md)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING
from unicodedata import combining, normalize

from ..domain.arrays import np
from ..domain.words import STOP_WORDS, Unit
from .related import related_words, table_words
from .terms import stem
from .wordpiece import VOCABULARY

if TYPE_CHECKING:
    from .evidence import Evidence, Flags

# about 95 of 100 unrelated queries are no nearer to any of n texts than BASE + GROWTH · ln n; a single word, and
# one that the model does not know, is near to more texts by chance
UNRELATED_SENTENCE_BASE, UNRELATED_SENTENCE_GROWTH = 0.15, 0.025
UNRELATED_WORD_BASE, UNRELATED_WORD_GROWTH = 0.21, 0.036
FEWEST_TEXTS = 10  # a smaller store uses the limit for this number of texts
RELATED_SIMILARITY = 0.5
"""The minimum similarity of a word in a text to a word of the query. Less similar words often merely occur in
similar texts."""
RELATED_WORTH = 0.06  # added to the cosine of a text that has one
NAME_PARTS_SHARE = 0.5
"""The share of the parts of a name such as `getUserName` that a text without the name itself must contain."""
# the commonest words of languages that share their letters with English, without accents: a query in one of them has
# these in common with paths, commands and texts on anything
FOREIGN_STOP_WORDS = frozenset((
    "al", "als", "att", "au", "auf", "aus", "aux", "av", "avec", "bei", "che", "como", "con", "da", "das", "dans",
    "dat", "de", "dei", "del", "della", "dem", "den", "der", "des", "det", "di", "die", "dos", "du", "ein", "eine", "el", "en",
    "er", "es", "est", "et", "fur", "gli", "har", "het", "ich", "il", "im", "ist", "jag", "je", "jest", "la", "las", "le", "les",
    "lo", "los", "med", "mit", "na", "ne", "nicht", "nie", "nao", "och", "og", "om", "op", "ou", "para", "pas", "per",
    "por", "pour", "pa", "que", "qui", "se", "sie", "som", "su", "sur", "sus", "te", "til", "um", "uma", "un", "una", "und",
    "une", "uno", "van", "von", "wie", "zu", "zum", "zur",
))  # fmt: skip


def is_relevant(evidence: Evidence, count_texts: Callable[[], int]) -> bool:
    """Return whether any candidate is related to the query. `count_texts` returns how many texts they were chosen
    from."""
    if _by_words(evidence).any():
        return True
    has_related = _has_related_words(evidence)
    # NaN, without a vector, compares as not near
    nearness = evidence.nearness + RELATED_WORTH * has_related
    is_waiting = np.isnan(evidence.cosine) & has_related & evidence.related.any(0)
    return bool(is_waiting.any() or (nearness >= highest_unrelated_cosine(evidence, count_texts())).any())


def highest_unrelated_cosine(evidence: Evidence, texts: int) -> float:
    """The highest similarity that the nearest of `texts` unrelated texts can reach."""
    words = [term.unit.words[0] for term in evidence.terms if _is_content(term.unit)]
    is_sentence = len(words) > 1 and all(word in _known_words() for word in words)
    base = UNRELATED_SENTENCE_BASE if is_sentence else UNRELATED_WORD_BASE
    growth = UNRELATED_SENTENCE_GROWTH if is_sentence else UNRELATED_WORD_GROWTH
    return base + growth * math.log(max(texts, FEWEST_TEXTS))


def _by_words(evidence: Evidence) -> Flags:
    occurs = evidence.counts > 0
    is_content = np.array([_is_content(term.unit) for term in evidence.terms], bool)
    if not is_content.any():  # a query such as "to be or not to be" means all of its words
        every: Flags = occurs.all(0) & np.full(occurs.shape[1], bool(len(occurs)))
        return every
    is_part = np.array([term.unit.is_bonus for term in evidence.terms], bool)
    flags: Flags = occurs[is_content & ~is_part].any(0)
    if is_part.any():
        flags = flags | (occurs[is_part].mean(0) > NAME_PARTS_SHARE)
    return flags


def _has_related_words(evidence: Evidence) -> Flags:
    words = {term.unit.words[0] for term in evidence.terms if _is_content(term.unit)}
    related = [each for word in words for each in related_words(word).items()]
    stems = sorted({stem(word) for word, similarity in related if similarity >= RELATED_SIMILARITY})
    if not stems:
        return np.zeros(len(evidence.lowered), bool)
    pattern = re.compile(rf"\b(?:{'|'.join(stems)})[a-z]{{0,3}}\b")
    return np.array([pattern.search(text) is not None for text in evidence.lowered], bool)


def _is_content(unit: Unit) -> bool:
    """Return whether a unit is a phrase, or a word that unrelated texts are unlikely to contain."""
    letters = normalize("NFD", unit.words[0])  # the index contains no words with accents
    word = "".join(letter for letter in letters if not combining(letter))
    is_letter = len(word) == 1 and not unit.is_prefix  # of a script with spaces
    return len(unit.words) > 1 or not (is_letter or word in STOP_WORDS or word in FOREIGN_STOP_WORDS)


def is_known_word(word: str) -> bool:
    """Return whether the model knows a word as a whole instead of guessing it from pieces."""
    return word in _known_words()


def has_known_word(words: Iterable[str]) -> bool:
    """Return whether any of these is a word that the model knows."""
    return any(map(is_known_word, words))


@lru_cache(1)
def _known_words() -> frozenset[str]:
    """English words; the model knows any other by pieces of its spelling."""
    return frozenset((*VOCABULARY.read_text("utf-8").split("\n"), *table_words()))
