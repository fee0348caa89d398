"""The timeline: what happened in each hour, day or week. Periods in which nothing happened are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from ...domain.census import HourTally
from ...domain.records import Priority
from ..journal import JOURNAL
from .periods import Grain, label, moment_of, start_of

WEIGHTS = {Priority.CRITICAL: 3, Priority.HIGH: 2, Priority.NORMAL: 1, Priority.LOW: 1}
"""What an item adds to the activity of its period; a journal entry and a tool's event add 1."""

UNCATEGORIZED = "uncategorized"


class Period(NamedTuple):
    label: str
    start: datetime
    end: datetime
    by_category: dict[str, int]
    """Of items; journal entries are counted apart."""
    journals: int
    events: int
    activity: int

    @property
    def items(self) -> int:
        return sum(self.by_category.values())


class Timeline(NamedTuple):
    grain: Grain
    periods: tuple[Period, ...]
    """In the order of time."""

    @property
    def busiest(self) -> Period | None:
        """The period of most activity, the latest of equals."""
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
    return Timeline(grain, tuple(_period(start, periods[start], grain) for start in sorted(periods)))


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
