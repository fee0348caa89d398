"""A weight for the age of a record: full for a day, half for a month, almost none for a year."""

from __future__ import annotations

DAY_MS = 86_400_000
_STEPS = ((1, 1.0), (7, 0.8), (30, 0.5), (90, 0.2))
_OLD = 0.1


def freshness(at_ms: float, now_ms: float) -> float:
    """A weight from 0.1 to 1 by age; times in the future count as new."""
    age = (now_ms - at_ms) / DAY_MS
    for days, worth in _STEPS:
        if age <= days:
            return worth
    return _OLD
