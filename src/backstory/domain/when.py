"""Times are UTC and whole milliseconds, in records, in the store and on the wire; callers may write them in words."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from .errors import InvalidInput

Clock = Callable[[], datetime]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def utc_now() -> datetime:
    return from_ms(to_ms(datetime.now(UTC)))


def to_ms(moment: datetime) -> int:
    return (moment - _EPOCH) // _MILLISECOND


def from_ms(milliseconds: int) -> datetime:
    return _EPOCH + milliseconds * _MILLISECOND


def iso(moment: datetime) -> str:
    """`2026-03-01T09:30:00.000Z`"""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


_LENGTHS = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
_SHORT = {"m": "minute", "min": "minute", "h": "hour", "d": "day", "w": "week", "mo": "month"}


def parse_when(text: str, now: datetime, *, field: str | None = None) -> datetime:
    """The instant meant by an ISO date or time, or by words such as `yesterday`, `2 hours ago` or `-7d`.

    A time without an offset is UTC. Days, weeks (from Monday) and months begin at midnight UTC."""
    written = text.strip()
    try:
        moment = _in_words(" ".join(written.lower().split()), now)
        moment = _iso(written) if moment is None else moment
        return from_ms(to_ms(moment))
    except (ValueError, OverflowError):
        shown = written if len(written) <= 60 else f"{written[:60]}…"
        raise InvalidInput(
            f"{field or 'The time'} {shown!r} is not a time.",
            hint='Use an ISO date or time, or words such as "2 hours ago", "yesterday", "last week" or "-7d".',
            field=field,
        ) from None


def _iso(written: str) -> datetime:
    if len(written) > 40 or written[10:11] not in ("", "T", "t", " "):
        raise ValueError(written)
    moment = datetime.fromisoformat(written.upper())
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _in_words(words: str, now: datetime) -> datetime | None:
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    week, month = today - timedelta(days=today.weekday()), today.replace(day=1)
    named = {
        "now": now,
        "today": today,
        "yesterday": today - timedelta(days=1),
        "this week": week,
        "last week": week - timedelta(weeks=1),
        "this month": month,
        "last month": _months_before(month, 1),
    }
    return named.get(words) or _some_time_ago(words, now)


def _some_time_ago(words: str, now: datetime) -> datetime | None:
    if words.startswith("-"):
        number = words[1:].rstrip("abcdefghijklmnopqrstuvwxyz")
        unit = _SHORT.get(words[1 + len(number) :])
        return _before(now, number, unit) if unit else None
    match words.split(" "):
        case [number, unit, "ago"]:
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
