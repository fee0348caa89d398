"""Colour for code, which may be anything."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup, escape

from backstory.web.colour import coloured, language_of


@pytest.mark.parametrize(
    ("code", "path", "expected"),
    [
        ("return 1  # one", "a.py", "keyword:return number:1 comment:# one"),
        ('"# no comment"', "a.py", 'string:"# no comment"'),
        ("const a = `x`; // b", "a.tsx", "keyword:const string:`x` comment:// b"),
        ("SELECT x -- y", "q.sql", "keyword:SELECT comment:-- y"),
        ('{"a": true}', "x.json", 'string:"a" keyword:true'),
        ("plain words", "notes.txt", ""),
    ],
)
def test_comments_strings_numbers_and_keywords_have_a_class(code: str, path: str, expected: str) -> None:
    html = coloured(code, language_of(path))
    found = [f"{kind}:{Markup(text).unescape()}" for kind, text in re.findall(r'c-(\w+)">(.*?)</span>', html)]
    assert " ".join(found) == expected


def test_a_text_over_several_lines_is_closed_at_the_end_of_each() -> None:
    assert coloured('"""a\nb"""', "py").split("\n") == [
        '<span class="c-string">&#34;&#34;&#34;a</span>',
        '<span class="c-string">b&#34;&#34;&#34;</span>',
    ]


@given(st.text(), st.sampled_from(["py", "js", "sql", "html", "sh", "nothing"]))
def test_colour_adds_nothing_but_spans(text: str, language: str) -> None:
    html = coloured(text, language)
    assert re.sub(r'<span class="c-\w+">|</span>', "", html) == str(escape(text))
