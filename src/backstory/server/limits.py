"""Rate limits for the requests of a credential and the failed logins of an address: token buckets, in this process alone."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

MOST_BUCKETS = 10_000


class RateLimit:
    """A rate limit with a burst of one minute's requests. Not thread-safe."""

    def __init__(self, per_minute: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        # remaining requests, and the time of that count
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, credential: str) -> float:
        """0 when one more request is within the limit, else the seconds until it would be."""
        if self._per_minute is None:
            return 0.0
        left, wait_s = self._left(credential), self.peek_s(credential)
        self._buckets[credential] = (left if wait_s else left - 1, self._clock())
        self._buckets.move_to_end(credential)
        if len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)
        return wait_s

    def peek_s(self, credential: str) -> float:
        """The time until the next request is allowed, without counting one."""
        if self._per_minute is None:
            return 0.0
        return max(1 - self._left(credential), 0.0) * 60 / self._per_minute

    def _left(self, credential: str) -> float:
        assert self._per_minute is not None
        now, most = self._clock(), max(self._per_minute, 1.0)
        left, then = self._buckets.get(credential, (most, now))
        return min(most, left + (now - then) * self._per_minute / 60)
