"""The passage of a long text that shows why it was found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..domain.lazy import lazy_pattern
from .terms import stem

PASSAGE_CHARS = 220
_BORDER = lazy_pattern(r"\n|(?<=[.!?:;])\s|(?<=[。！？])")


class Passage(NamedTuple):
    text: str
    start: int
    is_whole: bool


def best_passage(text: str, words: Sequence[str], size: int = PASSAGE_CHARS) -> Passage:
    """The passage around the place with most of the words; `…` marks cuts. Line breaks stay, so that code is
    readable."""
    text = text.strip()
    if len(text) <= size:
        return Passage(text, 0, is_whole=True)
    start = _start(text, _densest(text.lower(), words, size), size)
    end = min(start + size, len(text))
    passage = text[start:end]
    return Passage(
        f"{'…' if start else ''}{passage.strip()}{'…' if end < len(text) else ''}", start, is_whole=False
    )


def _densest(text: str, words: Sequence[str], size: int) -> int:
    """The beginning of the stretch with most different words; longer words count more."""
    places = sorted((place, word) for word in set(map(stem, words)) for place in _places(text, word))
    best, where, first = 0, 0, 0
    occurrences: dict[str, int] = {}
    weight = 0
    for place, word in places:
        occurrences[word] = occurrences.get(word, 0) + 1
        weight += len(word) if occurrences[word] == 1 else 0
        while places[first][0] < place - size * 2 // 3:
            gone = places[first][1]
            occurrences[gone] -= 1
            weight -= len(gone) if occurrences[gone] == 0 else 0
            first += 1
        if weight > best:
            best, where = weight, places[first][0]
    return where


def _places(text: str, word: str) -> Iterator[int]:
    """Positions where the text occurs at the beginning of a word."""
    place = text.find(word)
    while place >= 0:
        if not place or not text[place - 1].isalnum():
            yield place
        place = text.find(word, place + 1)


def _start(text: str, place: int, size: int) -> int:
    """A little before the first word, at the beginning of a line or sentence if one is near."""
    earliest = max(min(place - size // 4, len(text) - size), 0)
    if not earliest:
        return 0
    borders = [match.end() for match in _BORDER.finditer(text, earliest, place + 1) if match.end() <= place]
    if borders:
        return borders[0]
    blank = text.find(" ", earliest, place)
    return blank + 1 if blank >= 0 else earliest
