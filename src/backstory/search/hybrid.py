"""Find entries by words and by meaning: plan the query, ask each arm, rank what they found.

The text arm and the vector arm each propose a pool; filters are applied inside the arms, so neither proposes
what the caller may not see. Without vectors the vector arm is absent, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..domain.entries import Outline, Posting
from ..domain.filters import Filter
from ..domain.records import Entry
from ..domain.words import Unit, query_units
from ..store import Store
from .ranking import Evidence, Ranked, rank

if TYPE_CHECKING:
    from ..domain.entries import Vector
    from .backlog import Backlog

POOL = 100  # entries each arm proposes
BUDGET = 8_000  # postings read for a query; bounds its cost in a store of any size

Strategy = Literal["hybrid", "text"]


class Hit(NamedTuple):
    """A result, and why it stands where it does: its rank in each arm that found it, and the parts of its score."""

    entry: Entry
    score: float
    ranks: Mapping[str, int]
    parts: Mapping[str, float]


class Found(NamedTuple):
    hits: list[Hit]
    strategy: Strategy
    notices: tuple[str, ...] = ()
    """What the caller should know about this answer, such as why it is by text alone."""
    vector: Vector | None = None
    """Of the query."""


class _Meaning(NamedTuple):
    """The vector arm's view of a query; empty when there is no vector arm."""

    similarity: Mapping[int, float] = MappingProxyType({})
    notices: tuple[str, ...] = ()
    is_used: bool = False
    vector: Vector | None = None
    beyond: float = 0.0


class _Proposed(NamedTuple):
    outlines: list[Outline]
    last: int | None
    """The least of them, when there may be more."""


class Weighed(NamedTuple):
    """All that the arms proposed, best first, and how much an entry that they did not propose can have of each."""

    ranked: list[Ranked]
    strategy: Strategy
    notices: tuple[str, ...]
    vector: Vector | None
    beyond_similarity: float
    beyond_coverage: float


class Search:
    def __init__(
        self, store: Store, backlog: Backlog | None, notices: Callable[[], tuple[str, ...]] = tuple
    ) -> None:
        """`notices`: what whoever reads any answer should know, such as what could not be read."""
        self._store = store
        self._backlog = backlog
        self._notices = notices

    def find(self, query: str, where: Filter, limit: int, *, project: str | None = None) -> Found:
        """The entries that answer a query best. `project` is preferred; `where` alone excludes."""
        weighed = self.weigh(query, where, project=project)
        return Found(self._load(weighed.ranked, limit), weighed.strategy, weighed.notices, weighed.vector)

    def weigh(self, query: str, where: Filter, pool: int = POOL, *, project: str | None = None) -> Weighed:
        """The same without reading the texts. Each arm proposes at most `pool` entries."""
        postings, proposed = self._by_text(query_units(query), where, pool)
        meaning = self._meaning(query, where, [o.entry for o in proposed.outlines], pool)
        known = {o.entry for o in proposed.outlines}
        near = self._store.entries.outlines(meaning.similarity.keys() - known, where)
        evidence = Evidence(
            postings=postings,
            store_size=self._store.entries.size_hint(),
            similarity=meaning.similarity,
            query_words=frozenset(word for posting in postings for word in posting.unit.words),
            project=project,
        )
        ranked = rank([*proposed.outlines, *near], evidence)
        coverage = {r.entry: r.coverage for r in ranked}
        return Weighed(
            ranked,
            "hybrid" if meaning.is_used else "text",
            (*meaning.notices, *self._notices()),
            meaning.vector,
            beyond_similarity=meaning.beyond,
            beyond_coverage=coverage.get(proposed.last, 0.0) if proposed.last is not None else 0.0,
        )

    def _by_text(self, units: list[Unit], where: Filter, size: int) -> tuple[list[Posting], _Proposed]:
        """Where the units stand, and the entries that hold most of them, with their neighbours.

        Reading postings without the filter is several times cheaper. It is enough unless the filter then leaves
        too little, and there was more than was looked at."""
        postings = self._store.text.postings([unit for unit in units if len(unit.words) == 1], BUDGET)
        common = {posting.unit.words[0] for posting in postings if not posting.is_whole}
        # to find two common words side by side, every place of both is read: a bonus is not worth that
        together = [u for u in units if len(u.words) > 1 and not (u.is_bonus and common.issuperset(u.words))]
        postings += self._store.text.postings(together, BUDGET)
        best = _best(postings, 2 * size)
        pool = self._store.entries.outlines(best, where)
        if len(pool) < size and (len(best) == 2 * size or not all(posting.is_whole for posting in postings)):
            postings = self._store.text.postings([posting.unit for posting in postings], BUDGET, where)
            best = _best(postings, size)
            pool = self._store.entries.outlines(best, where)
        place = {entry: place for place, entry in enumerate(best)}
        pool = sorted(pool, key=lambda o: place[o.entry])[:size]
        last = pool[-1].entry if len(pool) == size else None
        return postings, _Proposed([*pool, *self._store.entries.neighbours(pool, where)], last)

    def _meaning(self, query: str, where: Filter, pool: list[int], size: int) -> _Meaning:
        if self._backlog is None:
            return _Meaning(notices=("Searched by words alone: embeddings are switched off.",))
        view = self._backlog.query(query)
        if view.vector is None:
            return _Meaning(notices=view.notices)
        near = self._store.vectors.nearest(view.space, view.vector, where, size)
        rest = self._store.vectors.similarities(view.space, view.vector, set(pool) - near.keys())
        beyond = min(near.values()) if len(near) == size else 0.0
        return _Meaning({**near, **rest}, view.notices, is_used=True, vector=view.vector, beyond=beyond)

    def _load(self, ranked: list[Ranked], limit: int) -> list[Hit]:
        by_text = _places(ranked, {r.entry: r.coverage for r in ranked})
        by_vector = _places(ranked, {r.entry: r.similarity for r in ranked})
        best = ranked[:limit]
        entries = self._store.entries.load(r.entry for r in best)
        return [
            Hit(
                entry=entries[r.entry],
                score=r.score,
                ranks={
                    **({"text": by_text[r.entry]} if r.coverage > 0 else {}),
                    **({"vector": by_vector[r.entry]} if r.similarity > 0 else {}),
                },
                parts={"coverage": r.coverage, "similarity": r.similarity, "thread": r.thread},
            )
            for r in best
            if r.entry in entries  # deleted by another process since it was ranked
        ]


def _best(postings: list[Posting], limit: int) -> list[int]:
    """Entries by how many rare units they hold, the newest first among equals."""
    scores: dict[int, float] = {}
    for posting in postings:
        weight = posting.unit.weight / (1 + posting.frequency) ** 0.5
        for entry in posting.entries:
            scores[entry] = scores.get(entry, 0.0) + weight
    # entries that hold the same units have the same score, so there are few scores to sort and many entries
    alike: dict[float, list[int]] = {}
    for entry, score in scores.items():
        alike.setdefault(score, []).append(entry)
    best: list[int] = []
    for score in sorted(alike, reverse=True):
        best += sorted(alike[score], reverse=True)
        if len(best) >= limit:
            break
    return best[:limit]


def _places(ranked: list[Ranked], scores: Mapping[int, float]) -> dict[int, int]:
    order = sorted((r.entry for r in ranked), key=lambda entry: (-scores[entry], -entry))
    return {entry: place for place, entry in enumerate(order, 1)}
