"""Usage of models as logs have it: numbers that may be missing, negative or no numbers at all."""

from __future__ import annotations

MAX_TOKENS = 10**12
"""Of one call. Sums of larger numbers might not fit into a column."""


def count_of(value: object) -> int:
    """A number of tokens; 0 for anything else."""
    if type(value) is int and 0 <= value < MAX_TOKENS:  # as it is nearly always
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < MAX_TOKENS:
        return 0
    return int(value)


def cost_of(value: object) -> float | None:
    """An amount in US dollars; None for anything else, and for 0, which plans and unknown models have."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        return None
    return float(value)


def rest_of(total: object, *parts: object) -> int:
    """A number of tokens without those that are part of it."""
    return max(count_of(total) - sum(map(count_of, parts)), 0)
