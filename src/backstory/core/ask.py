"""The single entry point to search: query → filter → order → page. Every tool, command, page, prompt and benchmark uses it.

Natural-language queries are supported: words for time, project and assistant become filters, and if these leave
almost nothing, the search continues without them and reports it. The caller's own conversation and records it may
not see are never returned. `core/previews.py` and `core/lookup.py` present hits; docs/search.md describes filters
and orders.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import partial
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ..domain.entries import ALL, Outline, TextFields
from ..domain.errors import InvalidInput, check_at_least
from ..domain.filters import EVERYTHING, Filter, Kind, MemoryPage, Order, Sorting
from ..domain.kinds import MemoryKind, categories_of, kind_of
from ..domain.paths import path_parts
from ..domain.query import looked_up, parse_query
from ..domain.records import Memory, Message
from ..domain.spans import span
from ..domain.statements import StatementKind
from ..readers import reader_names
from ..search.engine import Found, Hit, Strategy
from ..search.evidence import QUOTA
from ..search.file_mentions import file_hits
from ..search.matching import Matching
from ..search.question import Question, QuestionPart, read_question
from .memories.retrieval import Retrieval
from .names import known_source
from .part import CallContext, CorePart
from .projects import project_root
from .projects.related import EVERY_PROJECT, project_named, projects_named, related_projects
from .search.nearest import NearestMemories
from .search.own_project import OWN_RANK, RELATED_RANK, UNRELATED_RANK, WORTH_SHOWING, beside_own
from .search.running import running_conversations
from .search.superseding import latest_first, may_state, superseding_hits

if TYPE_CHECKING:
    from ..domain.entries import Vector
    from ..domain.words import Unit

SURE = 0.5  # minimum certainty of a "sure" hit: more than half of such hits are right (docs/scores.md)
LIKELY = 0.2
LEAST_CERTAINTY = 0.02  # the search does not widen to the whole store for less certain hits
LARGEST_POOL = 64
LARGEST_POOL_OF_A_PAGE = 4
FIRST_HITS = 20
"""The number of hits that have one order for every caller: callers that show fewer search as deep, and a later
decision among these hits takes the place of the one it supersedes."""
MAX_RANKED_MEMORIES = 240  # to score for words that must all occur; only common words match more
CONVERSATION = "conversation"
KINDS = (*MemoryKind, CONVERSATION)
_STATED: Mapping[str | None, StatementKind] = {
    MemoryKind.DECISION: StatementKind.DECISION,
    MemoryKind.PREFERENCE: StatementKind.PREFERENCE,
}
"""Kinds of memories that conversations state as well."""


class ResultOrder(StrEnum):
    """The orders of results; docs/search.md describes them."""

    RELEVANCE = "relevance"
    NEWEST = "newest"
    OLDEST = "oldest"


class Inquiry(NamedTuple):
    """A question and its filters. Every filter narrows; an empty one does not."""

    query: str = ""
    """A query in plain words. May be "" if a file is given."""
    project: str | None = None
    """A project by name or path, or EVERY_PROJECT for all alike; None for all, the caller's own first."""
    with_related: bool | None = None
    """None: `project` must be known. Otherwise every project of that name counts, and related ones if True; an
    unknown project yields no hits and a notice."""
    kind: str | None = None
    """One of KINDS."""
    file: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    assistant: str | None = None
    where: Filter = EVERYTHING
    """Additional filters, for example several projects."""
    least: float = 0.0
    """Hits of a lower certainty are `missed`."""
    order: ResultOrder = ResultOrder.RELEVANCE
    limit: int | None = None
    """The number of hits that the caller shows; None for a caller that counts them all."""
    shows_nearest_memories: bool = False
    """If no hit is certain, add the nearest decisions and preferences of the caller's project; if only memories are
    searched and none matches, the nearest of them. Without vectors, the newest."""
    reads_histories: bool = True
    """First read histories that changed since the last sync. Hooks have no time for it."""


