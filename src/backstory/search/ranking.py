"""The order of conversations: a linear model over what is known of each, fitted by scripts/fit_ranking.py.

The best message alone says too little: a conversation that comes back to the subject, and has all words of the query
somewhere, is more likely the one that is meant. Features are shares of the best conversation's, so that the model is the same for any
query and store; docs/decisions/0005-ranking.md has the figures.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from .evidence import Evidence, Floats
    from .scoring import Scores

WEIGHTS = Path(__file__).with_name("weights.json")
FEATURES = (
    "best message",  # score of the best message
    "third message",  # score of the third best: whether the conversation comes back to it
    "among the best",  # how many of its messages are among the best of all
    "words",  # of any of its messages
    "meaning",
    "words together",
    "whole conversation",  # BM25 of all that was said in it
    "length",  # logarithm of how many messages it has: a long one has many words by chance
    "apt",  # does more than ask the same, and has the rarest name
)
BEST_MESSAGES = 50
SCORE_SCALE = 6.0  # of log odds


class Family(NamedTuple):
    """A conversation with those that speak for it, or a memory."""

    head: str | None
    threads: tuple[str, ...]
    places: tuple[int, ...]
    """Columns of what matches, the best first."""


def features(families: Sequence[Family], evidence: Evidence, scores: Scores) -> Floats:
    """One row for each conversation or memory."""
    total = scores.total
    best = total.max(initial=0.0) or 1.0
    is_among = np.zeros(len(total), bool)
    is_among[np.argsort(-total, kind="stable")[:BEST_MESSAGES]] = True
    whole, counts = evidence.conversations.words, evidence.conversations.shapes.said_count
    codes = _codes(evidence)
    rows = []
    for family in families:
        members = [codes[thread] for thread in family.threads if thread in codes]
        own = list(family.places)
        rows.append((
            total[own[0]] / best,
            total[own[2]] / best if len(own) > 2 else 0.0,
            np.count_nonzero(is_among[own]),
            scores.words[own].max(),
            scores.meaning[own].max(),
            evidence.together[own].max(),
            whole[members].max(initial=0.0),
            np.log1p(counts[members].sum()),
            scores.is_apt[own].any(),
        ))  # fmt: skip
    table = np.array(rows, np.float64).reshape(-1, len(FEATURES))
    relative = slice(FEATURES.index("among the best"), FEATURES.index("whole conversation") + 1)
    largest = table[:, relative].max(0, initial=0.0)
    table[:, relative] /= np.where(largest > 0, largest, 1.0)
    return table


def _codes(evidence: Evidence) -> Mapping[str, int]:
    """The code of each candidate's thread, where it is known already."""
    shapes = evidence.conversations.shapes
    is_known = evidence.entry < len(shapes.thread)
    codes = shapes.thread[evidence.entry[is_known]].tolist()
    outlines = [outline for outline, known in zip(evidence.outlines, is_known.tolist(), strict=True) if known]
    return {
        outline.thread: code
        for outline, code in zip(outlines, codes, strict=True)
        if outline.thread is not None
    }


def evaluate(table: Floats) -> Floats:
    """Log odds of each against the others."""
    logits: Floats = table @ _weights()
    return logits


def likelihoods(logits: Floats) -> Floats:
    """How likely each is the one that is meant, if any is; 1 together."""
    odds = np.exp(logits - logits.max(initial=-np.inf))
    likely: Floats = odds / (odds.sum() or 1.0)
    return likely


def relative_scores(logits: Floats) -> Floats:
    """1 for the best; the others on a scale that people and tools can compare, on which a tenth is a large step."""
    scores: Floats = np.exp((logits - logits.max(initial=-np.inf)) / SCORE_SCALE)
    return scores


@lru_cache(maxsize=1)
def _weights() -> Floats:
    stored = read_weights()["order"]
    return np.array([stored[feature] for feature in FEATURES])


def read_weights() -> dict[str, dict[str, float]]:
    """The fitted weights of both models, by name."""
    stored: dict[str, dict[str, float]] = json.loads(WEIGHTS.read_text("utf-8"))
    return stored
