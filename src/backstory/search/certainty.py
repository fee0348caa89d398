"""The certainty of a hit: a number from 0 to 1 that means the same for every query (docs/scores.md).

For a conversation it is the measured share of hits with such evidence that were right, by a logistic model that
scripts/fit_ranking.py fits. Several memories may be right at once, so their certainty depends on the query and the
text alone, minus the part that the text has in common with all texts near the query."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ..domain.arrays import np
from .evidence import Evidence
from .grouping import Group
from .ranking import PlacesOfGroups, read_weights
from .relevance import is_known_word
from .scoring import Scores

if TYPE_CHECKING:
    from .evidence import Floats

SIGNS = (
    "likelihood",  # log odds of being the right one among the others, which say little if there are few
    "likeness",  # likeness of its best message, judged like a memory; it counts more if there are few others
    "alone",  # 1 / number of matching conversations
    "rivals",  # logarithm of the number of matching conversations
    "words",  # BM25, as a share of the query's weight
    "vectors",  # 1 if any of its messages that match has a vector
    "cosine",
    "unapt",  # 1 if it only repeats the query or lacks the rarest name; 0 if it is the only one
)
"""The features that the certainty of a conversation depends on."""
LEAST_LIKELY = 0.002  # bounds the logarithm of the odds
# limit if no text has a word of the query: the model guesses unknown words by their spelling
MOST_BY_NEARNESS = 0.45

STEEPNESS = 12.0
CENTRE = 0.27  # evidence at which a memory is right with probability 0.5
WORDS = 0.35  # added to a cosine for covering the complete query; coverage is squared, because one or two common words mean little
STEEPNESS_OF_WORDS = 10.0
CENTRE_OF_WORDS = 0.5


def certainties(groups: Sequence[Group], evidence: Evidence, scores: Scores) -> list[float]:
    """The certainty of each group. Groups must be sorted, the best first."""
    best = [group.column for group in groups]
    sure: list[float] = likeness(evidence.nearness[best], scores.coverage[best]).tolist()
    talks = [number for number, group in enumerate(groups) if group.head is not None]
    if talks:
        places = [groups[number].places for number in talks]
        likely = np.array([groups[number].likelihood for number in talks])
        logits = signs(places, likely, evidence, scores) @ _weights()[:-1] + _weights()[-1]
        # no hit is more certain than an earlier one, because the order uses more information
        chances = np.minimum.accumulate(_logistic(logits))
        for number, chance in zip(talks, chances.tolist(), strict=True):
            sure[number] = chance
    most = MOST_BY_NEARNESS if _is_guess(evidence) else 1.0
    return [round(min(each, most), 4) for each in sure]


def _is_guess(evidence: Evidence) -> bool:
    """Return whether no text contains a word of the query and the model does not know all of these words either."""
    words = (word for term in evidence.terms for word in term.unit.words)
    return not evidence.has_known_word and not all(map(is_known_word, words))


def signs(places: Sequence[Sequence[int]], likely: Floats, evidence: Evidence, scores: Scores) -> Floats:
    """The values of SIGNS, a row for each conversation. `places` are its columns, best first; `likely` is its
    probability among the others."""
    best = [columns[0] for columns in places]
    alike = likeness(evidence.nearness[best], scores.coverage[best])
    has_vector = ~np.isnan(evidence.cosine)
    joined = PlacesOfGroups.of(places).joined
    alone = np.full(len(places), 1 / len(places))
    bounded = np.clip(likely, LEAST_LIKELY, 1 - LEAST_LIKELY)
    return np.column_stack((
        np.log(bounded / (1 - bounded)) * (1 - alone),
        alike * alone,
        alone,
        -np.log(alone),
        joined(np.maximum, scores.evidence),
        joined(np.maximum, has_vector.astype(np.float64)),
        joined(np.maximum, np.where(has_vector, np.maximum(evidence.cosine, 0.0), 0.0)),
        joined(np.minimum, (~scores.is_apt).astype(np.float64)) * (1 - alone),
    ))  # fmt: skip


@lru_cache(maxsize=1)
def _weights() -> Floats:
    """The weights in the order of SIGNS; the last one is the constant."""
    stored = read_weights()["certainty"]
    return np.array([stored[sign] for sign in (*SIGNS, "constant")])


def likeness(nearness: Floats, coverage: Floats) -> Floats:
    """The certainty of memories; a nearness of NaN means that a memory has no vector yet."""
    covered = np.minimum(coverage, 1.0)
    by_words = np.where(covered > 0, _logistic(STEEPNESS_OF_WORDS * (covered - CENTRE_OF_WORDS)), 0.0)
    alike = _logistic(STEEPNESS * (np.maximum(nearness, 0.0) + WORDS * covered**2 - CENTRE))
    return np.where(np.isnan(nearness), by_words, alike)


def _logistic(x: Floats) -> Floats:
    chances: Floats = 1 / (1 + np.exp(-x))
    return chances
