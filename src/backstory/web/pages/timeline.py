"""Timeline: what happened when, across assistants and projects, with the commits of projects on this machine."""

from __future__ import annotations

from datetime import datetime

from ...core import Core
from ...core.browsing import HEADS
from ...core.browsing.chronicle import ChronicleEvent, EventKind
from ...domain.filters import Bounds, ConversationFilter
from ...domain.when import iso, parse_bounds
from ..page_query import PageQuery
from ..view import Json, View

PAGE_EVENTS = 120
MOST_REPOSITORIES = 12  # that are asked for their commits: about 5 ms each


def page(core: Core, asked: PageQuery) -> View:
    chosen = asked.choice("kind", tuple(EventKind))
    kinds = (EventKind(chosen),) if chosen else tuple(EventKind)
    tallies = core.replay.tally(ConversationFilter(kinds=HEADS))
    span = asked.bounds()
    if before := asked.text("before"):  # the next page; the chosen `until` stays
        span = span._replace(until=parse_bounds(None, before, asked.now())[1])
    events = _events(core, span, kinds, list(dict.fromkeys(each.project for each in tallies if each.project)))
    body = {
        "days": _days(events),
        "total": len(events),
        "older": iso(events[-1].at) if len(events) == PAGE_EVENTS else None,
        "kinds": [str(kind) for kind in EventKind],
        "known_projects": sorted({each.project for each in tallies if each.project}),
        "known_assistants": sorted({each.surface for each in tallies} | {asked.text("assistant")} - {""}),
    }
    return View("timeline.html", body, "Timeline")


def _events(
    core: Core, span: Bounds, kinds: tuple[EventKind, ...], projects: list[str]
) -> list[ChronicleEvent]:
    events = core.chronicle.events(
        span, [kind for kind in kinds if kind is not EventKind.COMMIT], limit=PAGE_EVENTS
    )
    if EventKind.COMMIT in kinds:
        named = span.projects or tuple(core.chronicle.repositories(projects)[:MOST_REPOSITORIES])
        if named:
            events += core.chronicle.events(
                span._replace(projects=named), (EventKind.COMMIT,), limit=PAGE_EVENTS
            )
    return sorted(events, key=lambda event: (event.at, event.kind, event.id), reverse=True)[:PAGE_EVENTS]


def _days(events: list[ChronicleEvent]) -> list[Json]:
    """Events by day, in the time zone of this machine."""
    days: dict[str, list[Json]] = {}
    for event in events:
        days.setdefault(_day(event.at), []).append(
            {
                "at": iso(event.at),
                "kind": str(event.kind),
                "id": event.id,
                "title": " ".join(event.title.split())[:240],
                "project": event.project,
                "who": event.who,
            }
        )
    return [{"day": day, "events": some} for day, some in days.items()]


def _day(moment: datetime) -> str:
    return moment.astimezone().date().isoformat()
