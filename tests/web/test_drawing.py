"""How pages write short texts and draw numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.web.charts import axis
from backstory.web.rendering import hue, inline


@pytest.mark.parametrize(
    ("text", "words", "html"),
    [
        ("run `bun test` **first**", (), "run <code>bun test</code> <strong>first</strong>"),
        ("a ` alone and ** too", (), "a ` alone and ** too"),
        ("`<b>` & more", (), "<code>&lt;b&gt;</code> &amp; more"),
        ("use `tests` here", ("test",), "use <code><mark>tests</mark></code> here"),
    ],
)
def test_code_and_bold_of_a_short_text_are_shown_as_such(
    text: str, words: tuple[str, ...], html: str
) -> None:
    assert inline(text, words) == html


@given(st.floats(0.001, 1e12), st.booleans())
def test_an_axis_has_a_few_values_at_equal_distances(most: float, is_whole: bool) -> None:
    most = float(round(most) or 1) if is_whole else most
    drawn = axis(most, is_whole=is_whole)
    ticks = drawn["ticks"]
    assert 1 <= len(ticks) <= 4
    assert ticks[-1] <= drawn["top"] * (1 + 1e-9)
    assert ticks == pytest.approx([ticks[0] * number for number in range(1, len(ticks) + 1)])
    assert not is_whole or ticks[0] == int(ticks[0])


def test_nothing_to_draw_has_an_axis_without_values() -> None:
    assert axis(0) == {"top": 1, "ticks": []}


def test_the_usual_assistants_have_colours_of_their_own() -> None:
    names = ("claude-code", "codex", "cursor", "copilot", "gemini-cli", "opencode", "cline")
    assert len({hue(name) for name in names}) == len(names)
