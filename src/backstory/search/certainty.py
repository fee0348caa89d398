"""How sure a hit is: one number from 0 to 1 that means the same for every query (docs/scores.md).

Of a conversation it is the measured share of hits with such evidence that were right; what counts is how far it is
ahead of the others, and how well the best of them matches at all. Of a memory, of which several may be right at once,
it depends on the query and the text, less what the text has in common with all that is near to the query."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .evidence import Evidence
from .grouping import Group
from .scoring import Scores

BASE = -3.0
LEAD, LAG = 4.2, 11.9  # of the score before the next one, and behind the best, as a share of the best
BEST_WORDS = 3.4
VECTORS, BEST_COSINE = -1.9, 4.0  # both as far as the candidates have vectors

STEEPNESS = 12.0
CENTRE = 0.27  # evidence of a memory that is as likely meant as not
WORDS = 0.35  # what covering the whole query adds to a cosine; squared: a word or two in common mean little
STEEPNESS_OF_WORDS = 10.0
CENTRE_OF_WORDS = 0.5


def certainties(groups: Sequence[Group], evidence: Evidence, scores: Scores) -> list[float]:
    if not groups:
        return []
    best, *rivals = sorted((group.score for group in groups), reverse=True)
    common = _common(evidence, scores)
    nearness, coverage = evidence.nearness.tolist(), scores.coverage.tolist()
    found = []
    for group in groups:
        sure = likeness(nearness[group.column], coverage[group.column])
        if group.head is not None:
            is_best = group.score == best
            ahead = LEAD * _lead(best, rivals, sure) if is_best else LAG * (group.score - best) / best
            sure = _logistic(common + ahead)
        found.append(round(sure, 4))
    return found


def _lead(best: float, rivals: Sequence[float], likely: float) -> float:
    """Of the best before the next one, as a share. To be ahead of few says little, so its likeness counts as one more of them."""
    lead = (best - rivals[0]) / best if rivals else 0.0
    return (len(rivals) * lead + likely) / (len(rivals) + 1)


def _common(evidence: Evidence, scores: Scores) -> float:
    """What is known of the query: whether anything matches it well."""
    words = float(scores.evidence[~scores.asks_again].max(initial=0.0))
    known = ~np.isnan(evidence.cosine)
    said = evidence.is_said | np.array([not outline.role for outline in evidence.outlines], bool)
    share = float(known[said].mean()) if said.any() else 0.0
    nearest = float(evidence.cosine[known].max(initial=0.0))
    return BASE + BEST_WORDS * words + share * (VECTORS + BEST_COSINE * nearest)


def likeness(nearness: float, coverage: float) -> float:
    """Of a memory; a nearness of NaN means that it has no vector yet."""
    covered = min(coverage, 1.0)
    if math.isnan(nearness):
        return _logistic(STEEPNESS_OF_WORDS * (covered - CENTRE_OF_WORDS)) if covered > 0 else 0.0
    return _logistic(STEEPNESS * (max(nearness, 0.0) + WORDS * covered**2 - CENTRE))


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))
