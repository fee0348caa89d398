"""A text with marks on foreign words, and access to its lines, paragraphs and sentences."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import NamedTuple

from ..lazy import lazy_pattern

QUOTED_WORDS = 4  # a shorter quotation is a name or a term, and part of the speaker's sentence
LIST_ITEM = lazy_pattern(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?=\S)")
_SENTENCE = lazy_pattern(
    r"(?:[ \t]*\d{1,3}[.)][ \t]+)?[^\n]+?(?:[.!?\u3002\uff01\uff1f][\"')\u201d\u2019*_]{0,3}(?=\s|$)|(?=\n|\Z))"
)

_LINE = lazy_pattern(r"[^\n]+|(?<=\n)(?=\n)")
_RUN = lazy_pattern(rb"\x00+|\x01+|\x02+|\x03+")
"""A run of characters with the same Provenance."""


class Provenance(IntEnum):
    OWN = 0
    QUOTED = 1
    """Marked as another person's words or as code: quotation marks, block quotes, fences, wrapping elements."""
    PASTED = 2
    """A log, document, chat, e-mail or terminal output without quotation marks."""
    RELAYED = 3
    """Reported speech, as in "The README says that …"."""


class Segment(NamedTuple):
    start: int
    end: int
    provenance: Provenance


class Ground:
    """A text in which foreign parts are marked. Marks are never removed."""

    def __init__(self, text: str, *, is_user: bool, wanted: tuple[int, int] | None = None) -> None:
        """`wanted` are the positions between which marks are needed; by default everywhere."""
        self.text = text
        self.is_user = is_user
        self.wanted = wanted or (0, len(text))
        # One byte for each character: markers overlap in every way, and spans would have to be merged each time.
        self._marks = bytearray(len(text))
        self.lines = [line.span() for line in _LINE.finditer(text)]
        self._starts = [start for start, _ in self.lines]

    def mark(self, start: int, end: int, provenance: Provenance) -> None:
        self._marks[start:end] = bytes([provenance]) * (end - start)

    def mark_rest(self, start: int, provenance: Provenance = Provenance.PASTED) -> None:
        self.mark(start, len(self.text), provenance)

    def is_own(self, start: int, end: int | None = None) -> bool:
        if end is None:
            return start >= len(self._marks) or not self._marks[start]
        return not any(self._marks[start:end])

    def segments(self) -> list[Segment]:
        return [
            Segment(*run.span(), Provenance(self._marks[run.start()])) for run in _RUN.finditer(self._marks)
        ]

    def own_lines(self) -> Iterator[tuple[int, int, str]]:
        """Yield number, start and text of each line that begins with the speaker's own words."""
        for number, (start, end) in enumerate(self.lines):
            if start < end and not self._marks[start]:
                yield number, start, self.text[start:end]

    def first_own_line(self, begins: Callable[[str, int], object]) -> int | None:
        """Return the start of the first own line at which `begins(text, start)` is true.

        A pattern for the start of a line is matched only there; a search would try it at every character."""
        return next(
            (start for start in self._starts if begins(self.text, start) and self.is_own(start)), None
        )

    def line(self, number: int) -> str:
        start, end = self.lines[number] if number < len(self.lines) else (0, 0)
        return self.text[start:end]

    def line_at(self, place: int) -> int:
        return bisect_right(self._starts, place) - 1

    def paragraph_end(self, number: int) -> int:
        """Return the end of the last line before the next blank one."""
        while number + 1 < len(self.lines) and self.line(number + 1).strip():
            number += 1
        return self.lines[number][1]

    def own_paragraphs(self) -> Iterator[tuple[int, int]]:
        """Yield runs of own lines between blank and foreign lines."""
        first = last = -1
        # The last item ends the last paragraph; its number follows no other.
        for number, _, _ in [*((n, s, t) for n, s, t in self.own_lines() if t.strip()), (-9, 0, "")]:
            if first >= 0 and number != last + 1:
                yield self.lines[first][0], self.lines[last][1]
                first = -1
            first, last = (number if first < 0 else first), number

    def sentences(self, start: int, end: int) -> list[tuple[int, int]]:
        return [match.span() for match in _SENTENCE.finditer(self.text, start, end)]

    def mark_quotation(self, start: int, end: int) -> None:
        """Mark a quotation, unless it is a term within a line."""
        quotation = self.text[start:end]
        is_long = "\n" in quotation or len(quotation.split()) >= QUOTED_WORDS
        # A quotation alone on its line is presented, however short it is.
        if is_long or not (line_before(self.text, start) or line_after(self.text, end)):
            self.mark(start, end, Provenance.QUOTED)


def line_before(text: str, place: int) -> str:
    return text[text.rfind("\n", 0, place) + 1 : place].strip(" \t-*+")


def line_after(text: str, place: int) -> str:
    end = text.find("\n", place)
    return text[place : None if end < 0 else end].strip(" \t.,;:!?")
