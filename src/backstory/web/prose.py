"""Text of memories and messages as HTML that can do nothing: Markdown without HTML, and the words of a search marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from ..search.terms import stem

LONGEST_RENDERED = 8_000
"""Characters; a longer text is a log or a file, and is shown as it is."""


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("js-default", {"html": False, "linkify": False, "breaks": True})
    parser.disable("image")  # it would be asked for elsewhere
    parser.validateLink = lambda url: url.startswith(("https://", "http://"))  # type: ignore[method-assign]  # markdown-it's own way
    parser.add_render_rule("heading_open", _heading)
    parser.add_render_rule("heading_close", lambda *_: "</p>\n")
    parser.add_render_rule("table_open", lambda *_: '<div class="wide" tabindex="0" role="group"><table>\n')
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    parser.add_render_rule("fence", _code)
    parser.add_render_rule("code_block", _code)
    return parser


def _heading(renderer: Any, tokens: Sequence[Any], place: int, options: Any, environment: Any) -> str:
    """Of a message, not of the page: those have an order of their own."""
    return f'<p class="heading {tokens[place].tag}">'


def _code(renderer: Any, tokens: Sequence[Any], place: int, options: Any, environment: Any) -> str:
    token = tokens[place]
    language = token.info.split()[0] if token.info.strip() else ""
    label = f'<span class="language">{escape(language[:20])}</span>' if language else ""
    return f'<div class="code">{label}<pre tabindex="0"><code>{escape(token.content)}</code></pre></div>\n'


def markdown(text: str) -> Markup:
    if len(text) > LONGEST_RENDERED:
        return plain(text)
    return Markup(_parser().render(text))


def plain(text: str) -> Markup:
    return Markup('<div class="plain">{}</div>').format(text)


def marked(text: str, words: Sequence[str]) -> Markup:
    """The text with every word of the search marked, whatever its ending."""
    stems = sorted({re.escape(stem(word.lower())) for word in words if word.strip()}, key=len, reverse=True)
    if not stems:
        return escape(text)
    pattern = re.compile(rf"(?<![^\W_])(?:{'|'.join(stems)})\w*", re.IGNORECASE)
    shown, end = Markup(), 0
    for found in pattern.finditer(text):
        shown += escape(text[end : found.start()]) + Markup("<mark>{}</mark>").format(found[0])
        end = found.end()
    return shown + escape(text[end:])
