"""Tokens and costs of one conversation, and of all by assistant, model, project and day.

The command line prints these dictionaries as JSON, and pages show them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from ...domain.filters import Bounds, ConversationFilter
from ...domain.records import Conversation
from ...domain.usage import UsageFilter, UsageSum
from ..part import CorePart
from .prices import Prices, load_prices

Json = dict[str, Any]
TOKENS = ("input", "output", "cache_read", "cache_write", "reasoning")
GROUPED_TOKENS = TOKENS[:-1]
_DAY_S = 86_400


MIN_WEEKS, MAX_WEEKS = 26, 104
"""Weeks of a chart: a few bars look lost, and more than two years of them are too thin to be seen."""


class UsagePeriods(NamedTuple):
    unit: str
    """week or month."""
    rows: list[Json]
    """One object for each period, the earliest first, with its first day and the groups that it has."""


class ModelUsage(CorePart):
    def of(self, conversation: Conversation) -> Json | None:
        """The usage of a conversation without its subagents; None if its assistant records none."""
        prices = self._prices()
        return _usage(self.engine.store.usage.sums_of(conversation.id, prices.tier_limits), prices)

    def periods(self, bounds: Bounds, by: str, sums: Sequence[UsageSum] | None = None) -> UsagePeriods:
        """Cost and tokens over time by assistant, model or project.

        All calls are in one of the periods: weeks from Monday, or months where more than MAX_WEEKS would be needed."""
        prices = self._prices()
        sums = self.sums(bounds) if sums is None else sums
        days = [_date(each) for each in sums]
        if not days:
            return UsagePeriods("week", [])
        starts, unit = _weeks(min(days), max(days)), "week"
        if len(starts) > MAX_WEEKS:
            starts, unit = _months(min(days), max(days)), "month"
        spent: list[list[UsageSum]] = [[] for _ in starts]
        for day, each in zip(days, sums, strict=True):
            spent[bisect_right(starts, day) - 1].append(each)
        rows = [
            {"start": start.isoformat(), "groups": _groups(some, _NAMES[by], prices)}
            for start, some in zip(starts, spent, strict=True)
        ]
        return UsagePeriods(unit, rows)

    def stats(self, bounds: Bounds, sums: Sequence[UsageSum] | None = None) -> Json:
        """Usage of all conversations and subagents, each model call once, and how often tools were called and failed.

        The times are those of the calls."""
        prices = self._prices()
        sums = self.sums(bounds) if sums is None else sums
        return {
            "usage": _usage(sums, prices),
            "by_assistant": _groups(sums, _NAMES["assistant"], prices),
            "by_model": _groups(sums, _NAMES["model"], prices),
            "by_project": _groups(sums, _NAMES["project"], prices),
            "by_day": sorted(_groups(sums, _day, prices), key=lambda group: str(group["name"])),
            "tools": [tally._asdict() for tally in self.engine.store.results.tally(self._where(bounds))],
        }

    def total(self, bounds: Bounds) -> Json | None:
        """Usage of all conversations and subagents, each model call once; None if there is none."""
        return _usage(self.sums(bounds), self._prices())

    def sums(self, bounds: Bounds) -> list[UsageSum]:
        """All model calls in sums, for callers that need both `stats` and `periods`: each takes them as `sums`."""
        return self.engine.store.usage.sums(self._where(bounds), self._prices().tier_limits)

    def _where(self, bounds: Bounds) -> UsageFilter:
        chosen = ConversationFilter(projects=bounds.projects, surfaces=bounds.surfaces)
        return UsageFilter(self.caller.visible_conversations(chosen), bounds.since, bounds.until)

    def _prices(self) -> Prices:
        return load_prices(self.engine.settings.prices_file)


def _usage(sums: Sequence[UsageSum], prices: Prices) -> Json | None:
    if not sums:
        return None
    models = _grouped(sums, lambda each: each.model)
    costs = {model: _cost(alike, prices) for model, alike in models.items()}
    listed = [
        {"model": model, **_tokens(alike, TOKENS), "cost_usd": costs[model]}
        for model, alike in models.items()
    ]
    has_price = any(_list_cost(each, prices) is not None for each in sums)
    return {
        **_tokens(sums, TOKENS),
        "cost_usd": _cost(sums, prices),
        "prices_of": prices.made_on if has_price else None,
        "calls": sum(each.calls for each in sums),
        "is_partial": any(each.partial for each in sums),
        "models": sorted(listed, key=_size, reverse=True),
        "unpriced": sorted({each.model for each in sums if not _is_priced(each, prices)}),
    }


def _groups(sums: Iterable[UsageSum], name_of: Callable[[UsageSum], str], prices: Prices) -> list[Json]:
    """One object for each name, the most expensive first."""
    groups = [
        {"name": name, **_tokens(alike, GROUPED_TOKENS), "cost_usd": _cost(alike, prices)}
        for name, alike in _grouped(sums, name_of).items()
    ]
    return sorted(groups, key=_size, reverse=True)


def _grouped(sums: Iterable[UsageSum], name_of: Callable[[UsageSum], str]) -> dict[str, list[UsageSum]]:
    groups: dict[str, list[UsageSum]] = {}
    for each in sums:
        groups.setdefault(name_of(each), []).append(each)
    return groups


def _size(group: Json) -> tuple[float, int]:
    return group["cost_usd"] or 0.0, sum(group[name] for name in GROUPED_TOKENS)


def _tokens(sums: Iterable[UsageSum], names: Sequence[str]) -> dict[str, int]:
    listed = list(sums)
    return {name: sum(getattr(each, name) for each in listed) for name in names}


def _cost(sums: Iterable[UsageSum], prices: Prices) -> float | None:
    """The cost of the calls that have one; None if none has."""
    costs = [cost for each in sums if (cost := _known_cost(each, prices)) is not None]
    return round(sum(costs), 6) if costs else None


def _known_cost(used: UsageSum, prices: Prices) -> float | None:
    """The cost at list price, or else the assistant's own figure."""
    cost = _list_cost(used, prices)
    return used.own_cost_usd if cost is None else cost


def _list_cost(used: UsageSum, prices: Prices) -> float | None:
    return prices.cost(used, prices.tier_limits)


def _is_priced(used: UsageSum, prices: Prices) -> bool:
    return _list_cost(used, prices) is not None or used.own_costs == used.calls


def _day(used: UsageSum) -> str:
    return _date(used).isoformat()


def _date(used: UsageSum) -> date:
    return datetime.fromtimestamp(used.day * _DAY_S, UTC).date()


def _weeks(first: date, last: date) -> list[date]:
    """The Mondays of all weeks between two days, and of earlier ones up to MIN_WEEKS."""
    end = last - timedelta(days=last.weekday())
    count = max((end - first + timedelta(days=first.weekday())).days // 7 + 1, MIN_WEEKS)
    return [end - timedelta(weeks=number) for number in reversed(range(count))]


def _months(first: date, last: date) -> list[date]:
    """The first days of all months between two days."""
    numbers = range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
    return [date(number // 12, number % 12 + 1, 1) for number in numbers]


_NAMES: dict[str, Callable[[UsageSum], str]] = {
    "assistant": lambda each: each.surface,
    "model": lambda each: each.model,
    "project": lambda each: each.project,
}
