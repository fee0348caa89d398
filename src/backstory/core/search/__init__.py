"""Search what the caller may see: memories and conversations, by a question, a file, or both kinds apart.

A question is read as people ask: words of time, project and assistant become filters, and when these leave nothing the
search goes on without them and says so. What is shown of a hit is in `core/search/previews.py`."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

from ...domain.errors import InvalidInput, check_at_least
from ...domain.filters import EVERYTHING, Filter, Kind
from ...domain.records import Memory, Message
from ...readers import reader_names
from ...search.file_mentions import file_hits
from ...search.question import Question, QuestionPart, read_question
from ..facet import Facet
from ..projects import project_root
from ..projects.related import projects_named, related_projects

if TYPE_CHECKING:
    from ...domain.entries import Vector
    from ...search.engine import Found, Hit, Strategy

    Enough = Callable[[Sequence[Hit]], bool]

LEAST = 0.02  # of certainty: what is less sure is not looked for in the whole store
LARGEST_POOL = 64
SURE = 0.5  # of certainty: of hits that are as certain, more than half are what was meant (docs/scores.md)
LIKELY = 0.2


class Ranking(NamedTuple):
    """The hits that reach the minimum, in order, and those below it, the nearest first."""

    hits: list[Hit]
    missed: list[Hit]
    strategy: Strategy
    notices: tuple[str, ...] = ()
    words: Sequence[str] = ()
    """What was looked for, to show the passages that hold it."""


class MemoryHit(NamedTuple):
    memory: Memory
    certainty: float


class MemoryHits(NamedTuple):
    hits: list[MemoryHit]
    strategy: Strategy
    notices: tuple[str, ...]
    vector: Vector | None
    """Of the query."""


class Searching(Facet):
    def everywhere(
        self,
        query: str,
        *,
        least: float = 0.0,
        project: str | None = None,
        with_related: bool = True,
        narrow: Filter = EVERYTHING,
        own_first: bool = True,
        largest_pool: int = LARGEST_POOL,
        are_enough: Enough | None = None,
    ) -> Ranking:
        """Memories and conversations that match `narrow` and have a certainty of at least `least`. With `own_first` the
        caller's project comes first, then related projects. A smaller pool is faster but can miss low-certainty hits;
        ranking stops early once `are_enough(hits)` returns true."""
        unread = self.engine.sync_first(self.call)
        where = self._where(project, with_related, narrow)
        if where is None:
            return _unknown(project, unread)
        found = self.find(query, where, least, largest_pool, are_enough)
        return self._ranking(found._replace(notices=(*unread, *found.notices)), least, own_first)

    def memories(
        self,
        query: str,
        where: Filter = EVERYTHING,
        *,
        limit: int,
        least: float = 0.0,
    ) -> MemoryHits:
        """Memories of every surface and project with a certainty of at least `least`; among equals the caller's own
        project comes first."""
        check_at_least(1, limit, "limit")
        visible = self.caller.visible(where)._replace(kinds=(Kind.MEMORY,))
        found = self.find(query, visible, least, are_enough=lambda hits: len(hits) >= limit)
        best = [hit for hit in found.hits if hit.certainty >= least]
        own = self.caller.project
        best.sort(key=lambda hit: (-hit.certainty, hit.project != own, -hit.score))
        entries = self.loaded(hit.entry for hit in best[:limit])
        memories = [
            MemoryHit(memory, hit.certainty)
            for hit in best[:limit]
            if isinstance(memory := entries.get(hit.entry), Memory)
        ]
        return MemoryHits(memories, found.strategy, found.notices, found.vector)

    def in_conversations(self, query: str, hits: Sequence[MemoryHit] = ()) -> tuple[str, ...]:
        """Says to who looked for memories, when none of the hits is sure, that conversations hold it."""
        if any(hit.certainty >= SURE for hit in hits) or self.engine.store.conversations.is_empty():
            return ()
        where = self.caller.visible(Filter(kinds=(Kind.MESSAGE,)))
        sure = [hit for hit in self.find(query, where, SURE).hits if hit.certainty >= SURE]
        best = self.engine.store.conversations.get([sure[0].conversation or ""]) if sure else []
        if not best:
            return ()
        match = "1 conversation matches" if len(sure) == 1 else f"{len(sure)} conversations match"
        place = PurePath(best[0].project).name or best[0].project
        return (
            f"{match} what no memory says for sure: search conversations for it. The best is {best[0].id},"
            f" of {best[0].updated_at:%Y-%m-%d} in {place}.",
        )

    def messages(self, query: str, *, limit: int, projects: tuple[str, ...] = ()) -> list[Message]:
        """What was said in conversations, each message by itself."""
        where = self.caller.visible(Filter(kinds=(Kind.MESSAGE,), projects=projects))
        best = self.engine.search.find(query, where, by_place=True).hits[:limit]
        entries = self.loaded(hit.entry for hit in best)
        return [message for hit in best if isinstance(message := entries.get(hit.entry), Message)]

    def by_file(
        self, path: str, *, project: str | None = None, narrow: Filter = EVERYTHING, own_first: bool = True
    ) -> Ranking:
        """What touched a file, and what speaks of it, as far as `narrow` lets it through: the own project's first unless that is
        not wanted, the surest first, then the newest; each conversation once."""
        if not path.strip():
            raise InvalidInput("path is empty.", hint="Name the file.", field="path")
        unread = self.engine.sync_first(self.call)
        where = self._where(project, with_related=True, narrow=narrow)
        if where is None:
            return _unknown(project, unread)
        hits = file_hits(self.engine.store, path, where)
        hits = self._own_first(hits) if own_first else hits
        return Ranking(hits, [], "text", unread, words=(path.rpartition("/")[2],))

    def find(
        self,
        query: str,
        where: Filter,
        least: float = 0.0,
        largest_pool: int = LARGEST_POOL,
        are_enough: Enough | None = None,
    ) -> Found:
        """All that may answer a question as people ask it, best first, of what `where` lets through."""
        if not query.strip():
            raise InvalidInput("query is empty.", hint="Say what to look for.", field="query")
        question = self._read(query, where, [*QuestionPart])
        found = self._weighed(question.query, question.where, least, largest_pool, are_enough)
        notices = tuple(f"Understood {each}." for each in question.understood)
        if question.understood and _surest(found) < LIKELY:
            for wider in self._wider(query, where, question):
                more = self._weighed(wider.query, wider.where, least, largest_pool, are_enough)
                if (more.hits and not found.hits) or _surest(more) >= SURE:
                    found = more
                    dropped = [each for each in question.understood if each not in wider.understood]
                    notices = (
                        *(f"Understood {each}." for each in wider.understood),
                        *(f"Found little with {each}; searched without." for each in dropped),
                    )
                    break
        return found._replace(notices=(*notices, *found.notices))

    def _read(self, query: str, where: Filter, parts: Collection[QuestionPart]) -> Question:
        now = self.engine.now()
        local = now.astimezone() if self.caller.is_local else now
        return read_question(
            query, where, local, self.engine.store.conversations.projects, reader_names, parts=parts
        )

    def _wider(self, query: str, where: Filter, question: Question) -> Iterator[Question]:
        """Readings of a question that filter less: without one of the parts that were understood, then without all."""
        if len(question.understood) > 1:
            without_one = (self._read(query, where, [*({*QuestionPart} - {part})]) for part in QuestionPart)
            yield from (each for each in without_one if each.understood != question.understood)
        yield Question(query, where)

    def _weighed(
        self, query: str, where: Filter, least: float, largest_pool: int, are_enough: Enough | None
    ) -> Found:
        """Enough candidates that none which is left out can be as sure as asked, or more sure than what is enough."""
        pool = 1
        while True:
            found = self.engine.search.find(query, where, pool=pool)
            worst = min((hit.certainty for hit in found.hits), default=0.0)
            if found.is_whole or worst < max(least, LEAST) or pool >= largest_pool:
                return found
            if are_enough is not None and are_enough(found.hits):
                return found
            pool *= 4

    def _ranking(self, found: Found, least: float, own_first: bool) -> Ranking:
        order = sorted(found.hits, key=lambda hit: -hit.certainty)
        sure = [hit for hit in order if hit.certainty >= least]
        below = [hit for hit in order if hit.certainty < least]
        hits = self._own_first(sure) if own_first else sure
        return Ranking(hits, below, found.strategy, found.notices, found.words)

    def _own_first(self, hits: Sequence[Hit]) -> list[Hit]:
        ranks = self._nearness({hit.project for hit in hits})
        return sorted(hits, key=lambda hit: ranks[hit.project])

    def _nearness(self, projects: Iterable[str]) -> dict[str, int]:
        """0 for the caller's own project, 1 for what is related to it, 2 for the rest."""
        own = self.caller.project
        others = sorted(set(projects) - {own})
        related = set(self._related([own], others)) if others else set()
        return {own: 0, **{project: 1 if project in related else 2 for project in others}}

    def _where(self, project: str | None, with_related: bool, narrow: Filter = EVERYTHING) -> Filter | None:
        """What the caller may see of the projects it means; None when there are none such."""
        if project is None:
            return self.caller.visible(narrow)
        known = self.engine.store.entries.projects()
        named = projects_named(project, known)
        if not named and self.caller.is_local and os.path.isabs(project):
            named = [str(project_root(Path(project)))]  # of which nothing is known, but perhaps of its kin
        related = self._related(named, known) if with_related else []
        projects = (*named, *related)
        return self.caller.visible(narrow._replace(projects=projects)) if {*projects} & {*known} else None

    def _related(self, projects: Sequence[str], known: Sequence[str]) -> list[str]:
        declared = self.engine.settings.related_projects
        return related_projects(projects, (*declared, self.caller.project) if declared else (), known)


def _unknown(project: str | None, notices: tuple[str, ...]) -> Ranking:
    return Ranking([], [], "text", (*notices, f"Nothing is known of a project {project!r}."))


def _surest(found: Found) -> float:
    return max((hit.certainty for hit in found.hits), default=0.0)
