"""Hours of the day in which others may wait."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from backstory.domain.hours import DailyHours


def at(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 3, day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "now", "start", "end"),
    [
        ("02:00-04:00", at(1, 1), at(1, 2), at(1, 4)),
        ("02:00-04:00", at(1, 2), at(1, 2), at(1, 4)),
        ("02:00-04:00", at(1, 3, 59), at(1, 2), at(1, 4)),
        ("02:00-04:00", at(1, 4), at(2, 2), at(2, 4)),
        ("23:30-01:00", at(1, 0, 30), at(1, 23, 30) - timedelta(days=1), at(1, 1)),
        ("23:30-01:00", at(1, 2), at(1, 23, 30), at(2, 1)),
        ("always", at(1, 2), at(1, 0), at(2, 0)),
    ],
)
def test_the_span_around_a_time_is_the_present_or_the_next_one(
    text: str, now: datetime, start: datetime, end: datetime
) -> None:
    hours = DailyHours.parse(text)
    assert hours.around(now) == (start, end)
    assert hours.around(now.astimezone(timezone(timedelta(hours=5)))) == (start, end)
    assert hours.contain(now) == (start <= now)


@pytest.mark.parametrize("text", ["", "2-4", "02:00", "24:00-25:00", "02:60-03:00", "never"])
def test_other_texts_are_no_hours(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        DailyHours.parse(text)
