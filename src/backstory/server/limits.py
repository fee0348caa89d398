"""How many requests a credential may make: a token bucket each, in this process alone."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

MOST_BUCKETS = 10_000


class RateLimit:
    """A minute's worth may come at once; then they come at the rate. For one thread."""

    def __init__(self, per_minute: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # what is left, as of when

    def wait_s(self, credential: str) -> float:
        """0 when one more request is within the limit, else the seconds until it would be."""
        if self._per_minute is None:
            return 0.0
        now, most = self._clock(), max(self._per_minute, 1.0)
        left, then = self._buckets.pop(credential, (most, now))
        left = min(most, left + (now - then) * self._per_minute / 60)
        granted = left >= 1
        self._buckets[credential] = (left - granted, now)
        if len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)
        return 0.0 if granted else (1 - left) * 60 / self._per_minute
