"""The heading of an entry: its searchable words besides the text."""

from __future__ import annotations

from backstory.domain.records import heading

from ..doubles import make_memory, make_messages


def test_a_memory_is_headed_by_key_category_and_tags() -> None:
    assert heading(make_memory("a", key="auth", category="decision", tags=("x", "y"))) == "auth decision x y"
    assert heading(make_memory("a")) == ""


def test_a_message_is_headed_by_speaker_and_day() -> None:
    anonymous, named = make_messages("c", "one")[0], make_messages("c", "one", speaker="Ann")[0]
    assert heading(anonymous) == "01 March 2026"
    assert heading(named) == "Ann 01 March 2026"
