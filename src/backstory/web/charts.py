"""Numbers as pictures that a template draws: a year of days, and a week of hours."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from typing import NamedTuple

from .view import Json

LEVELS = 4
WEEKS = 53
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Calendar(NamedTuple):
    """Messages and memories per day and hour, in local time."""

    days: Counter[date]
    hours: Counter[date]
    """The number of active hours of each day."""
    cells: Counter[tuple[int, int]]
    """Counts by weekday and hour of the day."""


def calendar(hours: Iterable[tuple[int, int]]) -> Calendar:
    """Build a calendar from pairs of an hour since 1970 and its count."""
    counts = Calendar(Counter(), Counter(), Counter())
    for hour, count in hours:
        then = time.localtime(hour * 3600)
        day = date(then.tm_year, then.tm_mon, then.tm_mday)
        counts.days[day] += count
        counts.hours[day] += 1
        counts.cells[then.tm_wday, then.tm_hour] += count
    return counts


def local_day(ms: int) -> date:
    then = time.localtime(ms // 1000)
    return date(then.tm_year, then.tm_mon, then.tm_mday)


def year(days: Mapping[date, int], today: date) -> Json:
    """Weeks from Monday, the last one is this week."""
    first = today - timedelta(days=today.weekday() + 7 * (WEEKS - 1))
    counts = {day: count for day, count in days.items() if first <= day <= today}
    scale = _scale(counts.values())
    weeks = [
        [
            {"day": day.isoformat(), "count": counts.get(day, 0), "level": scale(counts.get(day, 0))}
            for day in (first + timedelta(days=7 * week + weekday) for weekday in range(7))
            if day <= today
        ]
        for week in range(WEEKS)
    ]
    busiest = max(counts, key=lambda day: (counts[day], day), default=None)
    return {
        "weeks": weeks,
        "months": _months(first),
        "total": sum(counts.values()),
        "days": sum(1 for count in counts.values() if count),
        "busiest": None if busiest is None else {"day": busiest.isoformat(), "count": counts[busiest]},
        "by_month": _by_month(counts),
    }


def axis(most: float, *, is_whole: bool = False, most_ticks: int = 4) -> Json:
    """An axis from zero to `most`, with at most `most_ticks` round values at equal distances."""
    if most <= 0:
        return {"top": 1, "ticks": []}
    power = 10.0 ** math.floor(math.log10(most / most_ticks))
    step = next(power * size for size in (1, 2, 5, 10) if power * size * most_ticks >= most * (1 - 1e-9))
    step = max(step, 1) if is_whole else step
    return {"top": most, "ticks": [step * number for number in range(1, math.floor(most / step + 1e-9) + 1)]}


def week(cells: Mapping[tuple[int, int], int]) -> Json:
    scale = _scale(cells.values())
    rows = [
        {
            "day": name,
            "hours": [
                {"hour": hour, "count": cells.get((day, hour), 0), "level": scale(cells.get((day, hour), 0))}
                for hour in range(24)
            ],
        }
        for day, name in enumerate(WEEKDAYS)
    ]
    busiest = max(cells, key=lambda cell: (cells[cell], cell), default=None)
    peak = None if busiest is None else {"day": WEEKDAYS[busiest[0]], "hour": busiest[1]}
    return {"rows": rows, "peak": peak}


def _months(first: date) -> list[Json]:
    """The position and the name of each month."""
    months: list[tuple[int, str]] = []
    for week in range(WEEKS - 2):  # a name needs room
        monday = first + timedelta(days=7 * week)
        if week == 0 or monday.month != (monday - timedelta(days=7)).month:
            months.append((week, f"{monday:%b}"))
    labels = months[1:] if len(months) > 1 and months[1][0] < 3 else months
    return [{"week": week, "name": name} for week, name in labels]


def _by_month(days: Mapping[date, int]) -> list[Json]:
    months: Counter[str] = Counter()
    for day, count in sorted(days.items()):
        months[f"{day:%B %Y}"] += count
    return [{"month": month, "count": count} for month, count in months.items()]


def _scale(counts: Iterable[int]) -> Callable[[int], int]:
    """Levels by the logarithm: one busy day does not pale all others."""
    most = math.log1p(max(counts, default=0))

    def level(count: int) -> int:
        return 0 if not count else min(LEVELS, 1 + int(LEVELS * math.log1p(count) / (most * 1.001)))

    return level
