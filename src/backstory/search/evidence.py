"""The evidence for a query and each candidate text, gathered from the text index and the vectors.

Every choice of candidates applies the filter, so that entries the caller may not see have no influence. Missing
and unknown evidence differ: a text without a vector has the cosine NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..domain.arrays import np
from ..domain.entries import EntryText, Outline, Posting
from ..domain.filters import Filter, Kind
from ..domain.numbers import are_among
from ..domain.words import MOST_UNITS, Unit, query_units
from ..store import Store
from .backlog import MOST_COUNTED, QueryVector
from .candidates import Candidates, ConversationMatches, Quota, WeightedWord, choose, match_conversations
from .counting import Holders, LoweredTexts, counts_of, words_together
from .embed import reason_for_words_only
from .neighbours import columns_beside, prompt_columns
from .related import related_words
from .terms import Term, guessed_rarity, names_in, rarity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..domain.entries import Vector
    from .backlog import Backlog

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

BUDGET = 2_000_000  # postings read for a query; bounds its cost in a store of any size
RELATED_BUDGET = 200_000  # the same for related words; one with more than an equal share of it is too common
LONG_QUERY_UNITS = 400  # of which those are searched that say most
EDGE, EDGE_WORTH = 200, 2.0  # characters at the beginning and end of a long query, and what their words count
COMMON = 0.02  # share of all entries; a related word in more of them says too little to be read
FEW, RARE = 5, 0.001  # maximum number and share of texts that contain a rare name
QUOTA = Quota(said=120, quiet=30, memories=60)  # entries read
RELATED_CHOICE = 0.5  # share of a word's weight for a related word, when candidates are chosen
NEAR, NEAR_MEMORIES = 40, 10  # entries proposed by their vectors, and additional memories
# minimum share of the query in a message whose reply is read too, and maximum number of these
ASKED, MOST_ASKED = 0.5, 30
ACCOMPANIED = 30  # number of the best by words and of the nearest whose neighbouring messages are read
SHORT = 800  # characters: a longer message is read without its neighbours
CROWD, NEIGHBOURS = 100, 15  # number of texts nearest to the query, and of the nearest to each of these
ALONE = 25  # vectors: products up to this size are computed on this thread
CROWDED = 0.25  # of how crowded a text is, off its cosine
FEW_WAITING = 0.03  # of all entries: where no more lack their vectors, those know more than related words


class Evidence(NamedTuple):
    """One column of every array for each candidate, one row of `counts` and `related` for each term."""

    query: str
    terms: Sequence[Term]
    readings: Sequence[EntryText]
    outlines: Sequence[Outline]
    lowered: Sequence[str]
    """The beginnings of the texts, in which words are counted."""
    entry: Ints
    counts: Floats
    """The number of occurrences of each term in each text."""
    related: Floats
    """The share of a term's rarity that related words contribute."""
    together: Floats
    """Rarity of query words that are neighbours in both query and text."""
    cosine: Floats
    crowding: Floats
    """The nearness of a text to other texts near the query, relative to their mean.

    A text that is near to everything says little by being near to the query. 0 if unknown."""
    prompt: Ints
    """The column of the message that this one answers; -1 if unknown or if there is no question."""
    before: Ints
    """The column of the previous message; -1 if there is none, or if the message is long enough to be judged alone."""
    after: Ints
    is_said: Flags
    """True for messages of people and assistants."""
    is_candidate: Flags
    """False for messages that are present only because a candidate answers them."""
    conversations: ConversationMatches
    has_known_word: bool
    """True if any text in the store contains a word of the query."""
    vector: Vector | None
    notices: tuple[str, ...]
    is_whole: bool
    """True if the candidates include every entry that matches any part of the query."""

    @property
    def nearness(self) -> Floats:
        """The cosine without the part that a text has in common with every such query."""
        return self.cosine - CROWDED * self.crowding

    @property
    def rarities(self) -> Floats:
        return np.array([term.rarity * term.unit.weight for term in self.terms])


class _Words(NamedTuple):
    postings: list[Posting]
    pairs: list[Unit]
    """Pairs of neighbouring words in the query."""
    related: list[list[tuple[Posting, float]]]
    """For each posting, the postings of related words with their similarity."""


def words_only_notice() -> str:
    return f"Searched by words alone: {reason_for_words_only()}."


