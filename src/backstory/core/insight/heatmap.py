"""The heatmap: how much happened at which hour of which day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from .periods import Grain, label, start_of

MOST_DAYS = 366
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
ALL_DAYS = "all days"


class Heatmap(NamedTuple):
    rows: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    """For each row, the count of each of the 24 hours of the day."""
    left_out: int = 0
    """Days before the first row, in which something happened."""

    @property
    def hottest(self) -> int:
        return max((count for row in self.counts for count in row), default=0)

    @property
    def total(self) -> int:
        return sum(map(sum, self.counts))


def by_day(hours: Mapping[int, int]) -> Heatmap:
    """One row for each day from the first to the last, also where nothing happened: a chart has no holes."""
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
    """Seven rows: all Mondays together, all Tuesdays …"""
    cells: Counter[tuple[int, int]] = Counter()
    for hour, count in hours.items():
        cells[(hour - start_of(hour, Grain.WEEK)) // 24, hour % 24] += count
    return Heatmap(WEEKDAYS, tuple(tuple(cells[day, hour] for hour in range(24)) for day in range(7)))


def by_hour(hours: Mapping[int, int]) -> Heatmap:
    """One row: all days together."""
    cells: Counter[int] = Counter()
    for hour, count in hours.items():
        cells[hour % 24] += count
    return Heatmap((ALL_DAYS,), (tuple(cells[hour] for hour in range(24)),))


def heatmap(hours: Mapping[int, int], grain: Grain) -> Heatmap:
    return {Grain.DAY: by_day, Grain.WEEK: by_weekday, Grain.HOUR: by_hour}[grain](hours)
