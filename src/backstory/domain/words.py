"""Words as search sees them: what a query asks for, and what a text offers besides its plain words.

Both sides must agree. The store's tokenizer splits at everything that is neither letter nor digit, so plain
words, paths and `user_name` need no help. It cannot see inside `getUserName`, nor between the words of
scripts that write none; `indexed_text` adds those to the index and `query_units` asks for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from unicodedata import normalize

from .lazy import lazy_pattern

LONGEST_QUERY = 4_000
MOST_UNITS = 32
"""Words that a query is answered by. Search chooses those of a longer one that say most."""
MOST_TOGETHER = 16
"""Words side by side: an index reads every place of each of them at once."""

STOP_WORDS = frozenset((
    "a", "about", "above", "after", "again", "all", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "could", "did",
    "do", "does", "doing", "down", "during", "each", "few", "for", "from", "further", "had", "has", "have",
    "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its",
    "itself", "just", "me", "more", "most", "my", "no", "nor", "not", "now", "of", "off", "on", "once",
    "only", "or", "other", "our", "out", "over", "own", "same", "she", "should", "so", "some", "such",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "through",
    "to", "too", "under", "until", "up", "very", "was", "we", "were", "what", "when", "where", "which",
    "while", "who", "whom", "why", "will", "with", "would", "you", "your"
))  # fmt: skip

# scripts written without spaces between words: Thai to Myanmar, Khmer, Kana, Han, Hangul
_UNSPACED = (
    "\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
_SPACED = r" \g<0> "
_UNSPACED_RUN = lazy_pattern(f"[{_UNSPACED}\U00020000-\U0003134f]+")
# Both begin with a letter that is rare, so that a text is searched at the speed of a scan for it, and match the rest of
# the name; `_names` adds its beginning. Patterns for whole names take five times as long.
_HUMPED = lazy_pattern(r"[A-Z](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]))[A-Za-z0-9]*")
_SNAKE = lazy_pattern(r"_(?<=[^\W_]_)_*[^\W_]+(?:_+[^\W_]+)*")
_HUMP = lazy_pattern(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_COMPOUND = lazy_pattern(r'"[^"]*"|[^\s"]+')
_WORD = lazy_pattern(r"[^\W_]+")
_ALNUM = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_ASCII = bytes(range(128))


class Unit(NamedTuple):
    """Words that must stand side by side, and how much a match counts. A prefix matches longer words too."""

    words: tuple[str, ...]
    weight: float = 1.0
    is_prefix: bool = False
    is_bonus: bool = False
    """A bonus counts when it is there and is not missed when it is not."""


def indexed_text(text: str) -> str:
    """What the index is given for a text: its words apart from scripts without spaces, and the terms hidden in it."""
    terms: list[str] = []
    if not text.isascii() and _UNSPACED_RUN.search(_beyond_ascii(text)):
        text = _UNSPACED_RUN.sub(_SPACED, text)
        terms += [gram for run in _UNSPACED_RUN.findall(text) for gram in _grams(run)]
    terms += [_humps(name) for name in _names(_HUMPED, text)]
    if "_" in text:
        terms += [name.replace("_", "") for name in _names(_SNAKE, text)]
    return f"{text} {' '.join(terms)}" if terms else text


def _beyond_ascii(text: str) -> str:
    """What is left to look through of a text with a few dashes and arrows is very little."""
    return text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")


@lru_cache(maxsize=2048)
def _humps(name: str) -> str:
    """Code says the same names over and over."""
    return " ".join(_HUMP.findall(name))


def _names(rest: re.Pattern[str], text: str) -> list[str]:
    """The whole names of which a pattern finds the rest."""
    is_humped = rest is _HUMPED
    names = []
    for match in rest.finditer(text):
        start, end = match.span()
        while start and ((letter := text[start - 1]) in _ALNUM or (not is_humped and letter.isalnum())):
            start -= 1
        names.append(text[start:end])
    return names


def query_units(query: str, most: int = MOST_UNITS) -> list[Unit]:
    """What a query asks for, at most the first `most` units. Any text is a query; quotes ask for words side by side."""
    composed = normalize("NFC", query[:LONGEST_QUERY])  # an accent on its own would split its word
    compounds = [
        _compound(piece.group()) for piece in _COMPOUND.finditer(_UNSPACED_RUN.sub(_SPACED, composed))
    ]
    plain = [word for compound in compounds for word in compound.words]
    wanted = {word for word in plain if word not in STOP_WORDS} or set(plain)
    units: dict[tuple[str, ...], Unit] = {}
    for unit in (*_asked(compounds, wanted), *_pairs(compounds, wanted)):
        units.setdefault(unit.words, unit)
    return list(units.values())[:most]


class _Compound(NamedTuple):
    """One blank-separated piece of a query: `AUTH-1234` has two words and a wish to see them together."""

    words: tuple[str, ...]
    units: tuple[Unit, ...]


def _compound(piece: str) -> _Compound:
    runs = _UNSPACED_RUN.findall(piece)
    names = _WORD.findall(_UNSPACED_RUN.sub(" ", piece))
    words = tuple(name.lower() for name in names)
    units = [Unit((gram,), is_prefix=len(run) == 1) for run in runs for gram in _grams(run, whole=False)]
    if len(words) > 1 and not runs:
        units.append(Unit(words[:MOST_TOGETHER]))
        if "_" in piece:
            units += [Unit((name.replace("_", "").lower(),)) for name in _names(_SNAKE, piece)]
    parts = [
        part.lower()
        for name in names
        if _HUMPED.search(name) and name.isascii()
        for part in _HUMP.findall(name)
    ]
    return _Compound(words, (*units, *(Unit((part,), is_bonus=True) for part in parts)))


def _asked(compounds: Iterable[_Compound], wanted: set[str]) -> Iterator[Unit]:
    for compound in compounds:
        yield from (Unit((word,)) for word in compound.words if word in wanted)
        yield from compound.units


def _pairs(compounds: Iterable[_Compound], wanted: set[str]) -> Iterator[Unit]:
    words = [word for compound in compounds for word in compound.words]
    for left, right in pairwise(words):
        if left in wanted and right in wanted:
            yield Unit((left, right), is_bonus=True)


def _grams(run: str, *, whole: bool = True) -> list[str]:
    """Overlapping pairs of characters; `whole` adds the last one alone, so that any single character is a prefix."""
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    return [*pairs, run[-1]] if whole or not pairs else pairs
