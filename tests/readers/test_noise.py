"""Text that no person wrote, and data that is not text."""

from __future__ import annotations

import base64

import pytest

from backstory.readers.formats.noise import (
    CLAUDE,
    CODEX,
    MAX_NOISE_CHARS,
    head_and_tail,
    is_injected,
    without_blocks,
    without_payloads,
)


@pytest.mark.parametrize("prefix", [*CLAUDE, *CODEX])
def test_texts_of_the_harness_are_known_by_how_they_begin(prefix: str) -> None:
    prefixes = CLAUDE if prefix in CLAUDE else CODEX
    assert is_injected(f"\n {prefix} and more", prefixes)
    assert not is_injected(f"what does {prefix} mean?", prefixes)


def test_blocks_go_and_what_stands_around_them_stays() -> None:
    text = "before <note>one</note>between<note>two</note> after"
    assert without_blocks(text, ("note",)) == "before between after"


def test_a_block_that_is_not_closed_goes_to_the_end() -> None:
    assert without_blocks("before <note>one", ("note",)) == "before"


@pytest.mark.parametrize("before", ["", "x", "see: ", "a" * 100 + "\n"])
def test_base64_goes_wherever_it_starts(before: str) -> None:
    payload = base64.b64encode(bytes(range(256)) * 4).decode()
    cleaned = without_payloads(f"{before} {payload} after")
    assert cleaned == f"{before}  after"


def test_data_uris_go_however_short() -> None:
    assert without_payloads("![](data:image/png;base64,iVBORw0KGgo=) a logo") == "![]() a logo"


def test_long_words_that_are_not_base64_stay() -> None:
    path = "/" + "-".join(["directory"] * 100)
    chinese = "没有空格的文字" * 200
    assert without_payloads(path) == path
    assert without_payloads(chinese) == chinese


def test_of_a_long_text_head_and_tail_are_kept() -> None:
    text = "cause " + "x" * 5_000 + " effect"
    short = head_and_tail(text)
    assert short.startswith("cause")
    assert short.endswith("effect")
    assert len(short) <= MAX_NOISE_CHARS
    assert head_and_tail("short") == "short"
