"""The order of conversations: a linear model over features of each, fitted by scripts/fit_ranking.py.

The best message alone says too little: a conversation that returns to the subject, and contains all words of the
query somewhere, is more likely the right one. Features are shares of the best conversation's, so that the model is
the same for any query and store; docs/decisions/0005-ranking.md has the figures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..domain.arrays import np

if TYPE_CHECKING:
    from .evidence import Evidence, Floats, Ints
    from .scoring import Scores

WEIGHTS = Path(__file__).with_name("weights.json")
FEATURES = (
    "best message",  # score of the best message
    "third message",  # score of the third best message: does the conversation return to the subject?
    "among the best",  # number of its messages among the best of all
    "words",  # of any of its messages
    "meaning",
    "words together",
    "whole conversation",  # BM25 of all its messages
    "length",  # logarithm of its number of messages: a long conversation has many words by chance
    "apt",  # 1 if a message does more than repeat the query, and has the rarest name
)
BEST_MESSAGES = 50
SCORE_SCALE = 6.0  # of log odds


class Family(NamedTuple):
    """A conversation with its subagents and forks, or a memory."""

    head: str | None
    threads: tuple[str, ...]
    places: tuple[int, ...]
    """Columns of the matches, best first."""


def features(families: Sequence[Family], evidence: Evidence, scores: Scores) -> Floats:
    """One row for each conversation or memory."""
    if not families:
        return np.zeros((0, len(FEATURES)))
    total = scores.total
    is_among = np.zeros(len(total))
    is_among[np.argsort(-total, kind="stable")[:BEST_MESSAGES]] = 1.0
    places = [family.places for family in families]
    joined = PlacesOfGroups.of(places).joined
    third = [columns[2] if len(columns) > 2 else -1 for columns in places]
    whole, length = _of_threads(families, evidence)
    table = np.column_stack((
        total[[columns[0] for columns in places]],
        np.append(total, 0.0)[third],
        joined(np.add, is_among),
        joined(np.maximum, scores.words),
        joined(np.maximum, scores.meaning),
        joined(np.maximum, evidence.together),
        whole,
        length,
        joined(np.maximum, scores.is_apt.astype(np.float64)),
    ))  # fmt: skip
    table[:, :2] /= total.max() or 1.0
    relative = slice(FEATURES.index("among the best"), FEATURES.index("whole conversation") + 1)
    largest = table[:, relative].max(0)
    table[:, relative] /= np.where(largest > 0, largest, 1.0)
    return table


class PlacesOfGroups(NamedTuple):
    """The columns of groups, one group after the other. None is empty."""

    columns: Ints
    starts: Ints

    @classmethod
    def of(cls, groups: Sequence[Sequence[int]]) -> PlacesOfGroups:
        sizes = np.array([*map(len, groups)], np.int64)
        return cls(np.array([*chain.from_iterable(groups)], np.int64), np.cumsum(sizes) - sizes)

    def joined(self, by: np.ufunc, values: Floats) -> Floats:
        """For each group the values of its columns joined into one, as by np.maximum."""
        groups: Floats = by.reduceat(values[self.columns], self.starts)
        return groups


def _of_threads(families: Sequence[Family], evidence: Evidence) -> tuple[Floats, Floats]:
    """BM25 of complete conversations, and the logarithms of their numbers of messages."""
    codes, shapes = _codes(evidence), evidence.conversations.shapes
    whole, length = np.zeros((2, len(families)))
    for row, family in enumerate(families):
        for thread in family.threads:
            if thread in codes:
                whole[row] = max(whole[row], evidence.conversations.words[codes[thread]])
                length[row] += shapes.said_count[codes[thread]]
    return whole, np.log1p(length)


def _codes(evidence: Evidence) -> Mapping[str, int]:
    """The code of each candidate's thread, if it is already known."""
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
    """The probability of each to be the right one, if any is; the sum is 1."""
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
