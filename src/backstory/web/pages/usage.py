"""Usage: tokens and cost over time by project, model and assistant, how well caches work, and how often tools fail."""

from __future__ import annotations

from ...core import Core
from ...core.usage import UsagePeriods
from ...domain.filters import ConversationFilter, Kind
from ..charts import axis
from ..figures import figure
from ..page_query import PageQuery
from ..view import Json, View

DRAWN_WIDTH, MAX_STEP = 884, 34
"""The width of the chart, and the maximum distance between bars, in units of the drawing."""
MAX_LABELS = 7
MAX_COLOURS = 6
"""Groups with a colour of their own; the others are drawn as one."""
MAX_GROUPS, MAX_TOOLS = 12, 20
"""Rows that are shown; the others are folded."""
GROUPS = ("project", "model", "assistant")
MEASURES = ("cost", "tokens")


def page(core: Core, asked: PageQuery) -> View:
    by = asked.choice("by", GROUPS) or "project"
    bounds = asked.bounds()
    sums = figure(core, ("usage sums", bounds), lambda: core.usage.sums(bounds))
    stats = figure(core, ("usage", bounds), lambda: core.usage.stats(bounds, sums))
    periods = figure(core, ("usage over time", by, bounds), lambda: core.usage.periods(bounds, by, sums))
    has_cost = stats["usage"] is not None and stats["usage"]["cost_usd"] is not None
    measure = asked.choice("measure", MEASURES) or ("cost" if has_cost else "tokens")
    body = {
        **stats,
        "tools": [{**each, "failure_rate": each["failed"] / each["calls"]} for each in stats["tools"]],
        "cache_hit_rate": _cache_hit_rate(stats["usage"]),
        "by": by,
        "measure": measure,
        "chart": _chart(periods, measure),
        "groups": sorted(
            ({**each, "amount": amount(each, measure)} for each in stats[f"by_{by}"]),
            key=lambda each: each["amount"],
            reverse=True,
        ),
        "shown_groups": MAX_GROUPS,
        "shown_tools": MAX_TOOLS,
        "known_projects": core.browsing.known_projects(Kind.MESSAGE),
        "known_assistants": sorted({each.surface for each in core.replay.tally(ConversationFilter())}),
    }
    return View("usage.html", body, "Usage")


def _cache_hit_rate(usage: Json | None) -> float | None:
    """The share of input tokens that were read from a cache; None without input."""
    if usage is None:
        return None
    whole = usage["input"] + usage["cache_read"] + usage["cache_write"]
    return usage["cache_read"] / whole if whole else None


def amount(group: Json, measure: str) -> float:
    """Dollars, or all tokens."""
    if measure == "cost":
        return float(group["cost_usd"] or 0)
    return float(sum(group[name] for name in ("input", "output", "cache_read", "cache_write")))


def _chart(periods: UsagePeriods, measure: str) -> Json:
    totals: dict[str, float] = {}
    for period in periods.rows:
        for group in period["groups"]:
            totals[group["name"]] = totals.get(group["name"], 0) + amount(group, measure)
    names = sorted(totals, key=lambda name: totals[name], reverse=True)
    own, rest = names[:MAX_COLOURS], set(names[MAX_COLOURS:])
    rows = []
    for period in periods.rows:
        amounts = {group["name"]: amount(group, measure) for group in period["groups"]}
        values = [amounts.get(name, 0.0) for name in own]
        values += [sum(value for name, value in amounts.items() if name in rest)] if rest else []
        rows.append({"start": period["start"], "amounts": values, "total": sum(values)})
    return {
        "unit": periods.unit,
        "names": own,
        "has_others": bool(rest),
        "has_years": len({row["start"][:4] for row in rows}) > 1,
        "rows": rows,
        "step": min(DRAWN_WIDTH / max(len(rows), 1), MAX_STEP),
        "label_every": -(-len(rows) // MAX_LABELS) or 1,
        "most": max((row["total"] for row in rows), default=0),
        "axis": axis(max((row["total"] for row in rows), default=0)),
    }
