"""Hours of the day in which work that others wait for may be done."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta
from typing import NamedTuple

ALWAYS = "always"
_HOURS = re.compile(r"(\d\d):(\d\d)-(\d\d):(\d\d)")
_DAY = timedelta(days=1)


class DailyHours(NamedTuple):
    """A span of every day, in UTC. One that ends before it begins goes over midnight; equal times are the whole day."""

    start: time
    end: time

    @classmethod
    def parse(cls, text: str) -> DailyHours:
        """Read `02:00-04:00` or `always`. Raises ValueError."""
        if text.strip() == ALWAYS:
            return cls(time(), time())
        match = _HOURS.fullmatch(text.strip())
        if match is None:
            raise ValueError(text)
        first, second, third, fourth = map(int, match.groups())
        return cls(time(first, second), time(third, fourth))

    def around(self, now: datetime) -> tuple[datetime, datetime]:
        """Beginning and end of the span that contains `now`, or else of the next one."""
        now = now.astimezone(UTC)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        for day in (midnight - _DAY, midnight, midnight + _DAY):
            start = day + _since_midnight(self.start)
            end = day + _since_midnight(self.end)
            if end <= start:
                end += _DAY
            if now < end:
                return start, end
        raise AssertionError("a span of tomorrow ends after now")

    def contain(self, now: datetime) -> bool:
        start, _ = self.around(now)
        return start <= now


def _since_midnight(moment: time) -> timedelta:
    return timedelta(hours=moment.hour, minutes=moment.minute)
