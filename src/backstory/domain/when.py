"""Times are UTC and whole milliseconds, in records, in the store and on the wire."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

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
