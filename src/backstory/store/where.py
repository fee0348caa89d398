"""Filter → WHERE and Order → ORDER BY, the only place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from ..domain.filters import ConversationFilter, Filter, Kind, Order
from ..domain.lazy import lazy_pattern
from ..domain.when import to_ms
from .columns import marks
from .database import AT_ONCE

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

Condition = tuple[str, list[Any]]
"""SQL and its parameters."""

MEMORIES = f"e.kind = '{Kind.MEMORY}'"
"""A condition that entries `e` are memories.

It has no parameter: a partial index of memories is used only if the condition is a constant in the query.
"""

CONFINED = "trust IN ('project', 'team')"
"""A condition on records that came with a repository, which are visible in its project only. An index uses this wording."""


def order_clause(order: Order) -> str:
    """The columns of ORDER BY on the entry table aliased `e`; no two entries are equal in any order."""
    return _ORDERS[order]


def bounds(limit: int | None, offset: int = 0) -> str:
    """LIMIT and OFFSET; a LIMIT of -1 means none in SQLite only, and numbers of 64 bits are the largest."""
    return f"LIMIT {2**62 if limit is None else min(limit, 2**62):d} OFFSET {min(offset, 2**62):d}"


_SHELL_NEGATION = lazy_pattern(r"\[!(?!\])")


def literal(text: str) -> str:
    """A text that LIKE takes as it is, with ESCAPE '!'."""
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


class Glob(str):
    """A pattern as SQLite knows it; PostgreSQL is given the regular expression that means the same."""

    __slots__ = ()


def where_clause(where: Filter) -> Condition:
    """A condition on the entry table aliased `e`."""
    return _all(_conditions(where))


def conversations_clause(which: ConversationFilter) -> Condition:
    """A condition on a table of conversations. Titles are not compared."""
    return _all(_conversation_conditions(which))


def events_clause(where: Filter) -> Condition:
    """A condition on the event table: an event has a surface, a session, a project and a time."""
    conditions = [
        *_among("surface", where.surfaces),
        *_among("session", where.threads),
        *_among("project", where.projects),
        *_between("created_at", where.created_after, where.created_before),
    ]
    return _all(conditions)


def places_clause(places: range | None) -> Condition:
    """A condition on entries aliased `e`: their `seq` is in the range. None is every place."""
    return ("TRUE", []) if places is None else ("e.seq >= ? AND e.seq < ?", [places.start, places.stop])


def portions(which: ConversationFilter) -> Iterator[ConversationFilter]:
    """Split a filter into portions that each fit into one statement."""
    if len(which.ids) > AT_ONCE:
        for start in range(0, len(which.ids), AT_ONCE):
            yield from portions(which._replace(ids=which.ids[start : start + AT_ONCE]))
    elif len(which.parents) > AT_ONCE:
        for start in range(0, len(which.parents), AT_ONCE):
            yield which._replace(parents=which.parents[start : start + AT_ONCE])
    else:
        yield which


def _all(conditions: Iterable[Condition]) -> Condition:
    listed = list(conditions)
    if not listed:
        return "TRUE", []
    return " AND ".join(sql for sql, _ in listed), [value for _, values in listed for value in values]


def _among(column: str, values: Sequence[str]) -> Iterator[Condition]:
    if values:
        yield f"{column} IN ({marks(values)})", [str(value) for value in values]


def _between(column: str, after: datetime | None, before: datetime | None) -> Iterator[Condition]:
    if after is not None:
        yield f"{column} >= ?", [to_ms(after)]
    if before is not None:
        yield f"{column} < ?", [to_ms(before)]


def _conditions(where: Filter) -> Iterator[Condition]:
    # `|| ''` prevents the use of an index: SQLite would otherwise read a whole surface instead of looking up many ids
    surface = "e.surface || ''" if where.ids else "e.surface"
    yield from _among("e.id", where.ids)
    if where.kinds == (Kind.MEMORY,):
        yield MEMORIES, []
    else:
        yield from _among("e.kind", where.kinds)
    yield from _among("e.project", where.projects)
    yield from _among(surface, where.surfaces)
    yield from _among("e.thread", where.threads)
    yield from _among("e.key", where.keys)
    yield from _among("e.category", where.categories)
    if where.other_than:
        yield f"coalesce(e.category, '') NOT IN ({marks(where.other_than)})", list(where.other_than)
    yield from _among("e.priority", where.priorities)
    yield from _among("e.channel", where.channels)
    yield from _among("e.text", where.texts)
    if where.key_glob is not None:
        yield "e.key GLOB ?", [Glob(_SHELL_NEGATION.sub("[^", where.key_glob))]
    yield from _between("e.created_at", where.created_after, where.created_before)
    if where.public_or_in is not None:
        yield "(e.private = 0 OR e.thread = ?)", [where.public_or_in]
    if where.repository_of is not None:
        yield f"(NOT e.{CONFINED} OR e.project = ?)", [where.repository_of]


def _conversation_conditions(which: ConversationFilter) -> Iterator[Condition]:
    yield from _among("id", which.ids)
    yield from _among("surface", which.surfaces)
    yield from _among("project", which.projects)
    yield from _among("kind", which.kinds)
    yield from _among("parent", which.parents)
    yield from _among("subject", which.subjects)
    if which.sources:
        within = " OR ".join(["substr(source, 1, ?) = ?"] * len(which.sources))
        parts = [part for path in which.sources for part in (len(path) + 1, f"{path}#")]
        yield f"(source IN ({marks(which.sources)}) OR {within})", [*which.sources, *parts]
    yield from _between("updated_at", which.updated_after, which.updated_before)
    if which.repository_of is not None:
        yield f"(NOT {CONFINED} OR project = ?)", [which.repository_of]
