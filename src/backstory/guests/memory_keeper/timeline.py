"""The timeline: activity per hour, day or week."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypedDict, TypeVar

from ...core import Core
from ...domain.errors import InvalidInput
from ...domain.filters import Filter
from ...domain.records import Memory
from ...domain.when import iso, parse_when
from ...tools import READS
from ...tools.budget import fitting
from ...tools.origin import safe_text
from ...tools.params import Range
from .analysis import Insight
from .analysis.periods import Grain, ago, hour_of, how_long_ago
from .fitting import Truncation, mark
from .vocabulary import surface

if TYPE_CHECKING:
    from .analysis.timeline import Period, Timeline

GroupBy = Literal["hour", "day", "week"]
Shown = TypeVar("Shown")

MOST_PERIODS = 100
MOST_DETAILS = 100  # items per period
MOST_JOURNALS = 50  # per period
SHOWN_VALUE = 600
DETAIL_BYTES, JOURNAL_BYTES = 50_000, 25_000  # per period: a single period always fits into an answer
LISTED = "context_get with createdAfter and createdBefore lists all"


class Detail(TypedDict):
    id: str
    key: str
    value: str
    category: NotRequired[str]
    priority: str
    channel: NotRequired[str]
    createdAt: str
    relativeTime: NotRequired[str]
    truncated: NotRequired[Truncation]


class PeriodItems(TypedDict):
    total: int
    byCategory: dict[str, int]
    details: NotRequired[list[Detail]]


class JournalShown(TypedDict):
    id: str
    entry: str
    mood: NotRequired[str]
    tags: NotRequired[list[str]]
    createdAt: str
    truncated: NotRequired[Truncation]


class PeriodShown(TypedDict):
    period: str
    startTime: str
    endTime: str
    relativeTime: NotRequired[str]
    items: PeriodItems
    journals: list[JournalShown]
    events: int
    activity: int


class TimelineSummary(TypedDict):
    totalPeriods: int
    totalItems: int
    totalJournals: int
    mostActiveperiod: str


class TimelineShown(TypedDict):
    periods: list[PeriodShown]
    summary: TimelineSummary
    notices: NotRequired[list[str]]


@surface.tool("Timeline", READS)
def context_timeline(
    core: Core,
    start_date: Annotated[str | None, 'From when: an ISO date or time, or e.g. "last week"'] = None,
    end_date: Annotated[str | None, "Until when, inclusive; a day counts whole"] = None,
    group_by: Annotated[GroupBy, "Length of a period; weeks begin on Monday, all times are UTC"] = "day",
    include_journals: Annotated[bool, "Count and show journal entries"] = True,
    session_id: Annotated[str | None, "Only this session (default: all that is visible)"] = None,
    include_items: Annotated[bool, "Show the items, not only how many"] = False,
    categories: Annotated[list[str] | None, "Only items of these categories, and no tool events"] = None,
    relative_time: Annotated[bool, 'Say how long ago: "2 hours ago"'] = False,
    items_per_period: Annotated[int, "Most items to show of one period, the newest", Range(low=1)] = 10,
) -> TimelineShown:
    """Show what happened in each hour, day or week, in the order of time; periods in which nothing happened are left
    out. `activity` adds 1 for each item (2 if high, 3 if critical), journal entry and tool event."""
    where = period_filter(core, start_date, end_date, session_id)._replace(categories=tuple(categories or ()))
    line = Insight(core).timeline(where, Grain(group_by), journals=include_journals)

    def show(period: Period) -> PeriodShown:
        fit = _period(core, period, where, min(items_per_period, MOST_DETAILS) if include_items else 0)
        return _dated(core, fit, period, Grain(group_by)) if relative_time else fit

    fit = newest_fitting(line, show)
    busiest = line.busiest
    reply: TimelineShown = {
        "periods": fit,
        "summary": {
            "totalPeriods": len(line.periods),
            "totalItems": sum(period.items for period in line.periods),
            "totalJournals": sum(period.journals for period in line.periods),
            "mostActiveperiod": busiest.label if busiest else "",
        },
    }
    periods = line.periods[len(line.periods) - len(fit) :]
    notices = [*older(line, len(fit)), *_hidden(periods, fit, items_per_period)]
    return {**reply, "notices": notices} if notices else reply


def period_filter(core: Core, start: str | None, end: str | None, session: str | None) -> Filter:
    now = core.engine.now()
    after = None if start is None else parse_when(start, now, field="startDate")
    before = None if end is None else _end(end, now)
    if after is not None and before is not None and after >= before:
        raise InvalidInput("endDate is before startDate.", field="endDate")
    threads = () if session is None else (core.sessions.get(session).id,)
    return Filter(threads=threads, created_after=after, created_before=before)


def _end(text: str, now: datetime) -> datetime:
    """Return the first instant after the period: a day without a time counts as a whole."""
    moment = parse_when(text, now, field="endDate")
    return moment + (timedelta(days=1) if _names_a_day(text.strip()) else timedelta(milliseconds=1))


def _names_a_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return text.lower() in ("today", "yesterday")
    return True


def _period(core: Core, period: Period, where: Filter, most_items: int) -> PeriodShown:
    items: PeriodItems = {"total": period.items, "byCategory": period.by_category}
    if most_items:
        memories = Insight(core).items_in(period, where, most_items) if period.items else []
        items["details"] = fitting(map(_detail, memories), DETAIL_BYTES)
    journals = Insight(core).journals_in(period, where, MOST_JOURNALS) if period.journals else []
    return {
        "period": period.label,
        "startTime": iso(period.start),
        "endTime": iso(period.end),
        "items": items,
        "journals": fitting(map(_journal, reversed(journals)), JOURNAL_BYTES)[::-1],
        "events": period.events,
        "activity": period.activity,
    }


def _detail(memory: Memory) -> Detail:
    detail: Detail = {
        "id": memory.id,
        "key": memory.key or memory.id,
        "value": safe_text(memory.text[:SHOWN_VALUE], memory.trust),
        "priority": memory.priority.value,
        "createdAt": iso(memory.created_at),
    }
    if memory.category is not None:
        detail["category"] = memory.category
    if memory.channel is not None:
        detail["channel"] = memory.channel
    if len(memory.text) > SHOWN_VALUE:
        detail["truncated"] = mark(memory.id, 0, SHOWN_VALUE, len(memory.text))
    return detail


def _journal(memory: Memory) -> JournalShown:
    answer: JournalShown = {
        "id": memory.id,
        "entry": memory.text[:SHOWN_VALUE],
        "createdAt": iso(memory.created_at),
    }
    if mood := memory.metadata.get("mood"):
        answer["mood"] = mood
    if memory.tags:
        answer["tags"] = list(memory.tags)
    if len(memory.text) > SHOWN_VALUE:
        answer["truncated"] = mark(memory.id, 0, SHOWN_VALUE, len(memory.text))
    return answer


def _dated(core: Core, entry: PeriodShown, period: Period, grain: Any) -> PeriodShown:
    now = core.engine.now()
    for detail in entry["items"].get("details", []):
        detail["relativeTime"] = ago(parse_when(detail["createdAt"], now), now)
    return {**entry, "relativeTime": how_long_ago(hour_of(period.start), grain, now)}


def newest_fitting(line: Timeline, show: Callable[[Period], Shown]) -> list[Shown]:
    """Return the newest periods that fit into an answer, in chronological order."""
    return fitting(map(show, line.periods[::-1][:MOST_PERIODS]))[::-1]


def older(line: Timeline, count: int) -> list[str]:
    if count == len(line.periods):
        return []
    before = line.periods[-count - 1]
    until = iso(before.end - timedelta(milliseconds=1))
    return [
        f"{len(line.periods) - count} older periods are not shown; endDate {until} shows the next of them."
    ]


def _hidden(periods: Sequence[Period], listed: list[PeriodShown], most_items: int) -> list[str]:
    notices = []
    items = [period["items"] for period in listed if "details" in period["items"]]
    hidden = sum(each["total"] - len(each["details"]) for each in items)
    if hidden:
        is_narrow = any(len(each["details"]) == most_items < each["total"] for each in items)
        how = "a larger itemsPerPeriod shows more" if is_narrow and most_items < MOST_DETAILS else LISTED
        notices.append(f"{hidden} items are counted but not shown; {how}.")
    hidden = sum(period.journals for period in periods) - sum(len(period["journals"]) for period in listed)
    if hidden:
        notices.append(f"{hidden} journal entries are counted but not shown; {LISTED}.")
    return notices
