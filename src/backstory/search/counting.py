"""The positions and counts of a query's words in the texts of its candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from ..domain.arrays import np
from ..domain.entries import Posting
from ..domain.lazy import lazy_pattern
from ..domain.numbers import SEARCHED, are_among
from ..domain.words import Unit
from .terms import Term, stem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

MOST_PLACES = 100  # occurrences of a word in a text that are checked for a neighbouring word
# the ending of a word, and what parts it from the next; bounded, or each place in a long run of letters would read the rest of it
_BETWEEN = lazy_pattern(r"[^\W_]{0,12}+[\W_]+")


class LoweredTexts(Sequence[str]):
    """Texts in lower case, each made when it is first needed: a third of the candidates are judged by their vectors
    alone."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._lowered: list[str | None] = [None] * len(texts)

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, column: int) -> str: ...
    @overload
    def __getitem__(self, column: slice) -> list[str]: ...
    def __getitem__(self, column: int | slice) -> str | list[str]:
        if isinstance(column, slice):
            return [self[each] for each in range(*column.indices(len(self)))]
        lowered = self._lowered[column]
        if lowered is None:
            lowered = self._lowered[column] = self._texts[column].lower()
        return lowered


class Holders:
    """Finds the entries that contain a unit. It is used for about sixty units, so the entries are marked once."""

    def __init__(self, entry: Ints) -> None:
        self.count = len(entry)
        self._entry = entry
        # the last place is for every number beyond the highest
        self._column = np.full(int(entry.max(initial=0)) + 2, -1, np.int32)
        self._column[entry] = np.arange(len(entry))

    def columns(self, posting: Posting) -> Ints:
        """The columns of the entries that contain the unit of a posting, unordered."""
        if len(posting.entries) > SEARCHED * self.count:
            return np.flatnonzero(are_among(self._entry, posting.entries[::-1]))
        columns = self._column.take(posting.entries, mode="clip")
        return columns[columns >= 0].astype(np.int64)


def counts_of(postings: Sequence[Posting], holders: Holders, texts: Sequence[str]) -> Floats:
    """The count of each word in each text.

    The index knows the texts that contain any form of a word; occurrences are counted by the stem of the forms."""
    counts = np.zeros((len(postings), len(texts)))
    for own, posting in zip(counts, postings, strict=True):
        is_word = len(posting.unit.words) == 1
        root = stem(posting.unit.words[0])
        if posting.is_whole or not is_word:
            columns = holders.columns(posting)
            own[columns] = [texts[column].count(root) or 1 for column in columns.tolist()] if is_word else 1
        else:
            own[:] = [text.count(root) for text in texts]
    return counts


def words_together(
    pairs: Sequence[Unit], terms: Sequence[Term], counts: Floats, texts: Sequence[str]
) -> Floats:
    """The pairs that directly follow each other.

    Only texts with both words are searched: the index would read every position of both in the store."""
    rows = {term.unit.words: row for row, term in enumerate(terms)}
    together = np.zeros(len(texts))
    for left, right in (unit.words for unit in pairs):
        if (left,) not in rows or (right,) not in rows:
            continue
        one, other = rows[left,], rows[right,]
        weight = min(terms[one].rarity, terms[other].rarity)
        roots = stem(left), stem(right)
        for column in np.flatnonzero((counts[one] > 0) & (counts[other] > 0)).tolist():
            together[column] += weight * _stand_together(texts[column], *roots)
    return together


def _stand_together(text: str, left: str, right: str) -> bool:
    """Return whether one word directly follows the other, in any of their forms, also within a name such as
    `getUser`."""
    place = text.find(left)
    if place < 0:  # a match without the words in its text has them in its key and tags
        return right not in text
    for _ in range(MOST_PLACES):
        end = place + len(left)
        between = _BETWEEN.match(text, end)
        if text.startswith(right, end) or (between is not None and text.startswith(right, between.end())):
            return True
        if (place := text.find(left, end)) < 0:
            break
    return False
