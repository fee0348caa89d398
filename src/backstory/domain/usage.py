"""Tokens used by model calls, and their cost."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from .filters import ConversationFilter


class ModelCall(NamedTuple):
    """One call of a model, or all calls of a session if the assistant records no more detail."""

    key: str
    """Identical for each record of the call, in whichever file it is."""
    model: str = ""
    at_ms: int | None = None
    input: int = 0
    """Tokens that were neither read from a cache nor written to one."""
    output: int = 0
    """Including reasoning."""
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    """Part of `cache_write`: cached for an hour, at a higher price."""
    reasoning: int = 0
    """Part of `output`."""
    cost_usd: float | None = None
    """The assistant's own figure, used if no price is known."""
    is_partial: bool = False
    """True if some numbers are unknown and count as 0."""
    turn: str = ""
    """Id of the turn that the call produced; "" if unknown."""


class UsageFilter(NamedTuple):
    """A filter for model calls. `since` and `until` refer to the times of the calls."""

    conversations: ConversationFilter
    since: datetime | None = None
    until: datetime | None = None


class UsageSum(NamedTuple):
    """The sum of calls with the same assistant, project, model, day, and number of exceeded price tiers."""

    surface: str
    project: str
    model: str
    day: int
    """Days since 1970 in UTC."""
    tier: int
    calls: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    cache_write_1h: int
    reasoning: int
    own_cost_usd: float | None
    """The sum of the assistant's own figures."""
    own_costs: int
    """Number of calls that have such a figure."""
    partial: int
    """Number of calls with unknown numbers."""
