"""Figures of the pages: when they are computed again."""

from __future__ import annotations

import time
from itertools import count

import pytest

from backstory.web.figures import FRESH_S, MAX_UNCHANGED_S, figure

from ..doubles import make_memory
from .conftest import Pages


def test_a_figure_is_computed_again_after_a_minute_in_which_something_was_stored(
    own_pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    core, numbers, start = own_pages.core, count(), time.monotonic()

    def at(seconds: float) -> int:
        monkeypatch.setattr(time, "monotonic", lambda: start + seconds)
        return figure(core, "number", lambda: next(numbers))

    assert [at(0), at(FRESH_S - 1)] == [0, 0]
    assert [at(FRESH_S + 1), at(MAX_UNCHANGED_S - 1)] == [0, 0]
    assert at(MAX_UNCHANGED_S + 1) == 1
    core.engine.store.memories.put([make_memory("new", "The kettle is on.")])
    assert at(MAX_UNCHANGED_S + FRESH_S) == 1
    assert at(MAX_UNCHANGED_S + FRESH_S + 2) == 2
