"""Filter → WHERE and Order → ORDER BY, the only place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..domain.filters import Filter, Order
from ..domain.when import to_ms

_URGENCY = "CASE e.priority WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'normal' THEN 2 ELSE 3 END"
_ORDERS = {
    Order.NEWEST: "e.created_at DESC, e.n DESC",
    Order.OLDEST: "e.created_at, e.n",
    Order.UPDATED_NEWEST: "e.updated_at DESC, e.n DESC",
    Order.UPDATED_OLDEST: "e.updated_at, e.n",
    Order.PRIORITY: f"{_URGENCY}, e.created_at DESC, e.n DESC",
    Order.PRIORITY_REVERSED: f"{_URGENCY} DESC, e.created_at DESC, e.n DESC",
    Order.KEY: "e.key NULLS FIRST, e.n",
    Order.KEY_REVERSED: "e.key DESC NULLS LAST, e.n DESC",
}


def ordered(order: Order) -> str:
    """The columns of ORDER BY on the entry table aliased `e`; no two entries are equal in any order."""
    return _ORDERS[order]


def where_clause(where: Filter) -> tuple[str, list[Any]]:
    """A condition on the entry table aliased `e`, and its parameters."""
    conditions = list(_conditions(where))
    if not conditions:
        return "TRUE", []
    return " AND ".join(sql for sql, _ in conditions), [value for _, values in conditions for value in values]


def _like(glob: str) -> str:
    literal = glob.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return literal.replace("*", "%").replace("?", "_")


def _conditions(where: Filter) -> Iterator[tuple[str, list[Any]]]:
    # an expression has no index: SQLite would rather read a whole surface than look up many ids
    surface = "e.surface || ''" if where.ids else "e.surface"
    for column, values in (
        ("e.id", where.ids),
        ("e.kind", where.kinds),
        ("e.project", where.projects),
        (surface, where.surfaces),
        ("e.thread", where.threads),
        ("e.key", where.keys),
        ("e.category", where.categories),
        ("e.priority", where.priorities),
        ("e.channel", where.channels),
    ):
        if values:
            yield f"{column} IN ({', '.join('?' * len(values))})", [str(value) for value in values]
    if where.key_glob is not None:
        yield "e.key LIKE ? ESCAPE '!'", [_like(where.key_glob)]
    if where.created_after is not None:
        yield "e.created_at >= ?", [to_ms(where.created_after)]
    if where.created_before is not None:
        yield "e.created_at < ?", [to_ms(where.created_before)]
    if where.public_or_in is not None:
        yield "(e.private = 0 OR e.thread = ?)", [where.public_or_in]
    if where.repository_of is not None:
        yield "(e.trust <> 'project' OR e.project = ?)", [where.repository_of]
