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
            "2026-13",
            "-7",
            "-d",
            "-7y",
            "40 May",
            "today's",
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
        ("two weeks ago", "2026-03-17T15:30", "2026-03-17T15:30"),
        ("a couple of hours ago", "2026-03-31T13:30", "2026-03-31T13:30"),
        ("3 years ago", "2023-03-31T15:30", "2023-03-31T15:30"),
        ("the past week", "2026-03-24T15:30", "2026-03-31T15:30"),
        ("last three days", "2026-03-28T15:30", "2026-03-31T15:30"),
        ("last friday", "2026-03-27", "2026-03-28"),
        ("in march", "2026-03-01", "2026-04-01"),
        ("December", "2025-12-01", "2026-01-01"),
        ("March 2025", "2025-03-01", "2025-04-01"),
        ("2025-03", "2025-03-01", "2025-04-01"),
        ("2025", "2025-01-01", "2026-01-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("3rd of March", "2026-03-03", "2026-03-04"),
        ("on March 3, 2025", "2025-03-03", "2025-03-04"),
        ("over the weekend", "2026-03-28", "2026-03-30"),
        ("this morning", "2026-03-31", "2026-04-01"),
        ("the day before yesterday", "2026-03-29", "2026-03-30"),
        ("between 1 March and yesterday", "2026-03-01", "2026-03-31"),
        ("gestern", "2026-03-30", "2026-03-31"),
        ("昨天", "2026-03-30", "2026-03-31"),
    ],
)
def test_an_end_is_that_of_the_day_or_week_that_is_named(text: str, start: str, end: str) -> None:
    def moment(written: str) -> datetime:
        return datetime.fromisoformat(written).replace(tzinfo=UTC)

    assert (parse_when(text, NOW), parse_until(text, NOW)) == (moment(start), moment(end))


def test_a_time_that_is_open_on_one_side_bounds_the_other_alone() -> None:
    march = datetime(2026, 3, 1, tzinfo=UTC)
    assert parse_when("since march", NOW) == parse_until("before march", NOW) == march
    assert parse_when("after february", NOW) == parse_until("until february", NOW) == march
    with pytest.raises(InvalidInput, match="since 'before march' has no beginning"):
        parse_when("before march", NOW, field="since")
    with pytest.raises(InvalidInput, match="until 'since march' has no end"):
        parse_until("since march", NOW, field="until")
