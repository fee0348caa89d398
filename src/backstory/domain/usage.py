"""Tokens that calls of a model used, and what they cost."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from .filters import ConversationFilter


class ModelCall(NamedTuple):
    """One call of a model, or all calls of a session where an assistant tells no more."""

    key: str
    """The same for each record of the call, in whichever file it stands."""
    model: str = ""
    at_ms: int | None = None
    input: int = 0
    """Tokens that were neither read from a cache nor written to one."""
    output: int = 0
    """With reasoning."""
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    """Part of `cache_write`: kept for an hour, at a higher price."""
    reasoning: int = 0
    """Part of `output`."""
    cost_usd: float | None = None
    """The assistant's own figure, used where no price is known."""
    is_partial: bool = False
    """Some of the numbers are not known, and count as 0."""
    turn: str = ""
    """Id of the turn that the call produced; empty where it is not known."""


class UsageFilter(NamedTuple):
    """Which calls of models are counted. `since` and `until` are times of the calls."""

    conversations: ConversationFilter
    since: datetime | None = None
    until: datetime | None = None


class UsageSum(NamedTuple):
    """Calls that are alike in assistant, project, model, day and in how many limits of price tiers they exceed."""

    surface: str
    project: str
    model: str
    day: int
    """Days since 1970, UTC."""
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
    """How many of the calls have one."""
    partial: int
    """How many of the calls lack some numbers."""
