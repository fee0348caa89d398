"""Provenance of the words in a message, to the character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.domain.provenance import (
    ELISION,
    MAX_CHARS,
    Provenance,
    foreign_part,
    own_text,
    segments,
    without_quotations,
)

SIGNS = ("> ", "```\n", "<a>", "</a>", '"', "'", "`", "\n", "\n\n", "# ", "- ", ": ", "says ", "Bob", "10:32", "    ", "we decided. ")  # fmt: skip
texts = st.lists(st.sampled_from(SIGNS) | st.text(max_size=5), max_size=40).map("".join)


def pieces(text: str, role: str = "user") -> list[tuple[str, str]]:
    return [(text[start:end], provenance.name) for start, end, provenance in segments(text, role)]


@given(texts, st.sampled_from(["user", "assistant", "summary"]))
def test_segments_are_the_whole_text_in_its_order(text: str, role: str) -> None:
    assert "".join(piece for piece, _ in pieces(text, role)) == text
    assert set(without_quotations(text)) <= set(text)


def test_each_part_of_a_message_has_its_provenance() -> None:
    text = "Look:\n> We use MD5.\n\nThe wiki says so too. Let's use argon2.\n10:32 INFO start\n"
    assert pieces(text) == [
        ("Look:\n", "OWN"),
        ("> We use MD5.", "QUOTED"),
        ("\n\n", "OWN"),
        ("The wiki says so too.", "RELAYED"),
        (" Let's use argon2.\n", "OWN"),
        ("10:32 INFO start", "PASTED"),
        ("\n", "OWN"),
    ]


def test_a_quotation_inside_a_sentence_leaves_a_gap_and_a_term_does_not() -> None:
    assert (
        own_text('Why does "we trust every host here" stand there?', "user")
        == f"Why does {ELISION} stand there?"
    )
    assert own_text('Rename "tmp" to `work dir`.', "user") == 'Rename "tmp" to `work dir`.'


def test_what_is_longer_than_anybody_types_is_pasted() -> None:
    text = "x" * MAX_CHARS + " we decided"
    assert segments(text, "assistant")[-1] == (MAX_CHARS, len(text), Provenance.PASTED)


def test_words_of_others_are_found_between_two_places() -> None:
    text = "Mine.\n\n> Theirs.\n"
    assert foreign_part(text, "user", 0, 5) is Provenance.OWN
    assert foreign_part(text, "user", 0, len(text)) is Provenance.QUOTED


@given(texts, st.sampled_from(["user", "assistant"]), st.integers(0, 150), st.integers(1, 100))
def test_a_part_has_the_provenance_that_it_has_in_the_whole_text(
    text: str, role: str, start: int, size: int
) -> None:
    end = start + size
    foreign = [
        provenance
        for first, last, provenance in segments(text, role)
        if provenance is not Provenance.OWN and text[max(first, start) : min(last, end)].strip()
    ]
    assert foreign_part(text, role, start, end) is (foreign[0] if foreign else Provenance.OWN)


@pytest.mark.parametrize(
    "sign",
    [
        "(",
        "\u00ab",
        "*",
        "#",
        "<a>",
        "'a ",
        '"',
        "`a",
        "a:\n\n",
        "> a\n",
        "says ",
        "- , ",
        "/*",
        "12:00 ",
        "a\n\n",
    ],
)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_no_text_takes_long(sign: str, role: str) -> None:
    """A pattern that goes back for each character would run for minutes here."""
    assert segments(sign * (MAX_CHARS // len(sign)), role)
