"""Sets of entry numbers as arrays that ascend."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from backstory.domain.entries import numbers_of
from backstory.domain.numbers import are_among, common, united

DENSE, SPARSE = (st.sets(st.integers(0, last), max_size=30) for last in (60, 1_000_000))
NUMBERS = DENSE | st.builds(set.union, DENSE, SPARSE)


@given(NUMBERS, NUMBERS)
def test_they_are_what_sets_would_be(one: set[int], other: set[int]) -> None:
    arrays = numbers_of(sorted(one)), numbers_of(sorted(other))
    assert common(*arrays).tolist() == sorted(one & other)
    assert united(*arrays).tolist() == sorted(one | other)


@given(st.lists(st.integers(0, 70)), NUMBERS)
def test_it_is_told_of_each_whether_it_is_there(few: list[int], many: set[int]) -> None:
    assert are_among(numbers_of(few), numbers_of(sorted(many))).tolist() == [each in many for each in few]
