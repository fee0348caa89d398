"""One hit for each conversation, regardless of its number of matches, and one for each memory.

Matches of subagents and forks count for the conversation that started them, and copies of one text count once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..domain.arrays import np
from ..store import Store
from .evidence import Evidence
from .families import family_heads
from .ranking import Family, evaluate, features, likelihoods, relative_scores
from .scoring import Scores

# number of a conversation's best places, and the share of their mean that is added to the score of each of its places
COMPANY, COMPANY_SHARE = 3, 0.4
CLEARLY_BETTER = 1.5  # times the score of the head's best message
COPIED = 400  # characters at the beginning of a text that identify copies
SHORTEST_COPY = 120  # a shorter text may be repeated without being a copy


class Group(NamedTuple):
    """A conversation with its best place, or a memory."""

    column: int
    """The column of the best place."""
    score: float
    likelihood: float
    """The probability that this group is the right one among all matches; 0 if it was not computed."""
    head: str | None
    places: tuple[int, ...]
    """Columns of all its places that match, the best first."""
    is_apt: bool


def families(store: Store, evidence: Evidence, scores: Scores) -> list[Family]:
    """All families with a match."""
    head_of = family_heads(store, {o.thread for o in evidence.outlines if o.role and o.thread})
    threads: dict[str, list[str]] = {}
    for thread, head in head_of.items():
        threads.setdefault(head, []).append(thread)
    places: dict[str | int, list[int]] = {}
    matching = np.flatnonzero(scores.total > 0)
    # newest first among equals: columns ascend with entry numbers
    for column in matching[np.lexsort((-matching, -scores.total[matching]))].tolist():
        outline = evidence.outlines[column]
        key = head_of.get(outline.thread or "") if outline.role else None
        places.setdefault(key or outline.entry, []).append(column)
    return [
        Family(key, tuple(threads[key]), tuple(columns))
        if isinstance(key, str)
        else Family(None, (), tuple(columns))
        for key, columns in places.items()
    ]


def grouped(store: Store, evidence: Evidence, scores: Scores) -> list[Group]:
    """Groups by likelihood, newest first among equals."""
    by_family = families(store, evidence, scores)
    logits = evaluate(features(by_family, evidence, scores))
    shares = zip(relative_scores(logits).tolist(), likelihoods(logits).tolist(), strict=True)
    is_apt: list[bool] = scores.is_apt.tolist()
    groups = []
    for family, (score, likelihood) in zip(by_family, shares, strict=True):
        places = _head_first(family, evidence, scores)
        any_is_apt = any(is_apt[column] for column in places)
        groups.append(Group(places[0], score, likelihood, family.head, places, any_is_apt))
    return _without_copies(_best_first(_apt_first(groups)), evidence)


def _head_first(family: Family, evidence: Evidence, scores: Scores) -> tuple[int, ...]:
    """The places of a family, the best of the head itself first unless a subagent's is clearly better.

    The head contains the results of its subagents' work, so it is the conversation to open if both match."""
    if len(family.threads) == 1:
        return family.places
    of_head = [place for place in family.places if evidence.outlines[place].thread == family.head]
    best = scores.total[family.places[0]]
    if not of_head or best > CLEARLY_BETTER * scores.total[of_head[0]]:
        return family.places
    return (of_head[0], *(place for place in family.places if place != of_head[0]))


def apart(evidence: Evidence, scores: Scores) -> list[Group]:
    """Every matching place as a separate group, best first; its conversation's other matches count."""
    totals, is_apt = scores.total.tolist(), scores.is_apt.tolist()
    threads: dict[object, list[int]] = {}
    for column, outline in enumerate(evidence.outlines):
        if totals[column] > 0:
            threads.setdefault(outline.thread if outline.role else outline.entry, []).append(column)
    groups = []
    for columns in threads.values():
        best = sorted((totals[column] for column in columns), reverse=True)[:COMPANY]
        shared = COMPANY_SHARE * sum(best) / COMPANY
        for column in columns:
            outline = evidence.outlines[column]
            head = outline.thread if outline.role else None
            groups.append(Group(column, totals[column] + shared, 0.0, head, (column,), is_apt[column]))
    return _best_first(groups)


def _best_first(groups: list[Group]) -> list[Group]:
    return sorted(groups, key=lambda group: (-group.score, -group.column))


def _apt_first(groups: list[Group]) -> list[Group]:
    """Move groups to the end that lack the rarest name of the query or only ask the same question."""
    below = 0.99 * min((group.score for group in groups if group.is_apt), default=1.0)
    return [group if group.is_apt else group._replace(score=min(group.score, below)) for group in groups]


def _without_copies(groups: Sequence[Group], evidence: Evidence) -> list[Group]:
    seen: set[tuple[str, int]] = set()
    once = []
    for group in groups:
        reading = evidence.readings[group.column]
        mark = (reading.text[:COPIED], reading.outline.size)
        if group.head is None or mark[1] < SHORTEST_COPY or mark not in seen:
            once.append(group)
        seen.add(mark)
    return once