class Ranking(NamedTuple):
    """The hits that reach the minimum, in order, and those below it, the nearest first."""

    hits: list[Hit]
    missed: list[Hit]
    strategy: Strategy
    notices: tuple[str, ...] = ()
    words: Sequence[str] = ()
    """The words of the query, for highlighting passages."""
    vector: Vector | None = None
    """The vector of the query."""
    later: Mapping[int, int] = MappingProxyType({})
    """For each superseded entry, the decision that supersedes it; both are among the hits."""

    @property
    def is_sure(self) -> bool:
        return any(hit.certainty >= SURE for hit in self.hits)


class Ask(CorePart):
    def __init__(self, context: CallContext, retrieval: Retrieval) -> None:
        super().__init__(context)
        self._retrieval = retrieval
        self._nearest = NearestMemories(context)

    def find(self, inquiry: Inquiry) -> Ranking:
        """Memories and conversations, each once, in one ranking."""
        with span("search"):
            return self._find(inquiry)

    def _find(self, inquiry: Inquiry) -> Ranking:
        if inquiry.limit is not None:
            check_at_least(1, inquiry.limit, "limit")
        if inquiry.kind not in (None, *KINDS):
            raise InvalidInput(f"kind must be one of {', '.join(KINDS)}.", field="kind")
        unread = self._read_histories(inquiry)
        where = self._filter(inquiry)
        if where is None:
            return Ranking([], [], "text", (*unread, f"Nothing is known of a project {inquiry.project!r}."))
        if inquiry.file is None:
            matches = self._answering(inquiry, where, lambda hits: self._of_kind(hits, inquiry.kind))
        else:
            matches = self._about(inquiry.file, inquiry, where)
        ranking = self._ordered(matches, inquiry)
        if inquiry.shows_nearest_memories and inquiry.file is None and not ranking.is_sure:
            nearest = self._nearest_memories(inquiry, where, matches)
            ranking = self._ordered(matches._replace(hits=[*matches.hits, *nearest]), inquiry)
        return ranking._replace(notices=(*unread, *ranking.notices))

    def prepare(self) -> None:
        """Load everything that a first search would wait for: the index, and the model if the store is not empty."""
        if self.engine.store.entries.size_hint():
            self.engine.load_soon()
        else:
            self.engine.search.prepare()
        # any search imports numpy, compiles patterns and reads the index
        self.find(Inquiry("ready", limit=1, reads_histories=False))

    def projects(self, wanted: str | None) -> tuple[str, ...] | None:
        """The projects that a caller means, () for all; None where it named none, which is all with its own first."""
        if wanted is None:
            return None
        return () if wanted == EVERY_PROJECT else self._projects(wanted, None)

    def memories(
        self, ranking: Ranking, limit: int | None = None, offset: int = 0
    ) -> list[tuple[Memory, float]]:
        """The memories among a page of hits that the caller may see by now, each with its certainty."""
        chosen = ranking.hits[offset:] if limit is None else ranking.hits[offset : offset + limit]
        entries = self.load(hit.entry for hit in chosen)
        return [
            (entry, hit.certainty) for hit in chosen if isinstance(entry := entries.get(hit.entry), Memory)
        ]

    def messages(self, query: str, *, limit: int, projects: tuple[str, ...] = ()) -> list[Message]:
        """Single messages rather than conversations, as benchmarks of retrieval count them."""
        where = self.caller.visible(Filter(kinds=(Kind.MESSAGE,), projects=projects))
        best = self.engine.search.find(query, where, by_place=True).hits[:limit]
        entries = self.load(hit.entry for hit in best)
        return [message for hit in best if isinstance(message := entries.get(hit.entry), Message)]

    def holding(
        self,
        query: str,
        where: Filter,
        *,
        fields: TextFields = TextFields.BOTH,
        sorting: Sorting | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> MemoryPage:
        """Memories that contain all words of a query with operators (`domain/query.py`), by relevance or by `sorting`."""
        check_query(query)
        parsed = parse_query(query)
        where = self.caller.visible(where)._replace(kinds=(Kind.MEMORY,))
        matching = Matching(self.engine.store, fields)
        last = ALL if limit is None else offset + limit
        if sorting is not None:
            numbers = matching.find(parsed, where, sorting.order)
            entries = self._retrieval.in_order(numbers.tolist(), sorting)
        else:  # beyond the most that are ranked, by age alone
            numbers = matching.find(parsed, where, Order.NEWEST, max(last, MAX_RANKED_MEMORIES))
            units = [looked_up(unit) for unit in parsed.units]
            best = self._by_relevance(numbers[:MAX_RANKED_MEMORIES].tolist(), units, where)
            entries = [*best, *numbers[MAX_RANKED_MEMORIES:last].tolist()]
        return MemoryPage(self._retrieval.page(entries, limit, offset), len(numbers))

    def conversation_notice(
        self, query: str, memories: Sequence[tuple[Memory, float]] = ()
    ) -> tuple[str, ...]:
        """A notice that conversations contain matches, for callers that searched memories and got no certain one."""
        if any(certainty >= SURE for _, certainty in memories) or self.engine.store.conversations.is_empty():
            return ()
        sure = self.find(Inquiry(query, where=Filter(kinds=(Kind.MESSAGE,)), least=SURE)).hits
        best = self.engine.store.conversations.get([sure[0].conversation or ""]) if sure else []
        if not best:
            return ()
        match = "1 conversation matches" if len(sure) == 1 else f"{len(sure)} conversations match"
        place = PurePath(best[0].project).name or best[0].project
        return (
            f"{match} what no memory says for sure: search conversations for it. The best is {best[0].id},"
            f" of {best[0].updated_at:%Y-%m-%d} in {place}.",
        )

    def _nearest_memories(self, inquiry: Inquiry, where: Filter, matches: Found) -> list[Hit]:
        """Memories for a query that has no certain hit: decisions and preferences of the caller's project; for a
        caller that wants memories only, the nearest."""
        if not matches.hits and where.kinds == (Kind.MEMORY,):
            nearest = self._nearest.find(inquiry.query, where, inquiry.limit or FIRST_HITS)
        elif inquiry.project == EVERY_PROJECT:
            nearest = []
        else:
            nearest = self._nearest.decisions(inquiry.query, where, matches.words)
        known = {hit.entry for hit in matches.hits}
        return self._of_kind([hit for hit in nearest if hit.entry not in known], inquiry.kind)

    def _read_histories(self, inquiry: Inquiry) -> tuple[str, ...]:
        """Sync before conversations are searched, so that recent messages are found.

        Returns notices about unreadable files."""
        if not inquiry.reads_histories or inquiry.where.kinds == (Kind.MEMORY,):
            return ()
        unread = self.engine.sync_first(self.call)
        self.engine.sync_recent(self.call)
        return unread

    def _filter(self, inquiry: Inquiry) -> Filter | None:
        """The filter of an inquiry; None if the project is unknown."""
        where = self.caller.visible(inquiry.where)
        if inquiry.kind == CONVERSATION:
            where = where._replace(kinds=(Kind.MESSAGE,))
        elif inquiry.kind is not None and inquiry.kind not in _STATED:
            where = where._replace(kinds=(Kind.MEMORY,), categories=categories_of(MemoryKind(inquiry.kind)))
        if inquiry.project is not None and inquiry.project != EVERY_PROJECT:
            projects = self._projects(inquiry.project, inquiry.with_related)
            if not projects:
                return None
            where = where._replace(projects=projects)
        if inquiry.assistant is not None:
            where = where._replace(surfaces=(known_source(self.engine, inquiry.assistant),))
        return where._replace(
            created_after=inquiry.since or where.created_after,
            created_before=inquiry.until or where.created_before,
        )

    def _projects(self, wanted: str, with_related: bool | None) -> tuple[str, ...]:
        known = self.engine.store.entries.projects()
        if with_related is None:
            if (project := project_named(wanted, known)) is not None:
                return (project,)
            problem = f"Nothing is known of a project {wanted!r}."
            raise InvalidInput(problem, hint='Leave it out, or use "*" for all projects.', field="project")
        named = projects_named(wanted, known)
        if not named and self.caller.is_local and os.path.isabs(wanted):
            # nothing is known of it, but perhaps of projects that are related to it
            named = [str(project_root(Path(wanted)))]
        projects = (*named, *(self._related(named, known) if with_related else ()))
        return projects if {*projects} & {*known} else ()

    def _of_kind(self, hits: Sequence[Hit], kind: str | None) -> list[Hit]:
        """Filter hits by kind where a Filter cannot: a fact has no other kind's category, and a message may state a
        decision."""
        if kind != MemoryKind.FACT and kind not in _STATED:
            return list(hits)
        entries = self.load(hit.entry for hit in hits)
        chosen = {n for n, each in entries.items() if isinstance(each, Memory) and kind_of(each) == kind}
        if kind in _STATED:
            messages = {each.id: n for n, each in entries.items() if isinstance(each, Message)}
            stating = self.engine.store.sayings.by_message(list(messages), (_STATED[kind],))
            chosen |= {messages[id] for id in stating}
        return [hit for hit in hits if hit.entry in chosen]

    def _about(self, file: str, inquiry: Inquiry, where: Filter) -> Found:
        """The hits that touched or mention the file; if there are none, other records that did, regardless of the query."""
        if not path_parts(file):
            raise InvalidInput("file is empty.", hint="Pass a path, or leave it out.", field="file")
        about = self._of_kind(self._not_running(file_hits(self.engine.store, file, where)), inquiry.kind)
        if not inquiry.query.strip() or not about:
            return Found(about, "text", words=path_parts(file)[-1:])
        touching = {hit.identity: hit for hit in about}
        limit = None if inquiry.limit is None else min(inquiry.limit, len(touching))
        matches = self._answering(
            inquiry._replace(limit=limit),
            where,
            lambda hits: [hit for hit in hits if hit.identity in touching],
        )
        unsure = [hit._replace(certainty=WORTH_SHOWING) for hit in touching.values()]
        return matches if matches.hits else matches._replace(hits=unsure)

    def _answering(
        self, inquiry: Inquiry, where: Filter, keeps: Callable[[Sequence[Hit]], list[Hit]]
    ) -> Found:
        """All hits that may answer a natural-language query and that `where` and `keeps` let through, best first."""
        query = inquiry.query
        check_query(query)
        limit = inquiry.limit
        is_filtered = inquiry.file is not None or inquiry.kind == MemoryKind.FACT or inquiry.kind in _STATED
        enough = limit if limit is None or is_filtered or limit > FIRST_HITS else 0
        largest_pool = LARGEST_POOL if limit is None else LARGEST_POOL_OF_A_PAGE
        question = self._read(query, where, [*QuestionPart])
        search = partial(self._search, keeps, inquiry.least, enough, largest_pool)
        matches = search(question.query, question.where)
        notices = tuple(f"Understood {each}." for each in question.understood)
        if question.understood and _surest(matches) < LIKELY:
            for wider in self._wider(query, where, question):
                more = search(wider.query, wider.where)
                if (more.hits and not matches.hits) or _surest(more) >= SURE:
                    matches = more
                    dropped = [each for each in question.understood if each not in wider.understood]
                    notices = (
                        *(f"Understood {each}." for each in wider.understood),
                        *(f"Found little with {each}; searched without." for each in dropped),
                    )
                    break
        return matches._replace(notices=(*notices, *matches.notices))

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

    def _search(
        self,
        keeps: Callable[[Sequence[Hit]], list[Hit]],
        least: float,
        enough: int | None,
        largest_pool: int,
        query: str,
        where: Filter,
    ) -> Found:
        """Search ever more candidates until `keeps` leaves enough hits, or until an omitted one cannot be certain enough."""
        pool = 1
        while True:
            matches = self.engine.search.find(query, where, pool=pool)
            worst = min((hit.certainty for hit in matches.hits), default=0.0)
            hits = keeps(self._not_running(matches.hits))
            is_enough = enough is not None and len(hits) >= enough
            is_last = matches.is_whole or worst < max(least, LEAST_CERTAINTY) or pool >= largest_pool
            if is_enough or is_last:
                return matches._replace(hits=hits)
            pool *= 4

    def _not_running(self, hits: Sequence[Hit]) -> list[Hit]:
        running = running_conversations(self.engine, self.caller)
        return [hit for hit in hits if hit.conversation not in running]

    def _by_relevance(self, entries: Sequence[int], units: Sequence[Unit], where: Filter) -> list[int]:
        """Memories by their rank in a search for the words, then unranked ones in the given order."""
        if len(entries) < 2 or not units:
            return list(entries)
        pool = -(-len(entries) // QUOTA.memories)
        words = " ".join(word for unit in units for word in unit.words)
        matches = self.engine.search.find(words, where, pool=pool, units=units)
        places = {hit.entry: place for place, hit in enumerate(matches.hits)}
        return sorted(entries, key=lambda entry: places.get(entry, len(places)))

    def _ordered(self, matches: Found, inquiry: Inquiry) -> Ranking:
        prefers_own = inquiry.project != EVERY_PROJECT and inquiry.order is ResultOrder.RELEVANCE
        ranks = self._nearness({hit.project for hit in matches.hits}) if prefers_own else {}
        order = sorted(beside_own(matches.hits, ranks), key=lambda hit: -hit.certainty)
        hits = [hit for hit in order if hit.certainty >= inquiry.least]
        missed = [hit for hit in order if hit.certainty < inquiry.least]
        ranking = Ranking(hits, missed, matches.strategy, matches.notices, matches.words, matches.vector)
        if inquiry.order is not ResultOrder.RELEVANCE:
            hits = self._by_age(hits, inquiry.order)
            return ranking._replace(hits=hits, later=self._superseded(hits[:FIRST_HITS]))
        if prefers_own:
            hits = sorted(hits, key=lambda hit: (hit.certainty < SURE, ranks[hit.project]))
            hits = hits if ranking.is_sure else self._nearest.decisions_first(hits)
        first, rest = hits[:FIRST_HITS], hits[FIRST_HITS:]
        later = self._superseded(first)
        return ranking._replace(hits=[*latest_first(first, later), *rest], later=later)

    def outlines(self, hits: Iterable[Hit]) -> list[Outline]:
        """The outlines of hits, unordered; entries that were deleted since are left out."""
        return self.engine.store.entries.outlines((hit.entry for hit in hits), EVERYTHING)

    def _by_age(self, hits: Sequence[Hit], order: ResultOrder) -> list[Hit]:
        outlines = self.engine.store.entries.outlines(
            (hit.entry for hit in hits), self.caller.visible(EVERYTHING)
        )
        ages = {each.entry: each.created_ms for each in outlines}
        known = [hit for hit in hits if hit.entry in ages]
        return sorted(known, key=lambda hit: ages[hit.entry], reverse=order is ResultOrder.NEWEST)

    def _superseded(self, hits: Sequence[Hit]) -> dict[int, int]:
        stating = may_state(hits, self.engine.store)
        if len(stating) < 2:
            return {}
        return superseding_hits(hits, self.load(stating), self.engine.store)

    def _nearness(self, projects: Iterable[str]) -> dict[str, int]:
        """The rank of each project: the caller's own, those related to it, the rest."""
        own = self.caller.project
        others = sorted(set(projects) - {own})
        related = set(self._related([own], others)) if others else set()
        return {
            own: OWN_RANK,
            **{each: RELATED_RANK if each in related else UNRELATED_RANK for each in others},
        }

    def _related(self, projects: Sequence[str], known: Sequence[str]) -> list[str]:
        declared = self.engine.settings.related_projects
        return related_projects(projects, (*declared, self.caller.project) if declared else (), known)


def check_query(query: str) -> None:
    if not query.strip():
        raise InvalidInput("query is empty.", hint="Pass words or a question to search for.", field="query")


def _surest(matches: Found) -> float:
    return max((hit.certainty for hit in matches.hits), default=0.0)
