"""The terms of a query: how rare each is, where it occurs, and its related words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..domain.arrays import np
from ..domain.words import Unit
from .wordpiece import VOCABULARY

if TYPE_CHECKING:
    from numpy.typing import NDArray

Length = TypeVar("Length", float, "NDArray[np.float64]")

SATURATION = 1.0  # BM25's k1
LENGTH_SHARE = 0.55  # BM25's b
TYPICAL_LENGTH = 900  # characters of a message of a coding conversation
TYPICAL_LENGTH_ALONE = 150  # of a text without neighbours, such as a note

_ENDINGS = ("ations", "ation", "ments", "ment", "ings", "ing", "ies", "ied", "ions", "ion", "ers", "er", "ed", "es", "ly", "s", "e", "y")  # fmt: skip
_SHORTEST_STEM = 4


class Term(NamedTuple):
    """A word or a phrase of the query."""

    unit: Unit
    rarity: float
    """Inverse document frequency: how much it says that a text has it."""
    is_rare_name: bool = False
    """True if it is spelled like an identifier, a version, a hash or a path, and occurs in few texts: a query with
    it means exactly this thing."""


def rarity(frequency: int, store_size: int) -> float:
    without = max(store_size - frequency, 0)
    return math.log(1 + (without + 0.5) / (frequency + 0.5))


@lru_cache(maxsize=1)
def _commonness() -> dict[str, int]:
    """The place of each word in the model's vocabulary, which has the commonest first."""
    return {word: place for place, word in enumerate(VOCABULARY.read_text("utf-8").split("\n"), 1)}


def guessed_rarity(words: Sequence[str]) -> float:
    """About how rare a unit is in any text, before the store is asked; a word that the vocabulary lacks is rarest."""
    places = _commonness()
    return max(math.log(places.get(word, len(places))) for word in words)


def bm25(count: float | Length, length: Length) -> Length:
    """The BM25 weight of a word that occurs `count` times in a text; `length` is relative to the mean length."""
    return count * (SATURATION + 1) / (count + SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length))


def stem(word: str) -> str:
    """The common beginning of a word's forms; precise enough to count occurrences in texts that the index returned."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def is_name(piece: str) -> bool:
    """Return whether a piece of a query is spelled like an identifier: `useAuth`, `a87a7777`, `v1.2`,
    `def.execute`, `AUTH-12`, `NODE_ENV`."""
    core = piece.strip(".,:;!?()[]{}<>\"'`*")
    if len(core) < 3:
        return False
    has_digit, has_letter = any(c.isdigit() for c in core), any(c.isalpha() for c in core)
    inner = core[1:-1]
    return (
        (has_digit and has_letter)
        or "_" in inner
        or "/" in inner
        or "::" in inner
        or ("." in inner and has_letter and not core.endswith("."))
        or any(a.islower() and b.isupper() for a, b in pairwise(core))
    )


def names_in(query: str) -> list[str]:
    return [piece for piece in query.split() if is_name(piece)]
