"""Short texts and passages of longer ones: simple Markdown of incomplete texts, with the words of a search marked.

A parser needs complete texts, but a passage can begin and end anywhere: in a list, between the marks of a bold word,
inside of code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from markupsafe import Markup, escape

from ..domain.lazy import lazy_pattern
from ..search.terms import stem

_INLINE = lazy_pattern(
    r"`([^`\n]+)`|\*\*([^*\n]+)\*\*|\[([^\]\n]+)\]\([^)\s]+\)|(?<![\w*])\*(?![\s*])([^*\n]+)(?<!\s)\*(?![\w*])"
)
_TAGS = {1: "code", 2: "strong", 3: "span", 4: "em"}
_HEADING = lazy_pattern(r"(?:… ?)?#{1,6}\s+(.+?)\s*#*$")
_BULLET = lazy_pattern(r"(…?\s*)[-*+]\s+(?:\[( |x|X)\]\s+)?(.*)$")
_QUOTE = lazy_pattern(r"^(…?)\s{0,3}>\s?")
_FENCE = lazy_pattern(r"…?\s*(?:```|~~~)")
_RULE = lazy_pattern(r"\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|\|?[-:| ]*-{3,}[-:| ]*)$")
"""Also the line below the names of a table's columns."""

_TABLE_ROW = lazy_pattern(r"(…?\s*)(\|.*?|[^|]+\|.*\|)(\s*…?)")
_CELL_END = lazy_pattern(r"(?<!\\)\|")


def marked(text: str, words: Sequence[str]) -> Markup:
    """The text with every word of the search marked, in any inflection."""
    pattern = _word_pattern(tuple(words))
    if pattern is None:
        return escape(text)
    output, end = Markup(), 0
    for match in pattern.finditer(text):
        output += escape(text[end : match.start()]) + Markup("<mark>{}</mark>").format(match[0])
        end = match.end()
    return output + escape(text[end:])


@lru_cache(maxsize=64)
def _word_pattern(words: tuple[str, ...]) -> re.Pattern[str] | None:
    stems = sorted({re.escape(stem(word.lower())) for word in words if word.strip()}, key=len, reverse=True)
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(stems)})\w*", re.IGNORECASE) if stems else None


def inline(text: str, words: Sequence[str] = ()) -> Markup:
    """A short text with code, bold, emphasis and links as Markdown writes them, and the words of a search marked."""
    output, end = Markup(), 0
    for match in _INLINE.finditer(text):
        output += marked(text[end : match.start()], words)
        number = match.lastindex or 1
        content = marked(match[1], words) if number == 1 else inline(match[number], words)
        output += Markup("<{0}>{1}</{0}>").format(Markup(_TAGS[number]), content)
        end = match.end()
    return output + marked(text[end:], words)


def passage(text: str, words: Sequence[str] = ()) -> Markup:
    """A part of a text, line by line."""
    return Markup("\n").join(_lines(text, words))


def passage_line(text: str, words: Sequence[str] = ()) -> Markup:
    """A part of a text in one line."""
    return Markup(" ").join(_lines(text, words))


def _lines(text: str, words: Sequence[str]) -> Iterator[Markup]:
    """The lines without empty ones and fences; lines of code are marked. A passage that ends a block of code has only
    the second fence."""
    lines = text.split("\n")
    fences = [place for place, line in enumerate(lines) if _FENCE.match(line)]
    is_code = len(fences) == 1 and not lines[fences[0]].strip(" …`~")  # nothing but marks: it ends a block
    for line in lines:
        if _FENCE.match(line):
            is_code = not is_code
        elif is_code and line.strip():
            yield Markup("<code>{}</code>").format(marked(line, words))
        elif line.strip() and not _RULE.match(line):
            yield _line(_QUOTE.sub(r"\1", line, count=1), words)


def _line(line: str, words: Sequence[str]) -> Markup:
    if row := _TABLE_ROW.fullmatch(line.strip()):
        cells = (cell.strip() for cell in _CELL_END.split(row[2]))
        line = row[1] + " · ".join(filter(None, cells)) + row[3]
    if heading := _HEADING.match(line):
        return Markup("<strong>{}</strong>").format(inline(_without_lone_marks(heading[1]), words))
    if bullet := _BULLET.match(line):
        sign = {None: "•", " ": "☐"}.get(bullet[2], "☑")
        return escape(f"{bullet[1].strip()}{sign} ") + inline(_without_lone_marks(bullet[3]), words)
    return inline(_without_lone_marks(line), words)


def _without_lone_marks(line: str) -> str:
    """A passage may begin or end in code or in a bold text: the other mark of it is missing then."""
    for mark in ("`", "**"):
        if line.count(mark) % 2 and (mark == "`" or "`" not in line):
            place = line.find(mark) if line.startswith("…") else line.rfind(mark)
            if line.startswith("…") or line.endswith("…"):
                line = line[:place] + line[place + len(mark) :]
    return line
