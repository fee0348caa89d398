"""Tokens and costs of one conversation, and of all by assistant, model, project and day.

The command line prints these dictionaries as JSON, and pages show them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from ...domain.filters import Bounds, ConversationFilter
from ...domain.records import Conversation
from ...domain.usage import UsageFilter, UsageSum
from ..part import CorePart
from .prices import Prices, load_prices

Json = dict[str, Any]
TOKENS = ("input", "output", "cache_read", "cache_write", "reasoning")
GROUPED_TOKENS = TOKENS[:-1]
_DAY_S = 86_400


class ModelUsage(CorePart):
    def of(self, conversation: Conversation) -> Json | None:
        """The usage of a conversation without its subagents; None if its assistant records none."""
        prices = self._prices()
        return _usage(self.engine.store.usage.sums_of(conversation.id, prices.tier_limits), prices)

    def weeks(
        self, bounds: Bounds, by: str, *, count: int, sums: Sequence[UsageSum] | None = None
    ) -> list[Json]:
        """Cost and tokens of the last weeks that have any, by assistant, model or project: one object for each week, from
        Monday, the earliest first, with the groups that it has."""
        prices = self._prices()
        weeks: dict[date, list[UsageSum]] = {}
        for each in self.sums(bounds) if sums is None else sums:
            day = _date(each)
            weeks.setdefault(day - timedelta(days=day.weekday()), []).append(each)
        if not weeks:
            return []
        first = max(weeks) - timedelta(weeks=count - 1)
        mondays = (first + timedelta(weeks=number) for number in range(count))
        return [
            {"monday": monday.isoformat(), "groups": _groups(weeks.get(monday, ()), _NAMES[by], prices)}
            for monday in mondays
        ]

    def stats(self, bounds: Bounds, sums: Sequence[UsageSum] | None = None) -> Json:
        """Usage of all conversations and subagents, each model call once, and how often tools were called and failed. The times are
        those of the calls."""
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

    def sums(self, bounds: Bounds) -> list[UsageSum]:
        """All model calls in sums, for callers that need both `stats` and `weeks`: each takes them as `sums`."""
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
    """The cost of those calls that have one; None where none has."""
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


_NAMES: dict[str, Callable[[UsageSum], str]] = {
    "assistant": lambda each: each.surface,
    "model": lambda each: each.model,
    "project": lambda each: each.project,
}
