"""Sets of entry numbers as arrays that ascend."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from backstory.domain.entries import numbers_of
from backstory.domain.numbers import common, united

NUMBERS = st.sets(st.integers(0, 60), max_size=30)


@given(NUMBERS, NUMBERS)
def test_they_are_what_sets_would_be(one: set[int], other: set[int]) -> None:
    arrays = numbers_of(sorted(one)), numbers_of(sorted(other))
    assert common(*arrays).tolist() == sorted(one & other)
    assert united(*arrays).tolist() == sorted(one | other)
