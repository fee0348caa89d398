"""Filter → WHERE, the only place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..domain.filters import Filter
from ..domain.when import to_ms


def where_clause(where: Filter) -> tuple[str, list[Any]]:
    """A condition on the entry table aliased `e`, and its parameters."""
    conditions = list(_conditions(where))
    if not conditions:
        return "TRUE", []
    return " AND ".join(sql for sql, _ in conditions), [value for _, values in conditions for value in values]


def _conditions(where: Filter) -> Iterator[tuple[str, list[Any]]]:
    for column, values in (
        ("e.id", where.ids),
        ("e.kind", where.kinds),
        ("e.project", where.projects),
        ("e.surface", where.surfaces),
        ("e.thread", where.threads),
    ):
        if values:
            yield f"{column} IN ({', '.join('?' * len(values))})", [str(value) for value in values]
    if where.created_after is not None:
        yield "e.created_at >= ?", [to_ms(where.created_after)]
    if where.created_before is not None:
        yield "e.created_at < ?", [to_ms(where.created_before)]
    if where.public_or_in is not None:
        yield "(e.private = 0 OR e.thread = ?)", [where.public_or_in]
