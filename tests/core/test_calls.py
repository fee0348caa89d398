"""One call: progress and withdrawal."""

from __future__ import annotations

import pytest

from backstory.core.calls import Call, Cancelled


def test_a_call_goes_on_until_it_is_withdrawn() -> None:
    withdrawn = False
    call = Call(is_cancelled=lambda: withdrawn)
    call.raise_if_cancelled()
    withdrawn = True
    with pytest.raises(Cancelled):
        call.raise_if_cancelled()


def test_a_call_that_nobody_watches_reports_to_nobody() -> None:
    call = Call()
    call.progress(1, 2, "half")
    call.raise_if_cancelled()
