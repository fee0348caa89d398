"""Statistics of one channel in detail, or of all channels in comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import combinations
from typing import Annotated, NotRequired, TypedDict

from ...core import Core
from ...core.tasks import TASK, is_open_task
from ...domain.census import HourTally
from ...domain.errors import NotFound
from ...domain.filters import Filter, Kind, Order, Page
from ...domain.lazy import lazy_pattern
from ...domain.lines import counted
from ...domain.records import Priority
from ...domain.when import from_ms, iso
from ...tools import READS
from ...tools.budget import fitting
from ...tools.params import decode_object
from .channels import ChannelNumbers, channel_numbers
from .narrowing import item_filter
from .vocabulary import session_of, surface

HOUR_MS = 3_600_000
DAY = timedelta(days=1)
IDLE_DAYS = 7
"""Number of days without a change after which a channel is mentioned."""
COMMON_SHARE, COMMON_LEAST = 0.8, 5
"""A key pattern is mentioned if this share of at least this many items has it."""
TOP_SESSIONS = 10
TOP_PAIRS = 10
LIST_BYTES = 15_000  # size limit of each list in the answer
_KEY_BEGINNING = lazy_pattern(r"^[^_\-.:/]+[_\-.:/]")


class TimeBounds(TypedDict):
    start: NotRequired[str]
    end: NotRequired[str]


class OneChannel(TypedDict):
    channel: str
    total_items: int
    unique_sessions: int
    last_activity: str
    first_activity: str
    total_size: int
    avg_size: float
    public_items: int
    private_items: int


class CategoryShare(TypedDict):
    category: str
    count: int
    percentage: float


class PriorityShare(TypedDict):
    priority: str
    count: int
    percentage: float


class Contributor(TypedDict):
    session_id: str
    item_count: int
    last_contribution: str


class ActivityStats(TypedDict):
    items_last_24h: int
    updates_last_24h: int
    items_last_week: int
    updates_last_week: int


class HourCount(TypedDict):
    hour: str
    count: int


class DayCount(TypedDict):
    date: str
    count: int


class OverallStats(TypedDict):
    total_channels: int
    total_items: int
    total_sessions: int
    total_size: int
    avg_size_per_item: float


class ChannelRanking(TypedDict):
    channel: str
    item_count: int
    total_size: int
    last_activity: str
    session_count: int
    percentage_of_total: float


class ChannelHealth(TypedDict):
    channel: str
    health_score: int
    days_since_activity: int
    avg_items_per_session: float


class ChannelPair(TypedDict):
    channel1: str
    channel2: str
    shared_sessions: int


class ChannelStatsAnswer(TypedDict):
    channel: NotRequired[str]
    stats: NotRequired[OneChannel]
    categoryDistribution: NotRequired[list[CategoryShare]]
    priorityDistribution: NotRequired[list[PriorityShare]]
    topContributors: NotRequired[list[Contributor]]
    activityStats: NotRequired[ActivityStats]
    overallStats: NotRequired[OverallStats]
    channelRankings: NotRequired[list[ChannelRanking]]
    healthMetrics: NotRequired[list[ChannelHealth]]
    channelRelationships: NotRequired[list[ChannelPair]]
    hourlyActivity: NotRequired[list[HourCount]]
    dailyActivity: NotRequired[list[DayCount]]
    insights: NotRequired[list[str]]
    notices: NotRequired[list[str]]


@surface.tool("Channel statistics", READS)
def context_channel_stats(
    core: Core,
    channel: Annotated[str | None, "One channel in detail; without it all are compared"] = None,
    session_id: Annotated[str | None, 'Only items of this session; "current" is the own one'] = None,
    include_time_series: Annotated[
        bool, "Add the numbers of items saved by hour of the day and by day, UTC"
    ] = False,
    include_insights: Annotated[bool, "Add what stands out; an empty list if nothing does"] = False,
    time_range: Annotated[
        TimeBounds | None, "Only items created in this time: {start, end}, as ISO or in words"
    ] = None,
) -> ChannelStatsAnswer:
    """Count the items of a channel, or compare all channels, over public items and your own private ones. Sizes are bytes; updates are items that were
    saved again."""
    where = _narrowed(core, channel, session_id, time_range)
    channels = {} if where is None else channel_numbers(core, where)
    if where is None or (channel is not None and not channels):
        if channel is not None:
            raise NotFound("channel", channel)
        return _all_channels(core, {})
    answer = _all_channels(core, channels) if channel is None else _one_channel(core, where, channels)
    if include_time_series:
        answer |= _time_series(core.engine.store.memories.tally_hours(core.memories.own(where)))
    if include_insights:
        answer["insights"] = _insights(core, where, channels)
    return answer


def _narrowed(
    core: Core, channel: str | None, session_id: str | None, time_range: TimeBounds | None
) -> Filter | None:
    """Return the filter for a call; None if it refers to the current session and there is none yet."""
    bounds = decode_object(TimeBounds, time_range or {})
    session = None if session_id is None else session_of(core, session_id)
    if session_id is not None and session is None:
        return None
    return item_filter(
        core,
        session.id if session else None,
        channels=[channel],
        after={"timeRange": bounds.get("start")},
        before={"timeRange": bounds.get("end")},
    )


def _one_channel(core: Core, where: Filter, channels: dict[str, ChannelNumbers]) -> ChannelStatsAnswer:
    ((name, numbers),) = channels.items()
    total, last = numbers.items, numbers.last or core.engine.now()
    return {
        "channel": name,
        "stats": {
            "channel": name,
            "total_items": total,
            "unique_sessions": len(numbers.sessions),
            "last_activity": iso(last),
            "first_activity": iso(min(tally.first for tally in numbers.tallies)),
            "total_size": numbers.bytes,
            "avg_size": round(numbers.bytes / total, 1),
            "public_items": total - numbers.private_items,
            "private_items": numbers.private_items,
        },
        "categoryDistribution": [
            {"category": category, "count": count, "percentage": _percentage(count, total)}
            for category, count in _most(numbers.categories)
        ],
        "priorityDistribution": [
            {"priority": priority, "count": count, "percentage": _percentage(count, total)}
            for priority, count in _most(numbers.priorities)
        ],
        "topContributors": [
            {
                "session_id": session,
                "item_count": count,
                "last_contribution": iso(
                    max(tally.last for tally in numbers.tallies if (tally.session or "") == session)
                ),
            }
            for session, count in _most(numbers.sessions)[:TOP_SESSIONS]
        ],
        "activityStats": _activity(core, where),
    }


def _activity(core: Core, where: Filter) -> ActivityStats:
    store, now, own = core.engine.store, core.engine.now(), core.memories.own(where)
    own = own._replace(kinds=(Kind.MEMORY,))

    def saved(since: datetime) -> int:
        start = since if own.created_after is None else max(since, own.created_after)
        return store.entries.count(own._replace(created_after=start))

    return {
        "items_last_24h": saved(now - DAY),
        "updates_last_24h": store.memories.count_updated(own, now - DAY),
        "items_last_week": saved(now - 7 * DAY),
        "updates_last_week": store.memories.count_updated(own, now - 7 * DAY),
    }


def _all_channels(core: Core, channels: dict[str, ChannelNumbers]) -> ChannelStatsAnswer:
    now = core.engine.now()
    ranked = sorted(channels.values(), key=lambda each: (-each.items, each.name))
    items, size = sum(each.items for each in ranked), sum(each.bytes for each in ranked)
    rankings: list[ChannelRanking] = [
        {
            "channel": each.name,
            "item_count": each.items,
            "total_size": each.bytes,
            "last_activity": iso(each.last or now),
            "session_count": len(each.sessions),
            "percentage_of_total": _percentage(each.items, items),
        }
        for each in ranked
    ]
    page = fitting(rankings, LIST_BYTES, least=0)
    answer: ChannelStatsAnswer = {
        "overallStats": {
            "total_channels": len(ranked),
            "total_items": items,
            "total_sessions": len({session for each in ranked for session in each.sessions}),
            "total_size": size,
            "avg_size_per_item": round(size / items, 1) if items else 0,
        },
        "channelRankings": page,
        "healthMetrics": fitting((_health(each, now) for each in ranked), LIST_BYTES, least=0),
        "channelRelationships": _pairs(ranked),
    }
    if len(page) < len(rankings):
        answer["notices"] = [
            f"The {len(page):,} largest of {len(rankings):,} channels are shown; context_list_channels pages through all."
        ]
    return answer


def _health(channel: ChannelNumbers, now: datetime) -> ChannelHealth:
    """Return a score: 100 while in use, less after a week, two weeks and a month without a change."""
    idle = _idle_days(channel, now)
    return {
        "channel": channel.name,
        "health_score": 100 - 10 * sum(idle > days for days in (7, 14, 30)),
        "days_since_activity": idle,
        "avg_items_per_session": round(channel.items / max(len(channel.sessions), 1), 1),
    }


def _idle_days(channel: ChannelNumbers, now: datetime) -> int:
    return 0 if channel.last is None else max((now - channel.last) // DAY, 0)


def _pairs(channels: Sequence[ChannelNumbers]) -> list[ChannelPair]:
    """Return pairs of channels that several sessions use together, most sessions first."""
    by_session: dict[str, list[str]] = {}
    for channel in channels:
        for session in channel.sessions:
            by_session.setdefault(session, []).append(channel.name)
    shared = Counter(pair for names in by_session.values() for pair in combinations(sorted(names), 2))
    common = sorted(
        ((count, pair) for pair, count in shared.items() if count > 1), key=lambda each: (-each[0], each[1])
    )
    return [
        {"channel1": first, "channel2": second, "shared_sessions": count}
        for count, (first, second) in common[:TOP_PAIRS]
    ]


def _time_series(tallies: Iterable[HourTally]) -> ChannelStatsAnswer:
    hours: Counter[str] = Counter()
    days: Counter[str] = Counter()
    for tally in tallies:
        moment = from_ms(tally.hour * HOUR_MS)
        hours[f"{moment:%H}"] += tally.total
        days[f"{moment:%Y-%m-%d}"] += tally.total
    newest: list[DayCount] = [
        {"date": day, "count": count} for day, count in sorted(days.items(), reverse=True)
    ]
    return {
        "hourlyActivity": [{"hour": hour, "count": count} for hour, count in sorted(hours.items())],
        "dailyActivity": fitting(newest, LIST_BYTES)[::-1],
    }


def _insights(core: Core, where: Filter, channels: dict[str, ChannelNumbers]) -> list[str]:
    """Return true sentences that a reader can act on."""
    now = core.engine.now()
    idle = [(each.name, _idle_days(each, now)) for each in channels.values()]
    sentences = [f"{name}: no change for {days} days." for name, days in idle if days >= IDLE_DAYS]
    if len(channels) == 1:
        sentences += _common_beginning(core, where)
    sentences += _open_critical(core, where)
    return fitting(sentences, LIST_BYTES, least=0)


def _common_beginning(core: Core, where: Filter) -> list[str]:
    keyed = core.engine.store.memories.listing(core.memories.own(where), Order.NEWEST)
    beginnings = Counter(
        match[0] for each in keyed if (match := _KEY_BEGINNING.match(each.key or "")) is not None
    )
    if len(keyed) < COMMON_LEAST or not beginnings:
        return []
    beginning, count = beginnings.most_common(1)[0]
    if count < COMMON_SHARE * len(keyed):
        return []
    return [f"{count} of {len(keyed)} keys begin with {beginning}"]


def _open_critical(core: Core, where: Filter) -> list[str]:
    critical = core.memories.find(where._replace(priorities=(Priority.CRITICAL,)), Page())
    still_open = [memory for memory in critical if memory.category != TASK or is_open_task(memory)]
    return [f"{counted(len(still_open), 'critical item')} open."] if still_open else []


def _percentage(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0


def _most(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