class Gathering:
    """Gathers the evidence for one query."""

    def __init__(
        self,
        store: Store,
        backlog: Backlog | None,
        query: str,
        where: Filter,
        pool: int = 1,
        only: Sequence[Unit] | None = None,
    ) -> None:
        """`only` are words to search by, instead of those of the query and related words."""
        self._store = store
        self._backlog = backlog
        self._query = query
        self._where = where
        self._pool = pool
        self._only = only
        self._size = store.entries.size_hint()
        self._shapes = store.entries.shapes(self._size)

    def evidence(self) -> Evidence:
        meaning = self._query_vector()
        words = self._words(meaning)
        terms = self._terms(words)
        near = self._near(meaning)
        choice, readings = self._read(words, terms, near)
        readings += self._answers(words, readings)
        readings += self._neighbours(readings, [*choice.entries[:ACCOMPANIED], *list(near)[:ACCOMPANIED]])
        candidates = {reading.outline.entry for reading in readings}
        prompts = self._prompts([reading.outline for reading in readings])
        beside = self._store.entries.readings({*prompts.values()} - candidates, self._where)
        readings = sorted([*readings, *beside])
        outlines = [reading.outline for reading in readings]
        entry = _numbers(outlines)
        column = {number: place for place, number in enumerate(entry.tolist())}
        texts = LoweredTexts([reading.text for reading in readings])
        holders = Holders(entry)
        is_said = [outline.is_said for outline in outlines]
        before, after = columns_beside(outlines, is_said)
        cosine, crowding = self._nearness(meaning, entry)
        counts = counts_of(words.postings, holders, texts)
        return Evidence(
            query=self._query,
            terms=terms,
            readings=readings,
            outlines=outlines,
            lowered=texts,
            entry=entry,
            counts=counts,
            related=self._related_weights(words, terms, holders),
            together=words_together(words.pairs, terms, counts, texts),
            cosine=cosine,
            crowding=crowding,
            prompt=prompt_columns(outlines, prompts, column),
            before=before,
            after=after,
            is_said=np.array(is_said, bool),
            is_candidate=np.array([number in candidates for number in column], bool),
            conversations=self._conversations(words, terms),
            has_known_word=any(posting.frequency for posting in words.postings),
            vector=meaning.vector if meaning is not None else None,
            notices=self._notices(meaning),
            is_whole=choice.is_whole and len(near) < self._most_near,
        )

    def _query_vector(self) -> QueryVector | None:
        if self._backlog is None:
            return None
        # an empty store need not wait for the model
        return self._backlog.query(self._query) if self._size else QueryVector()

    def _notices(self, meaning: QueryVector | None) -> tuple[str, ...]:
        if meaning is None:
            return (words_only_notice(),)
        return meaning.notices

    def _words(self, meaning: QueryVector | None) -> _Words:
        units = query_units(self._query, LONG_QUERY_UNITS) if self._only is None else self._only
        wanted = [unit for unit in units if len(unit.words) == 1 or not unit.is_bonus]
        pairs = [unit for unit in units if len(unit.words) > 1 and unit.is_bonus]
        if len(wanted) > MOST_UNITS:
            postings = self._salient(wanted)
        else:
            pairs = pairs[: MOST_UNITS - len(wanted)]
            postings = self._store.text.postings(wanted, BUDGET)
        is_wider = self._only is None and self._lacks_vectors(meaning)
        return _Words(postings, pairs, self._related(postings) if is_wider else [[] for _ in postings])

    def _salient(self, units: Sequence[Unit]) -> list[Posting]:
        """The most significant units of a long query, in its order: rare ones, and those at its beginning and end,
        where people state their request about a pasted text. Rarity is estimated from the model's vocabulary, which
        is sorted by frequency, so that only twice the needed number is looked up."""
        query = self._query.lower()
        edges = query[:EDGE] + query[-EDGE:]
        worth = [EDGE_WORTH if unit.words[0] in edges else 1.0 for unit in units]
        guess = [guessed_rarity(unit.words) * each for unit, each in zip(units, worth, strict=True)]
        likely = sorted(sorted(range(len(units)), key=lambda n: -guess[n])[: 2 * MOST_UNITS])
        postings = self._store.text.postings([units[n] for n in likely], BUDGET)
        weights = [
            rarity(posting.frequency, self._size) * worth[n] if posting.frequency else 0.0
            for posting, n in zip(postings, likely, strict=True)
        ]
        best = sorted(range(len(postings)), key=lambda place: -weights[place])[:MOST_UNITS]
        return [
            postings[place]._replace(unit=postings[place].unit._replace(weight=worth[likely[place]]))
            for place in sorted(best)
        ]

    def _lacks_vectors(self, meaning: QueryVector | None) -> bool:
        few = min(FEW_WAITING * self._size, MOST_COUNTED - 1)
        return meaning is None or meaning.vector is None or meaning.waiting > few

    def _related(self, postings: Sequence[Posting]) -> list[list[tuple[Posting, float]]]:
        own = {word for posting in postings for word in posting.unit.words}
        names = {word for name in names_in(self._query) for unit in query_units(name) for word in unit.words}
        wanted: dict[str, None] = {}
        lists = []
        for posting in postings:
            word = posting.unit.words[0]
            is_plain = len(posting.unit.words) == 1 and not posting.unit.is_bonus and word not in names
            related = related_words(word).items() if is_plain else ()
            others = {each: similarity for each, similarity in related if each not in own}
            lists.append(others)
            wanted |= dict.fromkeys(others)
        share = RELATED_BUDGET // max(len(wanted), 1)
        most = max(min(int(COMMON * self._size), share), 10)
        related_postings = self._store.text.rare_postings([Unit((word,)) for word in wanted], most)
        places = {posting.unit.words[0]: posting for posting in related_postings}
        return [
            [
                (places[each], similarity)
                for each, similarity in others.items()
                if 0 < places[each].frequency <= most
            ]
            for others in lists
        ]

    def _terms(self, words: _Words) -> list[Term]:
        named = {tuple(unit.words) for name in names_in(self._query) for unit in query_units(name)}
        return [
            Term(
                posting.unit,
                0.0
                if posting.unit.is_bonus and not posting.frequency
                else rarity(posting.frequency, self._size),
                is_rare_name=posting.unit.words in named
                and not posting.unit.is_bonus
                and 0 < posting.frequency <= max(FEW, RARE * self._size),
            )
            for posting in words.postings
        ]

    def _chosen(self, words: _Words, terms: Sequence[Term]) -> Candidates:
        passing = self._store.entries.passing(self._where)
        weighted = self._weighted(words, terms)
        return choose(weighted, self._shapes, passing, QUOTA.times(self._pool))

    def _read(
        self, words: _Words, terms: Sequence[Term], near: Mapping[int, float]
    ) -> tuple[Candidates, list[EntryText]]:
        """The candidates: postings without the filter, then filtered, with the nearest entries.

        Reading postings without the filter is several times cheaper, and is enough unless the filter leaves too few
        and further entries exist."""
        choice = self._chosen(words, terms)
        readings = self._store.entries.readings({*choice.entries, *near}, self._where)
        is_whole = choice.is_whole and all(posting.is_whole for posting in words.postings)
        if len(readings) < len(choice.entries) / 2 and not is_whole:
            units = [posting.unit for posting in words.postings]
            words = words._replace(postings=self._store.text.postings(units, BUDGET, self._where))
            choice = self._chosen(words, terms)
            readings = self._store.entries.readings({*choice.entries, *near}, self._where)
        return choice._replace(is_whole=is_whole and choice.is_whole), readings

    def _weighted(self, words: _Words, terms: Sequence[Term]) -> list[WeightedWord]:
        weighted = []
        for posting, term, others in zip(words.postings, terms, words.related, strict=True):
            weighted.append(WeightedWord(posting.entries, term.rarity * term.unit.weight))
            for related, similarity in others:
                weight = similarity * min(term.rarity, rarity(related.frequency, self._size))
                weighted.append(WeightedWord(related.entries, RELATED_CHOICE * weight))
        return weighted

    def _conversations(self, words: _Words, terms: Sequence[Term]) -> ConversationMatches:
        own = [
            WeightedWord(posting.entries, term.unit.weight if term.rarity else 0.0)
            for posting, term in zip(words.postings, terms, strict=True)
        ]
        return match_conversations(own, self._shapes, self._store.entries.passing(self._where))

    @property
    def _most_near(self) -> int:
        """The number of entries that are proposed by their vectors.

        If only memories are searched, vectors decide most, so more of the texts near the query are compared."""
        return (CROWD if self._where.kinds == (Kind.MEMORY,) else NEAR) * self._pool

    def _near(self, meaning: QueryVector | None) -> Mapping[int, float]:
        if meaning is None or meaning.vector is None:
            return {}
        nearest = self._store.vectors.nearest
        near = nearest(meaning.space, meaning.vector, self._where, self._most_near)
        if not self._where.kinds and self._shapes.is_memory.any():
            memories = self._where._replace(kinds=(Kind.MEMORY,))
            near = {**near, **nearest(meaning.space, meaning.vector, memories, NEAR_MEMORIES)}
        return near

    def _nearness(self, meaning: QueryVector | None, entry: Ints) -> tuple[Floats, Floats]:
        """The cosine of each entry's passage that is nearest to the query, and how crowded it is around that one."""
        cosine, crowding = np.full(len(entry), np.nan), np.zeros(len(entry))
        if meaning is None or meaning.vector is None:
            return cosine, crowding
        owners, vectors = self._store.vectors.passages(meaning.space, entry.tolist())
        if not owners:
            return cosine, crowding
        products = np.einsum("ij,j->i", vectors, meaning.vector)
        order = np.argsort(products, kind="stable")
        best = np.full(len(entry), -1)
        # of several rows the last, the nearest, stays
        best[np.searchsorted(entry, np.array(owners)[order])] = order
        known = np.flatnonzero(best >= 0)
        cosine[known] = products[best[known]]
        crowd = known[np.argsort(-cosine[known], kind="stable")[:CROWD]]
        if len(crowd) > NEIGHBOURS:
            crowding[crowd] = _crowding(vectors[best[crowd]])
        return cosine, crowding

    def _prompts(self, outlines: Sequence[Outline]) -> dict[tuple[str, int], int]:
        answers = [o for o in outlines if o.role == "assistant"]
        return self._store.entries.prompts([(o.thread, o.seq) for o in answers if o.thread is not None])

    def _answers(self, words: _Words, readings: Sequence[EntryText]) -> list[EntryText]:
        """Replies to messages that ask the same question: an answer need not repeat the question's words."""
        prompts = [o for o, _ in readings if o.role == "user" and o.thread is not None]
        rarities = [rarity(each.frequency, self._size) for each in words.postings]
        entry, weights = _numbers(prompts), np.zeros(len(prompts))
        for weight, posting in zip(rarities, words.postings, strict=True):
            weights += weight * are_among(entry, posting.entries[::-1])
        least = ASKED * sum(rarities)
        pairs = zip(weights.tolist(), prompts, strict=True)
        asking = sorted(((h, o.thread or "", o.seq) for h, o in pairs if h >= least), reverse=True)
        replies = self._store.entries.replies([(thread, seq) for _, thread, seq in asking[:MOST_ASKED]])
        known = {reading.outline.entry for reading in readings}
        return self._store.entries.readings({*replies.values()} - known, self._where)

    def _neighbours(self, readings: Sequence[EntryText], best: Sequence[int]) -> list[EntryText]:
        """Messages next to the best ones, and the first answers after a conversation's first message, which may
        be its only other message."""
        among = set(best)
        outlines = [o for o, _ in readings if not o.seq or (o.size < SHORT and o.entry in among)]
        known = {reading.outline.entry for reading in readings}
        beside = self._store.entries.neighbours(outlines, self._where)
        return [reading for reading in beside if reading.outline.entry not in known]

    def _related_weights(self, words: _Words, terms: Sequence[Term], holders: Holders) -> Floats:
        weights = np.zeros((len(terms), holders.count))
        for own, term, others in zip(weights, terms, words.related, strict=True):
            for posting, similarity in others:
                weight = similarity * min(term.rarity, rarity(posting.frequency, self._size))
                columns = holders.columns(posting)
                own[columns] = np.maximum(own[columns], weight)
        return weights


def _numbers(outlines: Sequence[Outline]) -> Ints:
    return np.array([outline.entry for outline in outlines], np.int64)


def _crowding(vectors: Vector) -> Floats:
    """The correction for hubs of Conneau et al. 2018 (CSLS), among the nearest."""
    alike = _products(vectors)
    np.fill_diagonal(alike, -1.0)
    means = np.partition(alike, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS:].mean(1)
    crowding: Floats = (means - means.mean()).astype(np.float64)
    return crowding


def _products(vectors: Vector) -> Vector:
    """The product of each vector with each, in parts: BLAS distributes larger products over threads that spin while
    they wait."""
    products = np.empty((len(vectors), len(vectors)), np.float32)
    parts = [slice(start, start + ALONE) for start in range(0, len(vectors), ALONE)]
    for number, rows in enumerate(parts):
        for columns in parts[: number + 1]:
            products[rows, columns] = vectors[rows] @ vectors[columns].T
            products[columns, rows] = products[rows, columns].T
    return products
