"""Times are UTC and whole milliseconds, in records, in the store and on the wire; callers may write them in words."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from .errors import InvalidInput

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


_DAY, _WEEK = timedelta(days=1), timedelta(weeks=1)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_LENGTHS = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
_SHORT = {"m": "minute", "min": "minute", "h": "hour", "d": "day", "w": "week", "mo": "month"}


def parse_when(text: str, now: datetime, *, field: str | None = None) -> datetime:
    """The instant meant by an ISO date or time, or by words such as `yesterday`, `last tuesday`, `2 hours ago` or `7d`.

    A time without an offset is UTC. Days, weeks (from Monday) and months begin at midnight UTC."""
    return _span(text, now, field)[0]


def parse_until(text: str, now: datetime, *, field: str | None = None) -> datetime:
    """The same for an end: of a day, a week or a month it is the moment after its last."""
    return _span(text, now, field)[1]


def _span(text: str, now: datetime, field: str | None) -> tuple[datetime, datetime]:
    written = text.strip()
    try:
        start, end = _in_words(" ".join(written.lower().split()), now) or _iso(written)
        return from_ms(to_ms(start)), from_ms(to_ms(end))
    except (ValueError, OverflowError):
        shown = written if len(written) <= 60 else f"{written[:60]}…"
        raise InvalidInput(
            f"{field or 'The time'} {shown!r} is not a time.",
            hint='Use an ISO date or time, or words such as "2 hours ago", "yesterday", "last tuesday", "last week" or "7d".',
            field=field,
        ) from None


def _iso(written: str) -> tuple[datetime, datetime]:
    if len(written) > 40 or written[10:11] not in ("", "T", "t", " "):
        raise ValueError(written)
    moment = datetime.fromisoformat(written.upper())
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment, moment + _DAY if len(written) <= len("2026-03-01") else moment


def _in_words(words: str, now: datetime) -> tuple[datetime, datetime] | None:
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    week, month = today - timedelta(days=today.weekday()), today.replace(day=1)
    weekday = words.removeprefix("on ").removeprefix("last ")
    if weekday in _WEEKDAYS:
        day = today - timedelta(days=(today.weekday() - _WEEKDAYS.index(weekday) - 1) % 7 + 1)
        return day, day + _DAY
    spans = {
        "now": (now, now),
        "today": (today, today + _DAY),
        "yesterday": (today - _DAY, today),
        "this week": (week, week + _WEEK),
        "last week": (week - _WEEK, week),
        "this month": (month, _months_before(month, -1)),
        "last month": (_months_before(month, 1), month),
    }
    moment = _some_time_ago(words, now)
    return spans.get(words) or (None if moment is None else (moment, moment))


def _some_time_ago(words: str, now: datetime) -> datetime | None:
    short = words.removeprefix("-")
    number = short.rstrip("abcdefghijklmnopqrstuvwxyz")
    if unit := _SHORT.get(short[len(number) :]):
        return _before(now, number.rstrip(), unit)
    match short.split(" "):
        case [number, unit, "ago"] | ["last", number, unit] | [number, unit]:
            return _before(now, "1" if number in ("a", "an") else number, unit.removesuffix("s"))
    return None


def _before(now: datetime, number: str, unit: str) -> datetime | None:
    if not (number.isascii() and number.isdigit() and len(number) <= 9):
        return None
    if unit == "month":
        return _months_before(now, int(number))
    return now - int(number) * _LENGTHS[unit] if unit in _LENGTHS else None


def _months_before(moment: datetime, months: int) -> datetime:
    """The same day of an earlier month, or that month's last day."""
    year, month = divmod(moment.year * 12 + moment.month - 1 - months, 12)
    first = moment.replace(year=year, month=month + 1, day=1)
    following = (first + timedelta(days=31)).replace(day=1)
    return first.replace(day=min(moment.day, (following - timedelta(days=1)).day))
