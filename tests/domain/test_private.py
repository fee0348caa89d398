"""Passages that are marked as private."""

from __future__ import annotations

import pytest

from backstory.domain.private import without_private


@pytest.mark.parametrize(
    ("text", "public"),
    [
        ("one <private>two</private> three", "one  three"),
        ("one <PRIVATE>two</Private > three", "one  three"),
        ("one <private>two\n\nthree", "one "),
        ("<private>a<private>b</private>c</private>d", "d"),
        ("<private>a<private>b</private>c", ""),
        ("a<private>b</private>c<private>d</private>e", "ace"),
        ("a </private> b", "a </private> b"),
        ("<privateer>a</privateer>", "<privateer>a</privateer>"),
    ],
)
def test_a_passage_is_cut_whether_closed_nested_or_neither(text: str, public: str) -> None:
    assert without_private(text).text == public


def test_a_tag_in_code_is_code() -> None:
    fenced = "Look:\n```xml\n<private>key</private>\n```\nand `<private>` too"
    assert without_private(fenced).text == fenced


def test_a_fence_inside_a_passage_goes_with_it() -> None:
    text = "<private>\n```\nsecret\n```\n</private>\nafter\n```\n<private>\n```"
    assert without_private(text).text == "\nafter\n```\n<private>\n```"


def test_a_fence_that_is_never_closed_hides_no_tag() -> None:
    assert without_private("```\n<private>secret</private> x").text == "```\n x"
