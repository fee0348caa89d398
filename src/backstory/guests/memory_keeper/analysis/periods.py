"""Hours, days and weeks in UTC: their start, their label, and how long ago they were."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

from ....domain.when import EPOCH

_HOUR = timedelta(hours=1)
_MONDAY = 3  # 1 January 1970 was a Thursday
_UNITS = ((365 * 86_400, "year"), (30 * 86_400, "month"), (7 * 86_400, "week"), (86_400, "day"), (3_600, "hour"), (60, "minute"))  # fmt: skip


class Grain(StrEnum):
    """The length of periods. Weeks are those of ISO 8601 and begin on Monday."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"

    @property
    def hours(self) -> int:
        return {Grain.HOUR: 1, Grain.DAY: 24, Grain.WEEK: 168}[self]


def hour_of(moment: datetime) -> int:
    """Return whole hours since 1970."""
    return (moment - EPOCH) // _HOUR


def moment_of(hour: int) -> datetime:
    return EPOCH + hour * _HOUR


def start_of(hour: int, grain: Grain) -> int:
    """Return the first hour of the period that contains an hour."""
    if grain is Grain.HOUR:
        return hour
    day = hour // 24
    return 24 * (day if grain is Grain.DAY else day - (day + _MONDAY) % 7)


def label(start: int, grain: Grain) -> str:
    """Return `2026-03-01 09:00`, `2026-03-01` or `2026-W09`."""
    begin = moment_of(start)
    if grain is Grain.WEEK:
        year, week, _ = begin.isocalendar()
        return f"{year}-W{week:02d}"
    return f"{begin:%Y-%m-%d}" if grain is Grain.DAY else f"{begin:%Y-%m-%d %H}:00"


def how_long_ago(start: int, grain: Grain, now: datetime) -> str:
    """Return `less than an hour ago`, `yesterday`, `last week` or `3 days ago`, in the unit of the period itself."""
    passed = (start_of(hour_of(now), grain) - start) // grain.hours
    if passed == 0:
        return {Grain.HOUR: "less than an hour ago", Grain.DAY: "today", Grain.WEEK: "this week"}[grain]
    if passed == 1 and grain is not Grain.HOUR:
        return "yesterday" if grain is Grain.DAY else "last week"
    return _counted(passed, grain.value)


def ago(moment: datetime, now: datetime) -> str:
    """Return `just now`, `25 minutes ago` or `3 days ago`."""
    seconds = int((now - moment).total_seconds())
    for length, unit in _UNITS:
        if abs(seconds) >= length:
            return _counted(abs(seconds) // length * (1 if seconds > 0 else -1), unit)
    return "just now"


def _counted(number: int, unit: str) -> str:
    phrase = f"{abs(number)} {unit}{'' if abs(number) == 1 else 's'}"
    return f"{phrase} ago" if number > 0 else f"in {phrase}"


def duration(length: timedelta) -> str:
    """Return `2h 13m`, `3d 4h` or `45s`: the two largest units."""
    seconds = max(int(length.total_seconds()), 0)
    parts = []
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        count, seconds = divmod(seconds, size)
        parts.append((count, unit))
    parts.append((seconds, "s"))
    first = next((place for place, (count, _) in enumerate(parts) if count), len(parts) - 1)
    words = [f"{count}{unit}" for count, unit in parts[first : first + 2] if count]
    return " ".join(words) or "0s"


def fitting_grain(hours: Iterable[int]) -> Grain:
    """Return a grain that splits the time between the first and the last hour into a readable number of periods."""
    known = sorted(hours)
    span = known[-1] - known[0] if known else 0
    return Grain.HOUR if span <= 48 else Grain.DAY if span <= 60 * 24 else Grain.WEEK
