"""Words that mean nearly the same as a word of the query, so that a text is found before it has its vector.

The table is made once from the embedding model, by scripts/make_related_words.py. Looking a word up takes no model.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..domain.arrays import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

TABLE = Path(__file__).with_name("related_words.npz")
MOST_RELATED = 12
NO_WORD = 65_535
MOST_KNOWN_WORDS = 1_000  # of recent queries


class _Table(NamedTuple):
    words: list[str]
    number: dict[str, int]
    neighbours: NDArray[np.uint16]
    similarities: NDArray[np.uint8]


@lru_cache(maxsize=1)
def _table() -> _Table:
    with np.load(TABLE) as arrays:
        words = arrays["words"].tobytes().decode("ascii").split("\n")
        number = {word: place for place, word in enumerate(words)}
        return _Table(words, number, arrays["neighbours"], arrays["similarities"])


def table_words() -> Collection[str]:
    """Words that documentation of programs uses often."""
    return _table().number.keys()


@lru_cache(maxsize=MOST_KNOWN_WORDS)
def related_words(word: str) -> Mapping[str, float]:
    """The words nearest to a word with their similarity, the nearest first; none if the table does not have the word."""
    table = _table()
    place = table.number.get(word)
    if place is None:
        return {}
    neighbours, similarities = table.neighbours[place].tolist(), table.similarities[place].tolist()
    return {
        table.words[other]: similarity / 255
        for other, similarity in zip(neighbours, similarities, strict=True)
        if other != NO_WORD
    }
