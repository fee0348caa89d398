"""How pages write short texts and draw numbers."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.web.charts import axis
from backstory.web.passages import inline, passage, passage_line
from backstory.web.rendering import hue, in_two


@pytest.mark.parametrize(
    ("text", "words", "html"),
    [
        ("run `bun test` **first**", (), "run <code>bun test</code> <strong>first</strong>"),
        ("a ` alone and ** too", (), "a ` alone and ** too"),
        ("`<b>` & more", (), "<code>&lt;b&gt;</code> &amp; more"),
        (
            "**`a.py`** is *new*, see [the docs](https://x.org)",
            (),
            "<strong><code>a.py</code></strong> is <em>new</em>, see <span>the docs</span>",
        ),
        ("*.md and *.py, 2 * 3 * 4", (), "*.md and *.py, 2 * 3 * 4"),
        ("use `tests` here", ("test",), "use <code><mark>tests</mark></code> here"),
    ],
)
def test_code_and_bold_of_a_short_text_are_shown_as_such(
    text: str, words: tuple[str, ...], html: str
) -> None:
    assert inline(text, words) == html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("## Summary\nAll is done.", "<strong>Summary</strong>\nAll is done."),
        ("- one\n  * two\n- [x] three\n- [ ] four", "• one\n• two\n☑ three\n☐ four"),
        ("```py\nx = '<b>'\n```\nThen.", "<code>x = &#39;&lt;b&gt;&#39;</code>\nThen."),
        ("…end of code\n```\nThen.", "<code>…end of code</code>\nThen."),
        ("> quoted <i>\n\n---\nafter", "quoted &lt;i&gt;\nafter"),
        ("…twice** and once", "…twice and once"),
        ("and **thrice…", "and thrice…"),
        ("…true` masks `it`", "…true masks <code>it</code>"),
        ("a ` alone", "a ` alone"),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", "a · b\n1 · 2"),
        ("…of it | `a` | **c** |…", "…of it · <code>a</code> · <strong>c</strong>…"),
        ("run a | b", "run a | b"),
        ("a > b and #5", "a &gt; b and #5"),
    ],
)
def test_a_passage_is_read_as_markdown_as_far_as_it_goes(text: str, html: str) -> None:
    assert passage(text) == html
    assert passage_line(text) == html.replace("\n", " ")


@given(st.text(st.sampled_from("ab *`#>-[]()|~\n…<&_"), max_size=60))
def test_no_passage_becomes_html(text: str) -> None:
    for html in (passage(text, ("a",)), passage_line(text, ("a",))):
        assert "<" not in re.sub(r"</?(?:code|strong|em|span|mark)>", "", html)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("one\n\ntwo\n\nthree", ("one\n\n", "two\n\nthree")),
        ("```\na\n\nb\n```\nc", ("```\na\n\nb", "\n```\nc")),
        ("abcdefghijkl", ("abcdefgh", "ijkl")),
    ],
)
def test_a_long_text_is_parted_between_paragraphs(text: str, parts: tuple[str, str]) -> None:
    assert in_two(text, 8) == parts


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
