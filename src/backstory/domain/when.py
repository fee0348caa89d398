"""Times are UTC and whole milliseconds, in records, in the store and on the wire; callers may write them in words."""

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
    """`2026-03-01T09:30:00.000Z`"""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def parse_when(text: str, now: datetime, *, field: str | None = None) -> datetime:
    """The instant from which on a time counts that is written as ISO 8601 or in words: the beginning of the day, week or month.

    Everything is accepted that is understood in a question (`domain/time_words.py`), and short forms such as `7d`. A time
    without an offset is UTC; days, weeks (from Monday) and months begin at midnight UTC."""
    return _parse(text, now, field, is_end=False)


def parse_until(text: str, now: datetime, *, field: str | None = None) -> datetime:
    """The instant up to which a time counts: of a day, a week or a month the moment after its last."""
    return _parse(text, now, field, is_end=True)


def parse_bounds(
    since: datetime | str | None, until: datetime | str | None, now: datetime, *, prefix: str = ""
) -> tuple[datetime | None, datetime | None]:
    """The arguments `since` and `until` of whatever can be narrowed by time. Errors name them with the prefix."""
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
