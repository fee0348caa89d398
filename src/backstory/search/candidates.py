"""Choose the entries that a search reads: by BM25 over every entry with a word of the query, before any text is read.

Messages, arguments and output of tools, and memories are chosen separately: two thirds of all entries belong to tools
and few are memories, so tools would crowd out the others. The same postings show how well each complete conversation
matches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from ..domain.arrays import np
from ..domain.entries import Passing
from .terms import TYPICAL_LENGTH, bm25

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..domain.entries import Numbers
    from ..store.shapes import Shapes

    Floats = NDArray[np.float64]

SAMPLED = 10  # factor by which more scores are compared first than are needed
CONVERSATION_SATURATION = 4.0  # BM25's k1 for a conversation: a word counts once for each message that has it
CONVERSATION_LENGTH_SHARE = 0.3  # BM25's b


class WeightedWord(NamedTuple):
    """Entries that have a word, and how much the word counts."""

    entries: Numbers
    weight: float


class Quota(NamedTuple):
    """The number of candidates of each kind to read."""

    said: int
    quiet: int
    memories: int

    def times(self, pool: int) -> Quota:
        return Quota(*(most * pool for most in self))


class Candidates(NamedTuple):
    entries: list[int]
    """Spoken messages, then quiet entries, then memories; the best first in each group."""
    is_whole: bool
    """True if these are all entries that contain a word of the query."""


def choose(
    words: Sequence[WeightedWord], shapes: Shapes, passing: Passing | None, quota: Quota
) -> Candidates:
    """The best entries of each kind; among equals the newest first."""
    scores = _sums(words, len(shapes.size))
    if passing is not None:
        scores[: len(passing.flags)] *= passing.flags[: len(scores)]
        scores[len(passing.flags) :] = 0.0
    matching = np.flatnonzero(scores != 0)  # of numbers themselves it takes seven times as long
    facts = _facts_of(shapes)
    scores = scores[matching] * facts.length_factor[matching]
    groups = facts.group[matching]
    chosen: list[int] = []
    for group, most in zip(_GROUPS, quota, strict=True):
        places = np.flatnonzero(groups == group)
        chosen += _best(matching[places], scores[places], most)
    return Candidates(chosen, is_whole=len(matching) == len(chosen))


class _Facts(NamedTuple):
    """Arrays by the number of an entry that do not depend on the query."""

    length_factor: Floats
    """BM25 of one occurrence of a word."""
    group: NDArray[np.int8]
    """One of _GROUPS."""


_GROUPS = _SPOKEN_GROUP, _QUIET_GROUP, _MEMORY_GROUP = range(3)
"""In the order of a Quota."""
_facts: WeakKeyDictionary[Shapes, _Facts] = WeakKeyDictionary()


def _facts_of(shapes: Shapes) -> _Facts:
    """Cached until an entry is added: computed for the tens of thousands that match a query, this took half of choosing."""
    facts = _facts.get(shapes)
    if facts is None:
        group = np.where(
            shapes.is_memory, _MEMORY_GROUP, np.where(shapes.is_quiet, _QUIET_GROUP, _SPOKEN_GROUP)
        )
        facts = _Facts(bm25(1, shapes.size / TYPICAL_LENGTH), group.astype(np.int8))
        _facts[shapes] = facts
    return facts


def _sums(words: Sequence[WeightedWord], size: int) -> Floats:
    """The sum of the weights of its words for each entry number, up to `size`."""
    if not words:
        return np.zeros(size)
    entries = np.concatenate([each.entries for each in words])
    weights = np.repeat([each.weight for each in words], [len(each.entries) for each in words])
    sums = np.bincount(entries, weights, minlength=size)[:size]
    return sums.astype(np.float64, copy=False)


def _with_shapes(entries: Numbers, shapes: Shapes) -> Numbers:
    """The entries that existed when the shapes were read; usually all of them, and then nothing is copied."""
    size = len(shapes.size)
    known: Numbers = entries if entries.max(initial=-1) < size else entries[entries < size]
    return known


def _best(entries: Numbers, scores: Floats, most: int) -> list[int]:
    # the last one chosen is no worse than that of a sample, which leaves few to look at; all that equal it stay until
    # the newest of them are chosen
    for step in (1 + len(scores) // (SAMPLED * most), 1):
        if len(scores) > most * step:
            enough = np.flatnonzero(scores >= np.partition(scores[::step], -most)[-most])
            entries, scores = entries[enough], scores[enough]
    best: list[int] = entries[np.lexsort((-entries, -scores))[:most]].tolist()
    return best


class ConversationMatches(NamedTuple):
    """Scores of complete conversations, by the code of a thread."""

    words: Floats
    """BM25 of all that was said in it, as a share of the query's weight."""
    shapes: Shapes


def match_conversations(
    words: Sequence[WeightedWord], shapes: Shapes, passing: Passing | None
) -> ConversationMatches:
    """Score complete conversations. `weight` of a word excludes its rarity, which is computed here."""
    threads = len(shapes.thread_names)
    mean_size = float(shapes.said_size.sum()) / max(int(np.count_nonzero(shapes.said_size)), 1)
    length = shapes.said_size / max(mean_size, 1.0)
    norm = CONVERSATION_SATURATION * (1 - CONVERSATION_LENGTH_SHARE + CONVERSATION_LENGTH_SHARE * length)
    scores, total = np.zeros(threads), 0.0
    for entries, weight in words:
        entries = _with_shapes(entries, shapes)
        if passing is not None:
            entries = entries[passing.among(entries)]
        counts = np.bincount(shapes.said_thread[entries], minlength=threads + 1)[1:]
        holding = np.count_nonzero(counts)
        rarity = weight * np.log(1 + (threads - holding + 0.5) / (holding + 0.5))
        scores += rarity * counts * (CONVERSATION_SATURATION + 1) / (counts + norm)
        total += rarity
    return ConversationMatches(scores / (total or 1.0), shapes)
