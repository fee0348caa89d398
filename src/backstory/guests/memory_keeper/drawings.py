"""Data for drawings: the knowledge graph, a timeline, a heatmap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypedDict

from ...core import Core
from ...core.events import readable
from ...domain.filters import Filter
from ...domain.lines import one_line
from ...domain.records import Event, Memory
from ...domain.when import iso
from ...tools import READS
from ...tools.budget import ANSWER_BYTES, fitting, size
from .analysis import Insight
from .analysis.periods import Grain
from .timeline import GroupBy, newest_fitting, older, period_filter
from .vocabulary import surface

if TYPE_CHECKING:
    from .analysis.timeline import Period

MOST_HAPPENINGS = 20  # maximum number shown per period
DESCRIPTION = 120


class Happening(TypedDict):
    time: str
    type: str
    description: str


class DrawnPeriod(TypedDict):
    period: str
    startTime: str
    endTime: str
    count: int
    categories: dict[str, int]
    events: list[Happening]


class Drawing(TypedDict):
    """The data of a graph (nodes and edges), a timeline (periods) or a heatmap (days, hours, counts)."""

    nodes: NotRequired[list[dict[str, Any]]]
    edges: NotRequired[list[dict[str, Any]]]
    periods: NotRequired[list[DrawnPeriod]]
    days: NotRequired[list[str]]
    hours: NotRequired[list[int]]
    counts: NotRequired[list[list[int]]]
    max: NotRequired[int]
    total: NotRequired[int]
    notices: NotRequired[list[str]]


@surface.tool("Visualize context", READS)
def context_visualize(
    core: Core,
    type: Annotated[Literal["graph", "timeline", "heatmap"], "What to draw"],
    session_id: Annotated[str | None, "Only this session (default: all that is visible)"] = None,
    start_date: Annotated[str | None, 'From when: an ISO date or time, or e.g. "last week"'] = None,
    end_date: Annotated[str | None, "Until when, inclusive; a day counts whole"] = None,
    group_by: Annotated[
        GroupBy,
        "Timeline: length of a period. Heatmap: a row for each day, for each day of the week (week), or one for all (hour)",
    ] = "day",
) -> Drawing:
    """Give data to draw: the knowledge graph (nodes, edges), a timeline (periods with counts and events), or a heatmap
    (counts[day][hour], UTC)."""
    where = period_filter(core, start_date, end_date, session_id)
    if type == "graph":
        return _graph(core, where)
    if type == "heatmap":
        return _heatmap(core, where, group_by)
    return _drawn_timeline(core, where, group_by)


def _drawn_timeline(core: Core, where: Filter, group_by: GroupBy) -> Drawing:
    line = Insight(core).timeline(where, Grain(group_by))
    drawn = newest_fitting(line, lambda period: _drawn_period(core, period, where))
    notices = older(line, len(drawn))
    if any(period["count"] > len(period["events"]) for period in drawn):
        notices.append(f"Of each period the last {MOST_HAPPENINGS} events are described; count tells all.")
    reply: Drawing = {"periods": drawn}
    return {**reply, "notices": notices} if notices else reply


def _drawn_period(core: Core, period: Period, where: Filter) -> DrawnPeriod:
    categories = dict(period.by_category)
    categories |= {"journal": period.journals} if period.journals else {}
    categories |= {"event": period.events} if period.events else {}
    return {
        "period": period.label,
        "startTime": iso(period.start),
        "endTime": iso(period.end),
        "count": sum(categories.values()),
        "categories": categories,
        "events": [_happening(each) for each in Insight(core).happened_in(period, where, MOST_HAPPENINGS)],
    }


def _happening(happened: Memory | Event) -> Happening:
    if isinstance(happened, Event):
        description = f"{happened.tool}: {readable(happened.data)}"
        kind = happened.type
    else:
        description = f"{happened.key}: {happened.text}" if happened.key else happened.text
        kind = happened.category or "item"
    return {
        "time": iso(happened.created_at),
        "type": kind,
        "description": one_line(description, DESCRIPTION),
    }


def _graph(core: Core, where: Filter) -> Drawing:
    view = core.graph.view(where)
    nodes = [node._asdict() for node in view.nodes]
    edges = [edge._asdict() for edge in view.edges]
    links = fitting(edges, ANSWER_BYTES - size(nodes), least=0)
    reply: Drawing = {"nodes": nodes, "edges": links}
    notices = []
    if len(links) < len(edges):
        notices.append(f"The {len(links)} surest of {len(edges)} edges are shown; sessionId or dates narrow.")
    if view.total_nodes > len(view.nodes):
        notices.append(
            f"The {len(view.nodes)} most mentioned of {view.total_nodes} things are shown; sessionId or dates narrow."
        )
    if view.pending:
        notices.append(f"{view.pending} items were not read yet; ask again.")
    return {**reply, "notices": notices} if notices else reply


def _heatmap(core: Core, where: Filter, group_by: GroupBy) -> Drawing:
    heat = Insight(core).heatmap(where, Grain(group_by))
    reply: Drawing = {
        "days": list(heat.rows),
        "hours": list(range(24)),
        "counts": [list(row) for row in heat.counts],
        "max": heat.hottest,
        "total": heat.total,
    }
    if not heat.left_out:
        return reply
    notice = f"{heat.left_out} earlier days with activity are not shown; endDate {heat.rows[0]} shows them."
    return {**reply, "notices": [notice]}
