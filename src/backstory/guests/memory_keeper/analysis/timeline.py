"""The timeline of active hours, days or weeks, and the heatmap of activity by hour and day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from ....domain.categories import JOURNAL, UNCATEGORIZED
from ....domain.census import HourTally
from ....domain.records import Priority
from .periods import Grain, label, moment_of, start_of

WEIGHTS = {Priority.CRITICAL: 3, Priority.HIGH: 2, Priority.NORMAL: 1, Priority.LOW: 1}
"""The activity that an item adds to its period. A journal entry and a tool's event add 1."""

MOST_DAYS = 366
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
ALL_DAYS = "all days"


class Period(NamedTuple):
    label: str
    start: datetime
    end: datetime
    by_category: dict[str, int]
    """Counts of items. Journal entries are counted separately."""
    journals: int
    events: int
    activity: int

    @property
    def items(self) -> int:
        return sum(self.by_category.values())


class Timeline(NamedTuple):
    periods: tuple[Period, ...]
    """Periods in chronological order."""

    @property
    def busiest(self) -> Period | None:
        """Return the period with the most activity; among equal ones, the latest."""
        return max(self.periods, key=lambda period: (period.activity, period.start), default=None)


class _Happened(NamedTuple):
    hour: int
    kind: str
    total: int
    weight: int


_ITEM, _EVENT = "item:", "event"


def cut_into_periods(
    memories: Iterable[HourTally], events: Iterable[tuple[int, int]], grain: Grain
) -> Timeline:
    periods: dict[int, list[_Happened]] = {}
    for happened in _happened(memories, events):
        periods.setdefault(start_of(happened.hour, grain), []).append(happened)
    return Timeline(tuple(_period(start, periods[start], grain) for start in sorted(periods)))


def _happened(memories: Iterable[HourTally], events: Iterable[tuple[int, int]]) -> Iterator[_Happened]:
    for hour, category, priority, count in memories:
        if category == JOURNAL:
            yield _Happened(hour, JOURNAL, count, 1)
        else:
            yield _Happened(hour, _ITEM + (category or UNCATEGORIZED), count, WEIGHTS[priority])
    for hour, count in events:
        yield _Happened(hour, _EVENT, count, 1)


def _period(start: int, happened: list[_Happened], grain: Grain) -> Period:
    counts: Counter[str] = Counter()
    for each in happened:
        counts[each.kind] += each.total
    return Period(
        label=label(start, grain),
        start=moment_of(start),
        end=moment_of(start + grain.hours),
        by_category={
            kind.removeprefix(_ITEM): counts[kind] for kind in sorted(counts) if kind.startswith(_ITEM)
        },
        journals=counts[JOURNAL],
        events=counts[_EVENT],
        activity=sum(each.total * each.weight for each in happened),
    )


class Heatmap(NamedTuple):
    rows: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    """For each row, the count for each of the 24 hours of the day."""
    left_out: int = 0
    """Number of active days before the first row."""

    @property
    def hottest(self) -> int:
        return max((count for row in self.counts for count in row), default=0)

    @property
    def total(self) -> int:
        return sum(map(sum, self.counts))


def by_day(hours: Mapping[int, int]) -> Heatmap:
    """Return one row for each day from the first to the last, including inactive days: a chart has no gaps."""
    if not hours:
        return Heatmap((), ())
    last = max(hours) // 24
    first = max(min(hours) // 24, last - MOST_DAYS + 1)
    rows = tuple(label(24 * day, Grain.DAY) for day in range(first, last + 1))
    counts = tuple(
        tuple(hours.get(24 * day + hour, 0) for hour in range(24)) for day in range(first, last + 1)
    )
    return Heatmap(rows, counts, left_out=len({hour // 24 for hour in hours if hour // 24 < first}))


def by_weekday(hours: Mapping[int, int]) -> Heatmap:
    """Return seven rows: all Mondays together, all Tuesdays and so on."""
    cells: Counter[tuple[int, int]] = Counter()
    for hour, count in hours.items():
        cells[(hour - start_of(hour, Grain.WEEK)) // 24, hour % 24] += count
    return Heatmap(WEEKDAYS, tuple(tuple(cells[day, hour] for hour in range(24)) for day in range(7)))


def by_hour(hours: Mapping[int, int]) -> Heatmap:
    """Return one row for all days together."""
    cells: Counter[int] = Counter()
    for hour, count in hours.items():
        cells[hour % 24] += count
    return Heatmap((ALL_DAYS,), (tuple(cells[hour] for hour in range(24)),))


def heatmap(hours: Mapping[int, int], grain: Grain) -> Heatmap:
    return {Grain.DAY: by_day, Grain.WEEK: by_weekday, Grain.HOUR: by_hour}[grain](hours)
