"""The one search: a query to ranked hits. `core/ask.py` is the door to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..domain.filters import EVERYTHING, Filter
from ..store import Store
from .certainty import certainties
from .evidence import Gathering, words_only_notice
from .grouping import apart, grouped
from .relevance import is_relevant
from .scoring import score

if TYPE_CHECKING:
    from ..domain.entries import Vector
    from ..domain.words import Unit
    from .backlog import Backlog
    from .evidence import Evidence
    from .grouping import Group
    from .scoring import Scores

Strategy = Literal["hybrid", "text"]


class Hit(NamedTuple):
    """A memory, or a conversation with its best place, and the parts of its score."""

    entry: int
    score: float
    """The value by which the hits of one query are ordered."""
    certainty: float
    """The probability, from 0 to 1, that the query meant this hit; comparable between queries (docs/scores.md)."""
    project: str
    parts: Mapping[str, float] = MappingProxyType({})
    conversation: str | None = None
    """The id of its conversation; None for a memory."""
    other_places: tuple[int, ...] = ()
    """Further entries of the same conversation that match, the best first."""
    is_apt: bool = True
    """True if it does more than repeat the question, and contains the rarest name in it."""

    @property
    def identity(self) -> str | int:
        """The conversation, or the entry of the memory: what two searches may both find."""
        return self.conversation or self.entry

    @property
    def known_parts(self) -> dict[str, float]:
        """The known parts of the score; a text without a vector has no known meaning."""
        unknown = {"meaning", "cosine"} if math.isnan(self.parts.get("cosine", math.nan)) else set()
        return {name: part for name, part in self.parts.items() if name not in unknown}


class Found(NamedTuple):
    hits: list[Hit]
    strategy: Strategy
    notices: tuple[str, ...] = ()
    """Notices for the caller, such as why the search used words alone."""
    vector: Vector | None = None
    """The vector of the query."""
    words: tuple[str, ...] = ()
    """The search terms, for choosing the passages to show."""
    is_whole: bool = True
    """True if all matches were scored."""


class Search:
    def __init__(
        self, store: Store, backlog: Backlog | None, notices: Callable[[], tuple[str, ...]] = tuple
    ) -> None:
        """`notices` returns notices for every answer, such as unreadable files."""
        self._store = store
        self._backlog = backlog
        self._notices = notices

    def find(
        self,
        query: str,
        where: Filter,
        *,
        pool: int = 1,
        by_place: bool = False,
        units: Sequence[Unit] | None = None,
        only_relevant: bool = True,
    ) -> Found:
        """The hits of a query, best first: each conversation once, or each of its messages.

        Empty if the query is unrelated to the store. `where` excludes; a larger `pool` compares more candidates. With
        `units` the query is searched by these words alone, and not by meaning or related words. Without
        `only_relevant` the nearest hits are returned even if none is related to the query."""
        backlog = self._backlog if units is None else None

        def search(store: Store) -> Found:
            # Importing numpy takes 60 ms, which a process that has saved nothing yet does not need.
            if not store.entries.size_hint():
                notices = () if backlog else (words_only_notice(),)
                return Found([], "text", (*notices, *self._notices()))
            evidence = Gathering(store, backlog, query, where, pool, units).evidence()
            scores = score(evidence)
            groups = apart(evidence, scores) if by_place else grouped(store, evidence, scores)
            if groups and only_relevant and not is_relevant(evidence, lambda: store.entries.count(where)):
                groups = []
            return self._found(groups, evidence, scores)

        return self._store.searched(search)

    def prepare(self) -> None:
        """Import numpy and compile patterns for an empty store, of which `find` needs none."""
        evidence = Gathering(self._store, None, "ready", EVERYTHING).evidence()
        scores = score(evidence)
        self._found(grouped(self._store, evidence, scores), evidence, scores)

    def _found(self, groups: list[Group], evidence: Evidence, scores: Scores) -> Found:
        return Found(
            hits=_hits(groups, evidence, scores),
            strategy="text" if evidence.vector is None else "hybrid",
            notices=(*evidence.notices, *self._notices()),
            vector=evidence.vector,
            words=tuple(word for term in evidence.terms for word in term.unit.words),
            is_whole=evidence.is_whole,
        )


def _hits(groups: list[Group], evidence: Evidence, scores: Scores) -> list[Hit]:
    outlines = evidence.outlines
    names = ("words", "meaning", "prompt", "coverage", "cosine")
    columns = (scores.words, scores.meaning, scores.prompt, scores.coverage, evidence.cosine)
    parts = [*zip(*(column.tolist() for column in columns), strict=True)]
    sure = certainties(groups, evidence, scores)
    return [
        Hit(
            entry=outlines[group.column].entry,
            score=group.score,
            certainty=certainty,
            project=outlines[group.column].project,
            parts=dict(zip(names, parts[group.column], strict=True)),
            conversation=group.head,
            other_places=tuple(outlines[column].entry for column in group.places[1:]),
            is_apt=group.is_apt,
        )
        for group, certainty in zip(groups, sure, strict=True)
    ]
