"""Times are UTC and whole milliseconds."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.domain.errors import InvalidInput
from backstory.domain.when import from_ms, iso, parse_until, parse_when, to_ms, utc_now

NOW = datetime(2026, 3, 31, 15, 30, tzinfo=UTC)


@given(st.integers(to_ms(datetime(1, 1, 2, tzinfo=UTC)), to_ms(datetime(9999, 12, 30, tzinfo=UTC))))
def test_milliseconds_and_moments_are_the_same_thing(milliseconds: int) -> None:
    moment = from_ms(milliseconds)
    assert moment.utcoffset() == timedelta(0)
    assert to_ms(moment) == milliseconds


def test_now_is_a_whole_millisecond_in_utc() -> None:
    now = utc_now()
    assert now.utcoffset() == timedelta(0)
    assert now.microsecond % 1000 == 0
    assert from_ms(to_ms(now)) == now


@pytest.mark.requirement("server.times")
@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 3, 1, 9, 30, tzinfo=UTC), "2026-03-01T09:30:00.000Z"),
        (datetime(2026, 3, 1, 9, 30, 5, 7999, tzinfo=UTC), "2026-03-01T09:30:05.007Z"),
        (datetime(2026, 3, 1, 1, 0, tzinfo=timezone(timedelta(hours=2))), "2026-02-28T23:00:00.000Z"),
    ],
)
def test_on_the_wire_times_are_iso_8601_with_milliseconds_and_z(moment: datetime, text: str) -> None:
    assert iso(moment) == text


@pytest.mark.requirement("server.times")
def test_instants_are_compared_not_their_spelling() -> None:
    east = datetime(2026, 3, 1, 11, 30, tzinfo=timezone(timedelta(hours=2)))
    assert to_ms(east) == to_ms(datetime(2026, 3, 1, 9, 30, tzinfo=UTC))


@pytest.mark.requirement("keeper-items.times")
@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-03-01", "2026-03-01T00:00:00.000Z"),
        ("2026-03-01T09:30:00.123456Z", "2026-03-01T09:30:00.123Z"),
        ("2026-03-01T09:30:00+05:30", "2026-03-01T04:00:00.000Z"),
        (" 2026-03-01 09:30 ", "2026-03-01T09:30:00.000Z"),
        ("now", "2026-03-31T15:30:00.000Z"),
        ("Today", "2026-03-31T00:00:00.000Z"),
        ("yesterday", "2026-03-30T00:00:00.000Z"),
        ("1 minute ago", "2026-03-31T15:29:00.000Z"),
        ("2 hours ago", "2026-03-31T13:30:00.000Z"),
        ("an hour ago", "2026-03-31T14:30:00.000Z"),
        ("30 days ago", "2026-03-01T15:30:00.000Z"),
        ("30 days", "2026-03-01T15:30:00.000Z"),
        ("-30 days", "2026-03-01T15:30:00.000Z"),
        ("last 30 days", "2026-03-01T15:30:00.000Z"),
        ("2  weeks  ago", "2026-03-17T15:30:00.000Z"),
        ("1 month ago", "2026-02-28T15:30:00.000Z"),
        ("13 months ago", "2025-02-28T15:30:00.000Z"),
        ("this week", "2026-03-30T00:00:00.000Z"),
        ("last week", "2026-03-23T00:00:00.000Z"),
        ("this month", "2026-03-01T00:00:00.000Z"),
        ("last month", "2026-02-01T00:00:00.000Z"),
        ("-7d", "2026-03-24T15:30:00.000Z"),
        ("-90m", "2026-03-31T14:00:00.000Z"),
        ("-12h", "2026-03-31T03:30:00.000Z"),
        ("-2w", "2026-03-17T15:30:00.000Z"),
        ("-1mo", "2026-02-28T15:30:00.000Z"),
    ],
)
def test_a_time_is_written_as_iso_or_in_words(text: str, meant: str) -> None:
    assert iso(parse_when(text, NOW)) == meant


@pytest.mark.requirement("keeper-items.times")
@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "soon",
            "ago",
            "null",
            "1234567890",
            "2026-13-01",
            "-7",
            "-d",
            "-7y",
            "3 years ago",
            "five days ago",
        ),
        *("999999999 months ago", "99999999 days ago", "0001-01-01T00:00+14:00", "9" * 10_000 + " days ago"),
    ],
)
def test_anything_else_is_an_error_that_names_the_argument(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not a time") as caught:
        parse_when(text, NOW, field="createdAfter")
    assert caught.value.field == "createdAfter"


@given(st.text())
def test_no_text_is_a_surprise(text: str) -> None:
    with suppress(InvalidInput):
        assert parse_when(text, NOW).utcoffset() == timedelta(0)


@pytest.mark.requirement("backstory.times")
@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026-03-01", "2026-03-01", "2026-03-02"),
        ("2026-03-01T09:30", "2026-03-01T09:30", "2026-03-01T09:30"),
        ("7d", "2026-03-24T15:30", "2026-03-24T15:30"),
        ("3mo", "2025-12-31T15:30", "2025-12-31T15:30"),
        ("2 weeks ago", "2026-03-17T15:30", "2026-03-17T15:30"),
        ("yesterday", "2026-03-30", "2026-03-31"),
        ("Last Tuesday", "2026-03-24", "2026-03-25"),
        ("on monday", "2026-03-30", "2026-03-31"),
        ("wednesday", "2026-03-25", "2026-03-26"),
        ("last week", "2026-03-23", "2026-03-30"),
        ("last month", "2026-02-01", "2026-03-01"),
        ("this month", "2026-03-01", "2026-04-01"),
    ],
)
def test_an_end_is_that_of_the_day_or_week_that_is_named(text: str, start: str, end: str) -> None:
    def moment(written: str) -> datetime:
        return datetime.fromisoformat(written).replace(tzinfo=UTC)

    assert (parse_when(text, NOW), parse_until(text, NOW)) == (moment(start), moment(end))
