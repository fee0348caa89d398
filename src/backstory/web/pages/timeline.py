"""Timeline: what happened when, across assistants and projects, with the commits of projects on this machine."""

from __future__ import annotations

from datetime import datetime

from ...core import Core
from ...core.browsing import HEADS
from ...core.browsing.chronicle import ChronicleEvent, EventKind
from ...domain.filters import Bounds, ConversationFilter
from ...domain.when import iso
from ..page_query import PageQuery
from ..view import Json, View

SIZE = 120
MOST_REPOSITORIES = 6  # that are asked for their commits


def page(core: Core, asked: PageQuery) -> View:
    chosen = asked.choice("kind", tuple(EventKind))
    kinds = (EventKind(chosen),) if chosen else tuple(EventKind)
    tallies = core.replay.tally(ConversationFilter(kinds=HEADS))
    events = _events(
        core, asked.bounds(), kinds, list(dict.fromkeys(each.project for each in tallies if each.project))
    )
    body = {
        "days": _days(events),
        "total": len(events),
        "older": iso(events[-1].at) if len(events) == SIZE else None,
        "kinds": [str(kind) for kind in EventKind],
        "known_projects": sorted({each.project for each in tallies}),
        "known_assistants": sorted({each.surface for each in tallies}),
    }
    return View("timeline.html", body, "Timeline")


def _events(
    core: Core, span: Bounds, kinds: tuple[EventKind, ...], projects: list[str]
) -> list[ChronicleEvent]:
    found = core.chronicle.events(span, [kind for kind in kinds if kind is not EventKind.COMMIT], limit=SIZE)
    if EventKind.COMMIT in kinds:
        named = span.projects or tuple(projects[:MOST_REPOSITORIES])
        if named:
            found += core.chronicle.events(span._replace(projects=named), (EventKind.COMMIT,), limit=SIZE)
    return sorted(found, key=lambda event: (event.at, event.kind, event.id), reverse=True)[:SIZE]


def _days(events: list[ChronicleEvent]) -> list[Json]:
    """In the time of this machine."""
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
