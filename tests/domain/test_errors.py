"""Errors are sentences about this request, with a hint what to do."""

from __future__ import annotations

import pytest

from backstory.domain.errors import BackstoryError, Incompatible, InvalidInput, NotFound, Unavailable


def test_an_error_reads_as_its_message_and_its_hint() -> None:
    error = InvalidInput("limit must be an integer.", hint="Send a number.", field="limit")
    assert str(error) == "limit must be an integer. Send a number."
    assert error.field == "limit"
    assert str(Unavailable("It is busy.")) == "It is busy."


def test_not_found_names_what_was_asked_for() -> None:
    error = NotFound("saved text", "d8e8")
    assert str(error) == "There is no saved text 'd8e8'."
    assert error.kind == "saved text"


@pytest.mark.parametrize("kind", [InvalidInput, Unavailable, Incompatible])
def test_whoever_catches_the_root_catches_all(kind: type[BackstoryError]) -> None:
    with pytest.raises(BackstoryError):
        raise kind("Something happened.")


def test_a_newer_database_is_a_kind_of_unavailable() -> None:
    assert issubclass(Incompatible, Unavailable)
