"""Stats: how much was done with whom and where, week by week."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta

from ...core import Core
from ...core.browsing import HEADS
from ...domain.filters import ConversationFilter, Filter
from ...domain.records import ConversationOutline
from ...domain.when import from_ms
from ..charts import local_days
from ..figures import figure
from ..page_query import PageQuery
from ..view import Json, View

WEEKS = 26
MOST_NAMED = 6  # assistants that have a colour of their own
MOST_PROJECTS = 15


def page(core: Core, asked: PageQuery) -> View:
    store = core.engine.store
    outlines = store.conversations.outlines(
        core.caller.visible_conversations(ConversationFilter(kinds=HEADS))
    )
    everything = core.caller.visible(Filter())
    hours = figure(core, "hours", lambda: dict(store.entries.tally_hours(everything)))
    days, cells = local_days(hours)
    today = asked.now().astimezone().date()
    by_assistant = Counter(each.surface for each in outlines)
    body = {
        "totals": {
            "conversations": len(outlines),
            "entries": sum(hours.values()),
            "active_days": len(days),
            "active_hours": len(hours),
            "projects": len({each.project for each in outlines if each.project}),
            "assistants": len(by_assistant),
            "longest_streak": _longest_streak(sorted(days)),
        },
        "weeks": _weeks(outlines, hours, today, [name for name, _ in by_assistant.most_common(MOST_NAMED)]),
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
            range(24), key=lambda hour: sum(cells.get((day, hour), 0) for day in range(7)), default=0
        ),
    }
    return View("stats.html", body, "Stats")


def _weeks(
    outlines: Sequence[ConversationOutline],
    hours: dict[int, int],
    today: date,
    named: list[str],
) -> Json:
    """Conversations of each week by assistant, from Monday; and in how many hours of it something happened."""
    first = today - timedelta(days=today.weekday() + 7 * (WEEKS - 1))
    counts: Counter[tuple[int, str]] = Counter()
    for each in outlines:
        week = (from_ms(each.updated_ms).astimezone().date() - first).days // 7
        if 0 <= week < WEEKS:
            counts[week, each.surface if each.surface in named else "other"] += 1
    busy: Counter[int] = Counter()
    for hour in hours:
        week = (from_ms(hour * 3_600_000).astimezone().date() - first).days // 7
        if 0 <= week < WEEKS:
            busy[week] += 1
    names = [*named, "other"] if any(name == "other" for _, name in counts) else named
    most = max((sum(counts[week, name] for name in names) for week in range(WEEKS)), default=0)
    return {
        "names": names,
        "most": most,
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
