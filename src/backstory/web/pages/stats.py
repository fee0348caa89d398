"""Stats: how much was done with whom and where, week by week."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta

from ...core import Core
from ...core.browsing import HEADS
from ...domain.filters import ConversationFilter
from ...domain.records import ConversationOutline
from ..charts import Calendar, axis, calendar, local_day
from ..figures import busy_hours, census, figure
from ..page_query import PageQuery
from ..view import Json, View

WEEKS = 26
MOST_NAMED = 6  # assistants that have a colour of their own
MOST_PROJECTS = 15


def page(core: Core, asked: PageQuery) -> View:
    return View("stats.html", figure(core, "stats", lambda: _body(core, asked)), "Stats")


def _body(core: Core, asked: PageQuery) -> Json:
    outlines = core.chronicle.outlines(ConversationFilter(kinds=HEADS))
    counts = census(core)
    past = calendar(busy_hours(core))
    today = asked.now().astimezone().date()
    by_assistant = Counter(each.surface for each in outlines)
    return {
        "totals": {
            "conversations": len(outlines),
            "messages": counts.messages,
            "active_days": len(past.days),
            "active_hours": past.hours.total(),
            "projects": counts.projects,
            "assistants": len(by_assistant),
            "longest_streak": _longest_streak(sorted(past.days)),
        },
        "weeks": _weeks(outlines, past, today, [name for name, _ in by_assistant.most_common(MOST_NAMED)]),
        "assistants": [{"name": name, "count": count} for name, count in by_assistant.most_common()],
        "projects": [
            {"name": name, "count": count}
            for name, count in Counter(each.project for each in outlines).most_common(MOST_PROJECTS)
        ],
        "subjects": [
            {"name": name.replace("_", " "), "count": count}
            for name, count in Counter(each.subject for each in outlines).most_common()
        ],
        "busiest_hour": max(
            range(24), key=lambda hour: sum(past.cells.get((day, hour), 0) for day in range(7)), default=0
        ),
    }


def _weeks(
    outlines: Sequence[ConversationOutline],
    past: Calendar,
    today: date,
    named: list[str],
) -> Json:
    """Conversations of each week by assistant, from Monday; and in how many hours of it something happened."""
    first = today - timedelta(days=today.weekday() + 7 * (WEEKS - 1))
    counts: Counter[tuple[int, str]] = Counter()
    for each in outlines:
        week = (local_day(each.updated_ms) - first).days // 7
        if 0 <= week < WEEKS:
            counts[week, each.surface if each.surface in named else "other"] += 1
    busy: Counter[int] = Counter()
    for day, hours in past.hours.items():
        busy[(day - first).days // 7] += hours
    names = [*named, "other"] if any(name == "other" for _, name in counts) else named
    most = max(sum(counts[week, name] for name in names) for week in range(WEEKS))
    most_hours = max(busy[week] for week in range(WEEKS))
    return {
        "names": names,
        "most": most,
        "most_hours": most_hours,
        "axis": axis(most, is_whole=True),
        "hours_axis": axis(most_hours, is_whole=True, most_ticks=2),
        "rows": [
            {
                "monday": (first + timedelta(days=7 * week)).isoformat(),
                "counts": [counts[week, name] for name in names],
                "hours": busy[week],
            }
            for week in range(WEEKS)
        ],
    }


def _longest_streak(days: Sequence[date]) -> int:
    longest = length = 0
    before: date | None = None
    for day in days:
        length = length + 1 if before is not None and day - before == timedelta(days=1) else 1
        longest, before = max(longest, length), day
    return longest
