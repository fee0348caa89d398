"""How evidence becomes a ranking. Pure: the same evidence gives the same order.

An entry is judged by how much of the query it covers (rare words count more), by the similarity of its vector,
and by the company it keeps: a short message borrows from the ones beside it, and an entry gains when its
session or conversation answers the query in other places too. Every constant was measured with
bench/retrieval.py, one configuration for five sets, unless it says otherwise.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ..domain.entries import Outline, Posting
from ..domain.records import QUIET_ROLES

TEXT_SHARE = 0.55  # of the score; the rest is the vector's
SHORT = 400  # characters: a longer message stands for itself
LENDER = 800  # characters: a longer one covers many words by chance and lends none
FROM_BEFORE = 0.5  # of what the message before covers, a question more often than not
FROM_AFTER = 0.25
LONG = 600  # characters from which covering a word means less and less
LONG_DISCOUNT = 0.1  # for each doubling
ASSISTANT = 0.4  # an assistant repeats what it was told, at length
QUIET = 0.25  # what a tool was given, or a model thought: below what was said about it; chosen, not measured
NAMED_SPEAKER = 1.1
SAME_PROJECT = 1.1
THREAD_BEST = 0.4  # of the mean of the thread's three best
THREAD_COVER = 0.2  # of what the whole thread covers
FULL_SCORE = 1 + THREAD_BEST + THREAD_COVER
LEAST_SIMILARITY = 0.15  # without a word in common, less than this is noise


class Evidence(NamedTuple):
    """What the arms know about a query."""

    postings: Sequence[Posting]
    store_size: int
    similarity: Mapping[int, float]
    query_words: frozenset[str]
    project: str | None

    def weights(self) -> list[float]:
        """How much each unit counts: the rarer, the more; a bonus that is nowhere does not count."""
        return [
            0.0
            if posting.unit.is_bonus and not posting.frequency
            else posting.unit.weight * self._rarity(posting)
            for posting in self.postings
        ]

    def _rarity(self, posting: Posting) -> float:
        without = max(self.store_size - posting.frequency, 0)
        return math.log(1 + (without + 0.5) / (posting.frequency + 0.5))


class Ranked(NamedTuple):
    entry: int
    score: float
    coverage: float
    similarity: float
    thread: float


Cover = Sequence[float]
"""For each unit of the query, how much of its weight an entry has."""


def rank(outlines: Iterable[Outline], evidence: Evidence) -> list[Ranked]:
    """Best first, without what is mere noise."""
    pool = sorted({o.entry: o for o in outlines}.values())
    weights = evidence.weights()
    total = sum(weights) or 1.0
    cover = _covers(pool, evidence.postings, weights)
    borrowed = _borrowed(pool, cover)
    coverage = {o.entry: _discounted(sum(borrowed.get(o.entry, ())) / total, o.size) for o in pool}
    base = {o.entry: _base(o, coverage[o.entry], evidence) for o in pool}
    thread = _thread_scores(pool, base, cover, total)
    ranked = [
        Ranked(
            entry=entry,
            score=min((score + thread[entry]) / FULL_SCORE, 1.0),
            coverage=coverage[entry],
            similarity=evidence.similarity.get(entry, 0.0),
            thread=thread[entry],
        )
        for entry, score in base.items()
    ]
    relevant = [r for r in ranked if r.coverage > 0 or r.similarity >= LEAST_SIMILARITY]
    return sorted(relevant, key=lambda r: (-r.score, -r.entry))


def _covers(
    pool: Sequence[Outline], postings: Sequence[Posting], weights: Sequence[float]
) -> dict[int, Cover]:
    """The cover of each entry that holds anything of the query."""
    cover: dict[int, list[float]] = {}
    known = {o.entry for o in pool}
    for place, (posting, weight) in enumerate(zip(postings, weights, strict=True)):
        for entry in posting.entries & known:
            cover.setdefault(entry, [0.0] * len(weights))[place] = weight
    return dict(cover)


def _borrowed(pool: Sequence[Outline], cover: Mapping[int, Cover]) -> dict[int, Cover]:
    """Covers with what short messages take from the ones beside them."""
    at = {(o.thread, o.seq): o for o in pool if o.is_said and o.size < SHORT}
    borrowed = dict(cover)
    for lender in pool:
        if lender.is_said and lender.size < LENDER and lender.entry in cover:
            for step, share in ((1, FROM_BEFORE), (-1, FROM_AFTER)):
                if (taker := at.get((lender.thread, lender.seq + step))) is not None:
                    lent = [share * weight for weight in cover[lender.entry]]
                    own = borrowed.get(taker.entry)
                    borrowed[taker.entry] = lent if own is None else list(map(max, own, lent))
    return borrowed


def _discounted(coverage: float, size: int) -> float:
    return coverage if size <= LONG else coverage / (1 + LONG_DISCOUNT * math.log2(size / LONG))


def _base(o: Outline, coverage: float, evidence: Evidence) -> float:
    similarity = max(evidence.similarity.get(o.entry, 0.0), 0.0)
    score = TEXT_SHARE * coverage + (1 - TEXT_SHARE) * similarity if evidence.similarity else coverage
    for applies, factor in _BOOSTS:
        if applies(o, evidence):
            score *= factor
    return score


_BOOSTS: tuple[tuple[Callable[[Outline, Evidence], bool], float], ...] = (
    (lambda o, _: o.role == "assistant", ASSISTANT),
    (lambda o, _: o.role in QUIET_ROLES, QUIET),
    (lambda o, evidence: o.speaker.lower() in evidence.query_words, NAMED_SPEAKER),
    (lambda o, evidence: o.project == evidence.project, SAME_PROJECT),
)


def _thread_scores(
    pool: Sequence[Outline], base: Mapping[int, float], cover: Mapping[int, Cover], total: float
) -> dict[int, float]:
    threads: defaultdict[str | int, list[int]] = defaultdict(list)
    for o in pool:
        threads[o.entry if o.thread is None else o.thread].append(o.entry)
    scores: dict[int, float] = {}
    for members in threads.values():
        best = sum(sorted((base[m] for m in members), reverse=True)[:3]) / 3
        covers = [cover[m] for m in members if m in cover]
        whole = sum(map(max, zip(*covers, strict=True))) / total
        scores |= dict.fromkeys(members, THREAD_BEST * best + THREAD_COVER * whole)
    return scores
