"""Topics and the folder names made of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.domain.topics import LONGEST_NAME, LONGEST_TOPIC, REDUNDANT, folder_name, slug, topic_of


@given(st.text())
def test_a_folder_name_is_safe_short_and_stays_what_it_is(text: str) -> None:
    name = folder_name(text)
    assert len(name) <= LONGEST_NAME
    assert not set(name) & set('/\\.:*?"<>| \0')
    assert not name.startswith("-")
    assert not name.endswith(("-", *REDUNDANT))
    assert "--" not in name
    assert folder_name(name) == name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello,  World!", "hello-world"),
        ("Straße № 5", "straße-5"),
        ("cafe\u0301", "café"),
        ("❤️ hearts", "hearts"),
        ("العربية", "العربية"),
        ("---", ""),
    ],
)
def test_slugs(text: str, expected: str) -> None:
    assert slug(text) == expected


def test_a_long_name_ends_with_a_whole_word() -> None:
    assert folder_name("a reasonably long sentence about the configuration of things") == (
        "a-reasonably-long-sentence-about-the-configuration"
    )
    assert folder_name("x" * 90) == "x" * LONGEST_NAME


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["## How do I log in?\nmore"], "How do I log in?"),
        (["Hi!\n\nFix the **build**"], "Fix the **build"),
        (["```\ncode\n```\n- [ ] then this"], "[ ] then this"),
        (["---", "ok", "The second one"], "The second one"),
        (["修"], "修"),
        (["Hi", "Hello!", "ok"], "Hi"),
        (["---", "ok"], "ok"),
        (["", "```\ncode"], ""),
        ([], ""),
    ],
)
def test_the_topic_is_the_first_line_that_says_something(texts: list[str], expected: str) -> None:
    assert topic_of(texts) == expected


@given(st.lists(st.text()))
def test_a_topic_is_one_short_line(texts: list[str]) -> None:
    topic = topic_of(texts)
    assert len(topic) <= LONGEST_TOPIC
    assert topic == " ".join(topic.split())
