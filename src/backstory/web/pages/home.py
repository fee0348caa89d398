"""Home: what is here, what was last, how busy the year was, and what still waits."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

from ...core import Core
from ...core.browsing import HEADS
from ...domain.census import ConversationTally
from ...domain.filters import ConversationFilter
from ...domain.when import iso, to_ms
from ..charts import WEEKS, calendar, week, year
from ..figures import busy_hours, figure
from ..page_query import PageQuery
from ..view import Json, View
from .cards import conversation_cards

RECENT = 8
MOST_PROJECTS = 12
MS_OF_AN_HOUR = 3_600_000


def page(core: Core, asked: PageQuery) -> View:
    tallies = core.replay.tally(ConversationFilter(kinds=HEADS))
    now = asked.now()
    since = now - timedelta(weeks=WEEKS)
    first = to_ms(since) // MS_OF_AN_HOUR
    past = figure(core, "year", lambda: calendar(each for each in busy_hours(core) if each[0] >= first))
    body = {
        "recent": conversation_cards(
            core,
            core.engine.store.conversations.find(
                core.caller.visible_conversations(ConversationFilter(kinds=HEADS)), limit=RECENT
            ),
        ),
        "projects": _projects(tallies)[:MOST_PROJECTS],
        "more_projects": max(len({each.project for each in tallies}) - MOST_PROJECTS, 0),
        "assistants": _assistants(tallies),
        "year": year(past.days, now.astimezone().date()),
        "week": week(past.cells),
        "waiting": waiting(core),
    }
    return View("home.html", body, "Home")


def _projects(tallies: list[ConversationTally]) -> list[Json]:
    counts: Counter[str] = Counter()
    last: dict[str, datetime] = {}
    assistants: dict[str, list[str]] = {}
    for tally in tallies:
        counts[tally.project] += tally.conversations
        last[tally.project] = max(last.get(tally.project, tally.last), tally.last)
        assistants.setdefault(tally.project, []).append(tally.surface)
    return [
        {
            "project": project,
            "conversations": counts[project],
            "assistants": assistants[project],
            "last": iso(last[project]),
        }
        for project in sorted(last, key=lambda project: last[project], reverse=True)
    ]


def _assistants(tallies: list[ConversationTally]) -> list[Json]:
    counts: Counter[str] = Counter()
    for tally in tallies:
        counts[tally.surface] += tally.conversations
    return [{"assistant": name, "conversations": count} for name, count in counts.most_common()]


def waiting(core: Core) -> Json:
    """What is not done yet behind the answers."""
    engine = core.engine
    vectors = 0 if engine.backlog is None else engine.store.vectors.count_waiting(engine.backlog.space)
    unread = engine.store.sync.problems()
    return {
        "vectors": vectors,
        "unreadable_files": len(unread),
        "problems": [each.sentence for each in engine.problems.reported()],
    }
