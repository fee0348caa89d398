"""Certainty of results from other projects, relative to those of the caller's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...search.engine import Hit

OWN_RANK, RELATED_RANK, UNRELATED_RANK = range(3)  # of projects, by how near they are to the caller's
MOST_UNSURE = 0.49  # of certainty: the most that does not count as sure
FIRST_PAGE = 5  # hits
WORTH_SHOWING = 0.01  # minimum certainty: hits below it are almost never right


def beside_own(hits: Sequence[Hit], ranks: Mapping[str, int]) -> list[Hit]:
    """Adjust the certainty of hits from unrelated projects.

    A certainty is a probability, and a caller who names no project means its own first: a hit of an unrelated
    project can be right only if the best of the own project is not. Its certainty does not fall below WORTH_SHOWING.
    If a memory of the own project is on the first page, a hit of an unrelated project is not certain: what was saved
    here is meant even if it uses other words. `hits` must be sorted by score."""
    own = max((hit.certainty for hit in hits if ranks.get(hit.project) == OWN_RANK), default=0.0)
    most = max(1 - own, WORTH_SHOWING)
    if any(hit.conversation is None and ranks.get(hit.project) == OWN_RANK for hit in hits[:FIRST_PAGE]):
        most = min(most, MOST_UNSURE)
    return [
        hit._replace(certainty=min(hit.certainty, most)) if ranks.get(hit.project) == UNRELATED_RANK else hit
        for hit in hits
    ]
