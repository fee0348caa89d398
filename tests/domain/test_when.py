"""Times are UTC and whole milliseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.domain.when import from_ms, iso, to_ms, utc_now


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
