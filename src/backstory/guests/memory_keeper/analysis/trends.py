"""Trends: counts per period, and a comparison of the later half with the earlier one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ....core.insight.findings import EvidenceItem, Finding, Sample, sources
from ....domain.categories import JOURNAL, UNCATEGORIZED
from ....domain.records import Priority
from .periods import Grain, fitting_grain, hour_of, label, start_of

NOTABLE = 0.25  # a smaller change is called steady
_CATEGORIES = ("task", "decision", "progress", "note", "warning", "error", JOURNAL, UNCATEGORIZED)


class Point(NamedTuple):
    period: str
    value: float


class Series(NamedTuple):
    name: str
    points: tuple[Point, ...]
    early: float
    late: float
    """The sums of the earlier and the later half. With an odd number of periods the middle one is in neither."""
    evidence: tuple[EvidenceItem, ...] = ()

    @property
    def change(self) -> float | None:
        """Relative change: 0.5 means 50 % more. None if the earlier half is 0."""
        return round((self.late - self.early) / self.early, 2) if self.early else None

    @property
    def direction(self) -> str:
        """rising, falling, steady or unknown."""
        if len(self.points) < 2:
            return "unknown"
        notable = NOTABLE * self.early
        if self.late > self.early + notable:
            return "rising"
        return "falling" if self.late < self.early - notable else "steady"


def series_of(sample: Sample, metrics: Sequence[str]) -> list[Series]:
    """Return the requested metrics; by default all items, and each category and priority that occurs.

    A metric is `items`, `events`, a category, a priority, or a number in the items' metadata."""
    hours = [busy.hour for busy in sample.hours] + [hour for hour, _ in sample.events]
    if not hours:
        return []
    if sample.since is not None:
        hours += [hour_of(sample.since), hour_of(sample.now)]
    grain = fitting_grain(hours)
    starts = range(start_of(min(hours), grain), start_of(max(hours), grain) + 1, grain.hours)
    return [_series(name, sample, starts, grain) for name in metrics or _present(sample)]


def trends(series: Iterable[Series]) -> list[Finding]:
    """Return one statement per series, largest changes first."""
    ranked = sorted(series, key=lambda each: (-abs(each.late - each.early), each.name))
    return [
        Finding(
            kind=f"{each.direction} trend",
            statement=_statement(each),
            times=len([point for point in each.points if point.value]),
            evidence=each.evidence,
            about=each.name,
        )
        for each in ranked
    ]


def _statement(series: Series) -> str:
    if not any(point.value for point in series.points):
        return f"{series.name}: no data."
    if len(series.points) < 2:
        return f"{series.name}: one period only, too short for a trend."
    first, last = series.points[0].period, series.points[-1].period
    halves = f"{series.early:g} in the earlier half, {series.late:g} in the later"
    return f"{series.name}: {series.direction} between {first} and {last} ({halves})."


def _present(sample: Sample) -> list[str]:
    categories = sorted({busy.category or UNCATEGORIZED for busy in sample.hours})
    priorities = [each.value for each in Priority if any(busy.priority is each for busy in sample.hours)]
    return ["items", *categories, *priorities, *(["events"] if sample.events else [])]


def _series(name: str, sample: Sample, starts: range, grain: Grain) -> Series:
    values, evidence = _values(name, sample, grain)
    points = tuple(Point(label(start, grain), values.get(start, 0)) for start in starts)
    half = len(points) // 2
    early, late = (
        sum(point.value for point in part) for part in (points[:half], points[len(points) - half :])
    )
    return Series(name, points, early, late, evidence)


def _values(name: str, sample: Sample, grain: Grain) -> tuple[Mapping[int, float], tuple[EvidenceItem, ...]]:
    if name in ("events", "event"):
        return _summed(((hour, count) for hour, count in sample.events), grain), sample.last_events
    choose = _chooser(name, {busy.category for busy in sample.hours})
    if choose is None:
        return _means(name, sample, grain)
    counts = _summed(
        ((busy.hour, busy.total) for busy in sample.hours if choose(busy.category, busy.priority)), grain
    )
    return counts, sources(memory for memory in sample.memories if choose(memory.category, memory.priority))


def _chooser(name: str, in_use: Collection[str | None]) -> Callable[[str | None, Priority], bool] | None:
    """Return a function that selects the memories of a metric; None for a number in their metadata."""
    wanted = name.lower()
    if wanted in ("items", "total"):
        return lambda category, priority: True
    for candidate in (name, wanted, wanted.removesuffix("s")):
        if candidate in _CATEGORIES or candidate in in_use:
            return partial(_is_of, candidate)
    if wanted in tuple(Priority):
        return lambda category, priority: priority == wanted
    return None


def _is_of(wanted: str, category: str | None, priority: Priority) -> bool:
    return (category or UNCATEGORIZED) == wanted


def _summed(counts: Iterable[tuple[int, int]], grain: Grain) -> Mapping[int, float]:
    sums: Counter[int] = Counter()
    for hour, count in counts:
        sums[start_of(hour, grain)] += count
    return {start: float(total) for start, total in sums.items()}


def _means(name: str, sample: Sample, grain: Grain) -> tuple[Mapping[int, float], tuple[EvidenceItem, ...]]:
    field = name.removeprefix("metadata.")
    values: dict[int, list[float]] = {}
    carriers = []
    for memory in sample.memories:
        value = memory.metadata.get(field)
        if isinstance(value, int | float) and not isinstance(value, bool):
            values.setdefault(start_of(hour_of(memory.created_at), grain), []).append(float(value))
            carriers.append(memory)
    return {start: round(sum(each) / len(each), 3) for start, each in values.items()}, sources(carriers)
