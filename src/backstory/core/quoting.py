"""Quotations of people and assistants as one line of a record: plain, short, and unable to end the record around them."""

from __future__ import annotations

import re

from ..domain.lazy import lazy_pattern
from ..domain.lines import one_line
from ..domain.neutral import neutral
from ..domain.provenance import MAX_CHARS

_FENCED = lazy_pattern(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKUP = lazy_pattern(r"^[ \t]*(?:#{1,6}|[-*+|]|\d+[.)])[ \t]+|\*\*|__|`|\\$", re.MULTILINE)
_DIRECTIVE = lazy_pattern(r"::[a-z][\w-]{0,40}\{[^{}\n]{0,1000}\}")
"""Directives of an assistant to the app that displays its text, as in `::git-push{branch="main"}`."""
_END = lazy_pattern(r"\s(?:(?<=[.!?].)\s*|(?<=\n)\n*)", re.DOTALL)
"""Blanks after the sign that ends a sentence, or newlines. A blank comes first, since the search for one is fast."""
_LINK = lazy_pattern(r"\[([^\[\]\n]{1,200})\]\([^()\s]{1,500}\)")
_TAG = lazy_pattern(r"</?[a-z][\w-]{0,40}(?:\s[^<>\n]{0,200})?/?>", re.IGNORECASE)


def plain(text: str) -> str:
    """Prose without markup and code blocks. The mark of a block quote stays, because it shows whose words follow."""
    text = text[:MAX_CHARS]
    # most texts have neither, and to look for a sign takes a small part of the time
    text = _FENCED.sub("\n", text) if "```" in text else text
    text = _TAG.sub(" ", text) if "<" in text else text
    text = _DIRECTIVE.sub("", text) if "::" in text else text
    text = _LINK.sub(r"\1", text) if "](" in text else text
    return _MARKUP.sub("", text)


def sentences(text: str) -> list[str]:
    return [sentence for part in _END.split(plain(text)) if (sentence := " ".join(part.split()))]


def quote(text: str, longest: int) -> str:
    """The text on one line, without opening angle brackets, so that it cannot contain a tag."""
    return one_line(neutral(plain(text)), longest).replace("<", "\u2039")
