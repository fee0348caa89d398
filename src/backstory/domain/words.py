"""Words as search sees them: units of a query, and additional terms of a text.

Both sides must agree. The store's tokenizer splits at everything that is neither letter nor digit, which is enough for
plain words, paths and `user_name`. It cannot split `getUserName`, nor text in scripts without spaces. `indexed_text`
adds those words to the index and `query_units` looks for them."""

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
"""Maximum number of units in a query. Search picks the most significant ones of a longer query."""
MOST_TOGETHER = 16
"""Maximum number of words in a phrase. An index reads all positions of all of them at once."""

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
# Both patterns begin at a rare character, which lets the search skip ahead quickly, and match the rest of the name;
# `_names` adds its beginning. Patterns for whole names take five times as long.
_HUMPED = lazy_pattern(r"[A-Z](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]))[A-Za-z0-9]*")
_SNAKE = lazy_pattern(r"_(?<=[^\W_]_)_*[^\W_]+(?:_+[^\W_]+)*")
_HUMP = lazy_pattern(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_COMPOUND = lazy_pattern(r'"[^"]*"|[^\s"]+')
_WORD = lazy_pattern(r"[^\W_]+")
_ALNUM = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_ASCII = bytes(range(128))


class Unit(NamedTuple):
    """Words that must be adjacent, and the weight of a match. A prefix also matches longer words."""

    words: tuple[str, ...]
    weight: float = 1.0
    is_prefix: bool = False
    is_bonus: bool = False
    """A bonus adds to the score if it matches and costs nothing if it does not."""


def indexed_text(text: str) -> str:
    """Return the text for the index: with spaces around runs of unspaced scripts, and the additional terms at the
    end."""
    terms: list[str] = []
    if not text.isascii() and _UNSPACED_RUN.search(_beyond_ascii(text)):
        text = _UNSPACED_RUN.sub(_SPACED, text)
        terms += [gram for run in _UNSPACED_RUN.findall(text) for gram in _grams(run)]
    terms += [_humps(name) for name in _names(_HUMPED, text)]
    if "_" in text:
        terms += [name.replace("_", "") for name in _names(_SNAKE, text)]
    return f"{text} {' '.join(terms)}" if terms else text


def _beyond_ascii(text: str) -> str:
    """Return the non-ASCII characters of a text.

    Most texts have only a few dashes and arrows, which are quick to search."""
    return text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")


@lru_cache(maxsize=2048)
def _humps(name: str) -> str:
    """Split a camel-case name into words. Cached because code repeats the same names."""
    return " ".join(_HUMP.findall(name))


def _names(rest: re.Pattern[str], text: str) -> list[str]:
    """Return the whole names of which the pattern `rest` matches the remainder."""
    is_humped = rest is _HUMPED
    names = []
    for match in rest.finditer(text):
        start, end = match.span()
        while start and ((letter := text[start - 1]) in _ALNUM or (not is_humped and letter.isalnum())):
            start -= 1
        names.append(text[start:end])
    return names


def query_units(query: str, most: int = MOST_UNITS) -> list[Unit]:
    """Return the first `most` units of a query. Any text is a query; quotes require adjacent words."""
    composed = normalize("NFC", query[:LONGEST_QUERY])  # a separate combining accent would split its word
    compounds = [
        _compound(piece.group()) for piece in _COMPOUND.finditer(_UNSPACED_RUN.sub(_SPACED, composed))
    ]
    plain = [word for words, _ in compounds for word in words]
    wanted = {word for word in plain if word not in STOP_WORDS} or set(plain)
    units: dict[tuple[str, ...], Unit] = {}
    single = (
        unit
        for words, more in compounds
        for unit in (*(Unit((word,)) for word in words if word in wanted), *more)
    )
    for unit in (*single, *_pairs(plain, wanted)):
        units.setdefault(unit.words, unit)
    return list(units.values())[:most]


def _compound(piece: str) -> tuple[tuple[str, ...], tuple[Unit, ...]]:
    """The words of one piece of a query between blanks, and its units of several words or of parts of one.

    `AUTH-1234` has two words, which preferably are adjacent."""
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
    return words, (*units, *(Unit((part,), is_bonus=True) for part in parts))


def _pairs(words: Iterable[str], wanted: set[str]) -> Iterator[Unit]:
    for left, right in pairwise(words):
        if left in wanted and right in wanted:
            yield Unit((left, right), is_bonus=True)


def _grams(run: str, *, whole: bool = True) -> list[str]:
    """Return overlapping pairs of characters.

    `whole` adds the last character alone, which makes every single character a prefix."""
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    return [*pairs, run[-1]] if whole or not pairs else pairs
