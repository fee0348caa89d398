"""Insight: summaries, timelines, patterns, trends and reports, computed from the items that the caller may see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from ....core import GuestPart
from ....core.insight.digest import Digest, DigestForm, Subject, digest
from ....core.insight.findings import MOST_EVIDENCE, EvidenceItem, Sample
from ....domain.categories import JOURNAL, UNCATEGORIZED
from ....domain.census import Tally
from ....domain.filters import Filter, Order, Page
from ....domain.records import Event, Memory, Session
from .periods import Grain
from .reports import analysis_report, synthesis_report
from .timeline import Heatmap, Period, Timeline, cut_into_periods, heatmap
from .work import Analyze, InsightReport, InsightScope, Synthesis, Synthesize

MOST_READ = 5_000
"""Maximum number of memories that an analysis reads, newest first. A report says when there are more."""

SHORTEST_LINE = 45


class SessionSummary(NamedTuple):
    digest: Digest
    session: Session
    by_category: dict[str, int]
    by_priority: dict[str, int]
    first: datetime
    last: datetime


class Insight(GuestPart):
    def summarize(
        self, session: Session, categories: tuple[str, ...], form: DigestForm, longest: int
    ) -> SessionSummary:
        """Return an index of a session with at most `longest` characters. A chat endpoint may add an overview."""
        where = Filter(threads=(session.id,), categories=categories)
        tallies = self.engine.store.memories.tally(self.own(where))
        summary = self._digest(session.name, where, tallies, form, longest)
        return SessionSummary(
            digest=summary,
            session=session,
            by_category=_counted((tally.category or UNCATEGORIZED, tally.total) for tally in tallies),
            by_priority=_counted((tally.priority.value, tally.total) for tally in tallies),
            first=min([session.created_at, *(tally.first for tally in tallies)]),
            last=max([session.created_at, *(tally.last for tally in tallies)]),
        )

    def timeline(self, where: Filter, grain: Grain, *, journals: bool = True) -> Timeline:
        """Return the timeline. Categories restrict the items, and exclude events; journal entries are optional."""
        store = self.engine.store
        memories = [busy for busy in store.memories.tally_hours(self.own(where)) if busy.category != JOURNAL]
        if journals:
            memories += store.memories.tally_hours(self.own(where._replace(categories=(JOURNAL,))))
        events = [] if where.categories else self.core.events.busy_hours(where)
        return cut_into_periods(memories, events, grain)

    def items_in(self, period: Period, where: Filter, limit: int) -> list[Memory]:
        """Return the newest items of a period, without journal entries."""
        items = self.core.memories.find(_during(period, where), Page(limit=limit + period.journals))
        return [memory for memory in items if memory.category != JOURNAL][:limit]

    def journals_in(self, period: Period, where: Filter, limit: int) -> list[Memory]:
        """Return the newest journal entries of a period, in chronological order."""
        wanted = _during(period, where)._replace(categories=(JOURNAL,))
        return self.core.memories.find(wanted, Page(limit=limit))[::-1]

    def happened_in(self, period: Period, where: Filter, limit: int) -> list[Memory | Event]:
        """Return the newest memories and events of a period, in chronological order."""
        inside = _during(period, where)
        both: list[Memory | Event] = [
            *self.core.memories.find(inside, Page(limit=limit)),
            *self.core.events.find(inside, limit),
        ]
        return sorted(both, key=lambda each: (each.created_at, each.id))[-limit:]

    def heatmap(self, where: Filter, grain: Grain) -> Heatmap:
        """Count memories and events by day, by day of the week (grain of weeks), or for all days together (grain of
        hours)."""
        hours: Counter[int] = Counter()
        for busy in self.engine.store.memories.tally_hours(self.own(where)):
            hours[busy.hour] += busy.total
        for hour, count in self.core.events.busy_hours(where):
            hours[hour] += count
        return heatmap(hours, grain)

    def analyze(self, task: Analyze) -> InsightReport:
        graph = self.core.graph
        return analysis_report(task, self._sample(task.scope), graph, _where(task.scope))

    def synthesize(self, task: Synthesize) -> InsightReport:
        sample = self._sample(task.scope)
        summary = None
        if task.kind is Synthesis.SUMMARY:
            where = _where(task.scope)
            tallies = self.engine.store.memories.tally(self.own(where))
            summary = self._digest("Summary", where, tallies, DigestForm.MARKDOWN, task.longest)
        return synthesis_report(task, sample, summary)

    def _digest(
        self, title: str, where: Filter, tallies: Sequence[Tally], form: DigestForm, longest: int
    ) -> Digest:
        leading = self.engine.store.memories.leading(self.own(where), tallies, longest // SHORTEST_LINE + 1)
        memories = self.core.memories.find(Filter(ids=tuple(leading)), Page()) if leading else []
        subject = Subject(title, memories, sum(tally.total for tally in tallies))
        result = digest(subject, form, longest)
        overview = self.engine.summarizer.written(result.text) if memories else None
        return digest(subject._replace(overview=overview), form, longest) if overview else result

    def _sample(self, scope: InsightScope) -> Sample:
        where = _where(scope)
        visible = self.own(where)
        memories = self.core.memories.find(where, Page(limit=MOST_READ, order=Order.UPDATED_NEWEST))
        total = sum(tally.total for tally in self.engine.store.memories.tally(visible))
        return Sample(
            memories=tuple(memories),
            total=max(total, len(memories)),  # some may be deleted by the time they are counted
            saved_again=self.engine.store.memories.count_former(visible),
            hours=tuple(self.engine.store.memories.tally_hours(visible)),
            events=() if scope.categories else tuple(self.core.events.busy_hours(where)),
            last_events=tuple(
                EvidenceItem(event.id, f"{event.tool} {event.type}")
                for event in self.core.events.find(where, MOST_EVIDENCE)
            ),
            now=self.engine.now(),
            since=scope.since,
        )


def _where(scope: InsightScope) -> Filter:
    threads = () if scope.session is None else (scope.session,)
    return Filter(threads=threads, categories=scope.categories, created_after=scope.since)


def _during(period: Period, where: Filter) -> Filter:
    """Return the part of a period that matches the filter, which may begin or end in the middle of it."""
    after, before = where.created_after, where.created_before
    return where._replace(
        created_after=max(period.start, after) if after else period.start,
        created_before=min(period.end, before) if before else period.end,
    )


def _counted(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for name, count in pairs:
        counts[name] += count
    return {name: counts[name] for name in sorted(counts)}
