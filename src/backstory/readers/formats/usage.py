"""Token usage in logs: numbers that may be missing, negative or not numbers at all."""

from __future__ import annotations

MAX_TOKENS = 10**12
"""Maximum for one call. Sums of larger numbers might not fit into a column."""


def count_of(value: object) -> int:
    """Return a number of tokens; 0 for any invalid value."""
    if type(value) is int and 0 <= value < MAX_TOKENS:  # the most common case
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < MAX_TOKENS:
        return 0
    return int(value)


def cost_of(value: object) -> float | None:
    """Return an amount in US dollars; None for invalid values, and for 0, which plans and unknown models have."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        return None
    return float(value)


def rest_of(total: object, *parts: object) -> int:
    """Return a number of tokens minus the given parts of it."""
    return max(count_of(total) - sum(map(count_of, parts)), 0)
