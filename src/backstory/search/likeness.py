"""How sure a result is: one number from 0 to 1 that means the same for every query (docs/scores.md)."""

from __future__ import annotations

import math

STEEPNESS = 12.0
CENTRE = 0.27  # evidence of a text that is as likely meant as not
WORDS = (
    0.35  # what covering the whole query adds to a cosine; squared, since a word or two in common mean little
)
STEEPNESS_OF_WORDS = 10.0
CENTRE_OF_WORDS = 0.5


def likeness(cosine: float, coverage: float) -> float:
    """Of a text whose vector is known."""
    evidence = max(cosine, 0.0) + WORDS * min(coverage, 1.0) ** 2
    return _logistic(STEEPNESS * (evidence - CENTRE))


def likeness_by_words(coverage: float) -> float:
    """Of a text that has no vector, or none yet."""
    return _logistic(STEEPNESS_OF_WORDS * (min(coverage, 1.0) - CENTRE_OF_WORDS)) if coverage > 0 else 0.0


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))
