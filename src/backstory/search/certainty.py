"""How sure a hit is: one number from 0 to 1 that means the same for every query (docs/scores.md).

For a conversation it is the measured share of hits with such evidence that were right, by a logistic model that scripts/fit_ranking.py
fits. Of memories several may be right at once, so theirs depends on the query and the text alone, less what the text has
in common with all that is near to the query."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from .evidence import Evidence
from .grouping import Group
from .ranking import read_weights
from .relevance import is_known_word
from .scoring import Scores

SIGNS = (
    "likelihood",  # log odds of being the one among the others, which say little where others are few
    "likeness",  # of its best message, judged by itself as a memory is; the fewer others, the more it counts
    "alone",  # 1 / how many conversations match
    "rivals",  # logarithm of how many conversations match
    "words",  # BM25, as a share of the query's weight
    "vectors",  # 1 if any of its messages that match has a vector
    "cosine",
    "unapt",  # 1 if it only asks the same or lacks the rarest name; 0 where it is the only one
)
"""What the certainty of a conversation depends on."""
LEAST_LIKELY = 0.002  # bounds the logarithm of the odds
MOST_BY_NEARNESS = (
    0.45  # where no text has a word of the query: the model guesses unknown words by their spelling
)

STEEPNESS = 12.0
CENTRE = 0.27  # evidence of a memory that is as likely meant as not
WORDS = 0.35  # what covering the whole query adds to a cosine; squared: a word or two in common mean little
STEEPNESS_OF_WORDS = 10.0
CENTRE_OF_WORDS = 0.5


def certainties(groups: Sequence[Group], evidence: Evidence, scores: Scores) -> list[float]:
    conversations = sum(group.head is not None for group in groups)
    most = MOST_BY_NEARNESS if _is_guess(evidence) else 1.0
    found = []
    for group in groups:
        if group.head is None:
            sure = likeness(float(evidence.nearness[group.column]), float(scores.coverage[group.column]))
        else:
            known = signs(group.places, group.likelihood, conversations, evidence, scores)
            sure = _logistic(sum(map(math.prod, zip(known, _weights(), strict=False))) + _weights()[-1])
        found.append(round(min(sure, most), 4))
    return found


def _is_guess(evidence: Evidence) -> bool:
    """Whether no text has a word of the query, and the model does not know all of them either."""
    words = (word for term in evidence.terms for word in term.unit.words)
    return not evidence.has_known_word and not all(map(is_known_word, words))


def signs(
    places: Sequence[int], likelihood: float, conversations: int, evidence: Evidence, scores: Scores
) -> tuple[float, ...]:
    """The values of SIGNS for a conversation, whose columns are given with the best first."""
    columns = list(places)
    cosine = evidence.cosine[columns]
    has_vector = ~np.isnan(cosine)
    alike = likeness(float(evidence.nearness[columns[0]]), float(scores.coverage[columns[0]]))
    bounded = min(max(likelihood, LEAST_LIKELY), 1 - LEAST_LIKELY)
    return (
        math.log(bounded / (1 - bounded)) * (1 - 1 / conversations),
        alike / conversations,
        1 / conversations,
        math.log(conversations),
        float(scores.evidence[columns].max()),
        float(has_vector.any()),
        float(cosine[has_vector].max(initial=0.0)),
        float(not scores.is_apt[columns].any()) * (1 - 1 / conversations),
    )


@lru_cache(maxsize=1)
def _weights() -> tuple[float, ...]:
    """In the order of SIGNS; the last one is the constant."""
    stored = read_weights()["certainty"]
    return tuple(stored[sign] for sign in (*SIGNS, "constant"))


def likeness(nearness: float, coverage: float) -> float:
    """How sure a memory is by itself; a nearness of NaN means that it has no vector yet."""
    covered = min(coverage, 1.0)
    if math.isnan(nearness):
        return _logistic(STEEPNESS_OF_WORDS * (covered - CENTRE_OF_WORDS)) if covered > 0 else 0.0
    return _logistic(STEEPNESS * (max(nearness, 0.0) + WORDS * covered**2 - CENTRE))


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))
