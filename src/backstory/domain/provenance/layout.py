"""Layout that marks text as a quotation or as code: fences, elements, block quotes."""

from __future__ import annotations

import re

from ..lazy import lazy_pattern
from .ground import LIST_ITEM, Ground, Provenance, line_after, line_before

_FENCE = lazy_pattern(
    r"^[ \t>]*(?:[-*+] +)?(`{3,}|~{3,}|\"{3}|'{3})[\s\S]*?(?:^[ \t>]*\1|\1[ \t]*$|\Z)", re.MULTILINE
)
_COMMENT = lazy_pattern(
    r"<!--.*?(?:-->|\Z)|^[ \t]*/\*.*?(?:\*/|\Z)|^[ \t]*(?://|;;|--[ \t])[^\n]*", re.DOTALL | re.MULTILINE
)
_BBCODE = lazy_pattern(
    r"\[([a-z]\w{1,20})(?:[= ][^\]\n]{0,200})?\].{0,20000}?\[/\1\]", re.DOTALL | re.IGNORECASE
)
_QUOTING = (
    (_FENCE, ("```", "~~~", '"""', "'''")),
    (_COMMENT, ("<!--", "/*", "//", ";;", "-- ", "--\t")),
    (_BBCODE, ("[/",)),
)
"""Patterns, each with characters of which every match contains at least one."""
_TAG = lazy_pattern(r"<(/?)([A-Za-z][\w:.-]{0,60})((?:\s[^<>]{0,500})?)>")
_OWN_ELEMENTS = frozenset(
    ("task", "feedback", "user_message", "answer", "user_query", "user_request", "command-args")
)
"""Elements in which clients wrap a person's own words."""
_VOID_ELEMENTS = frozenset(
    [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr", "p",
        "li", "td", "th", "tr", "dt", "dd",
    ]
)  # fmt: skip
"""HTML elements that need no closing tag."""


def mark_fences(ground: Ground) -> None:
    for pattern, signs in _QUOTING:
        # A search for one character is much faster than the pattern, and most messages have no fence.
        if not any(sign in ground.text for sign in signs):
            continue
        for match in pattern.finditer(ground.text):
            if ground.is_own(match.start()):
                ground.mark(*match.span(), Provenance.QUOTED)


def mark_elements(ground: Ground) -> None:
    """Mark closed elements, and elements that open a line and are never closed.

    The latter extend to the end of the text."""
    opened: dict[str, list[re.Match[str]]] = {}
    for tag in _TAG.finditer(ground.text):
        name = tag[2].lower()
        if name in _OWN_ELEMENTS or tag[3].endswith("/") or not ground.is_own(tag.start()):
            continue
        if not tag[1]:
            opened.setdefault(name, []).append(tag)
        elif opened.get(name):
            # Only the outermost pair counts: nested elements of the same name lie inside it.
            first = opened[name].pop()
            if not opened[name]:
                ground.mark_quotation(first.start(), tag.end())
    for name, (first, *_) in ((name, tags) for name, tags in opened.items() if tags):
        if name not in _VOID_ELEMENTS and _wraps(ground.text, first) and ground.is_own(first.start()):
            ground.mark(first.start(), len(ground.text), Provenance.QUOTED)


def _wraps(text: str, opening: re.Match[str]) -> bool:
    """True if a tag opens a line like a wrapper: alone on the line, or with attributes."""
    return not line_before(text, opening.start()) and (
        "=" in opening[3] or not line_after(text, opening.end())
    )


_BLOCK_QUOTE = lazy_pattern(
    r"[ \t]*(?:(?:[-*+]|\d{1,3}[.)]) +)?(?:>|&gt;|\uff1e|\u2502|\u258c|\u2503|<?@?[\w.-]{1,30}>[ \t]+(?=\S))"
)
"""Also matches a name before or inside the sign, as in chats: `bob> …`, `<bob> …`."""
_BLOCK_QUOTE_SIGNS = (">", "&gt;", "\uff1e", "\u2502", "\u258c", "\u2503")
_BLOCK_START = lazy_pattern(r"[ \t]*(?:#{1,6} |[-*+] |\d{1,3}[.)] |`{3}|~{3}|\|)")


def mark_block_quotes(ground: Ground) -> None:
    """Mark block quotes, including lines of the paragraph that continue without the sign, as in Markdown."""
    if not any(sign in ground.text for sign in _BLOCK_QUOTE_SIGNS):
        return
    is_quote = False
    for number, (start, end) in enumerate(ground.lines):
        line = ground.line(number)
        if _BLOCK_QUOTE.match(line):
            is_quote = True
        elif not line.strip() or _BLOCK_START.match(line):
            is_quote = False
        if is_quote:
            ground.mark(start, end, Provenance.QUOTED)


def mark_indented_code(ground: Ground) -> None:
    if "    " not in ground.text and "\t" not in ground.text:
        return
    is_code = is_list = False
    is_after_blank = True
    for number, (start, end) in enumerate(ground.lines):
        line = ground.line(number)
        if line.strip():
            is_indented = line.startswith(("    ", "\t"))
            is_list = bool(LIST_ITEM.match(line)) if not is_indented else is_list
            # Indented lines under a list item continue the item, as in Markdown.
            is_code = is_indented and not is_list and (is_after_blank or is_code)
            if is_code:
                ground.mark(start, end, Provenance.QUOTED)
        is_after_blank = not line.strip()
