"""Times. In records, in the store and on the wire they are UTC with whole milliseconds; callers may write them in
words."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from .errors import InvalidInput
from .lines import one_line
from .time_words import read_time

Clock = Callable[[], datetime]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def utc_now() -> datetime:
    return from_ms(to_ms(datetime.now(UTC)))


def to_ms(moment: datetime) -> int:
    return (moment - EPOCH) // _MILLISECOND


def from_ms(milliseconds: int) -> datetime:
    return EPOCH + milliseconds * _MILLISECOND


def iso(moment: datetime) -> str:
    """Format a time as `2026-03-01T09:30:00.000Z`."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def parse_when(text: str, now: datetime, *, field: str | None = None) -> datetime:
    """Parse a time in ISO 8601 or in words, and return its beginning: the start of the day, week or month.

    Accepts everything that a question may contain (`domain/time_words.py`), and short forms such as `7d`. A time
    without an offset is UTC; days, weeks (from Monday) and months begin at midnight UTC."""
    return _parse(text, now, field, is_end=False)


def parse_until(text: str, now: datetime, *, field: str | None = None) -> datetime:
    """Parse a time as an upper bound, and return its end: the instant after the day, week or month."""
    return _parse(text, now, field, is_end=True)


def parse_bounds(
    since: datetime | str | None, until: datetime | str | None, now: datetime, *, prefix: str = ""
) -> tuple[datetime | None, datetime | None]:
    """Parse the arguments `since` and `until`. Errors name them with the prefix."""
    start = parse_when(since, now, field=f"{prefix}since") if isinstance(since, str) else since
    end = parse_until(until, now, field=f"{prefix}until") if isinstance(until, str) else until
    if start is not None and end is not None and start >= end:
        raise InvalidInput(f"{prefix}until is before {prefix}since.", field=f"{prefix}until")
    return start, end


def _parse(text: str, now: datetime, field: str | None, *, is_end: bool) -> datetime:
    written, name = text.strip(), field or "The time"
    try:
        moment = read_time(written, now.astimezone(UTC))[is_end]
        if moment is not None:
            return from_ms(to_ms(moment))
        problem = "has no end" if is_end else "has no beginning"
    except (ValueError, OverflowError):
        problem = "is not a time"
    raise InvalidInput(
        f"{name} {one_line(written, 60)!r} {problem}.",
        hint='Use an ISO date or time, or words such as "2 hours ago", "yesterday", "last tuesday", "in march" or "7d".',
        field=field,
    )
