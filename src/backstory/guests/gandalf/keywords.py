"""Keyword queries over conversations: units of the text index, and the conversations that contain them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...domain.errors import InvalidInput
from ...domain.filters import ConversationFilter
from ...domain.lazy import lazy_pattern
from ...domain.query import parse_query
from ...domain.words import query_units
from ...search.families import Families
from ...store import Store

if TYPE_CHECKING:
    from ...domain.entries import Numbers
    from ...domain.words import Unit

MOST_PROMPT_WORDS = 8
"""Maximum number of words from a prompt, the rarest ones. Most conversations contain the others."""
POSTINGS = 8_000  # index entries read in all to find the rarest words
_WORD = lazy_pattern(r"[^\W_]+")
PROPOSED = 3
"""Number of messages per conversation from which an excerpt is chosen."""


class Keyword(NamedTuple):
    """Words that a conversation may contain: any of the alternatives, each with all of its units."""

    alternatives: tuple[tuple[Unit, ...], ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """One label per alternative."""
        return tuple(" ".join(word for unit in units for word in unit.words) for units in self.alternatives)

    @property
    def units(self) -> Iterable[Unit]:
        return (unit for units in self.alternatives for unit in units)


class KeywordQuery(NamedTuple):
    required: tuple[Keyword, ...]
    """A conversation must contain all of these."""
    excluded: tuple[Keyword, ...]
    """A conversation must contain none of these."""
    tags: tuple[Keyword, ...]
    """A conversation must contain at least one of these, if there are any."""
    keywords: tuple[Keyword, ...]
    """The keywords that count for the score: required ones, tags, and significant words of the prompt."""
    has_operators: bool = False
    """True if the query contains quotes, OR or -not. Then it is matched literally."""

    @property
    def words(self) -> list[str]:
        return [word for keyword in self.keywords for unit in keyword.units for word in unit.words]


def keyword_query(store: Store, query: str, tags: Sequence[str], prompt: str) -> KeywordQuery:
    parsed = parse_query(query)
    if query.strip() and not (parsed.clauses or parsed.excluded):
        raise InvalidInput(f"query has no word to look for: {query!r}.", field="query")
    required = tuple(_keyword([term.units for term in clause]) for clause in parsed.clauses)
    excluded = tuple(_keyword([term.units]) for term in parsed.excluded)
    tagged = tuple(_keyword([tuple(parse_query(tag).units)]) for tag in tags)
    if not all(tag.alternatives for tag in tagged):
        raise InvalidInput("One of the tags has no word to look for.", field="tags")
    words = [_keyword([(unit,)]) for unit in _significant_words(store, prompt)]
    each_once = {keyword.labels: keyword for keyword in (*required, *tagged, *words)}
    has_operators = bool(excluded) or '"' in query or any(len(clause) > 1 for clause in parsed.clauses)
    return KeywordQuery(required, excluded, tagged, tuple(each_once.values()), has_operators)


def _keyword(alternatives: Iterable[tuple[Unit, ...]]) -> Keyword:
    return Keyword(tuple(units for units in alternatives if units))


def _significant_words(store: Store, prompt: str) -> list[Unit]:
    units = [unit for unit in query_units(prompt) if len(unit.words) == 1 and not unit.is_bonus]
    postings = [posting for posting in store.text.postings(units, POSTINGS) if posting.frequency]
    rarest = sorted(postings, key=lambda posting: posting.frequency)[:MOST_PROMPT_WORDS]
    rare_units = {posting.unit for posting in rarest}
    return [unit for unit in units if unit in rare_units]


class WordIndex:
    """The conversations that contain a word in a text or in the title. Each word is looked up once."""

    def __init__(self, store: Store, which: ConversationFilter) -> None:
        self._store = store
        self._which = which
        self._places: dict[Unit, Numbers] = {}
        self._holding: dict[Unit, set[str | None]] = {}
        self._titles: list[tuple[str, str]] | None = None

    def among(self, ids: Iterable[str]) -> WordIndex:
        """Return an index restricted to these conversations."""
        narrowed = WordIndex(self._store, self._which._replace(ids=tuple(ids)))
        narrowed._places = self._places
        return narrowed

    def holding(self, keyword: Keyword) -> set[str | None]:
        """Return the ids of conversations, and of sessions with memories, that contain the keyword."""
        holders: set[str | None] = set()
        for units in keyword.alternatives:
            holders |= set.intersection(*map(self._unit_holding, units))
        return holders

    def seeds(self, asked: KeywordQuery) -> Collection[str] | None:
        """Return conversations such that every matching family contains one of them; None if any family may match."""
        sets = [self.holding(keyword) for keyword in asked.required]
        if asked.tags:
            sets.append(set().union(*map(self.holding, asked.tags)))
        return min(sets, key=len) - {None} if sets else None  # type: ignore[return-value]  # None is taken out

    def chosen(self, asked: KeywordQuery, families: Families) -> set[str]:
        chosen = set(families.heads)
        for keyword in asked.required:
            chosen &= families.heads_of(self.holding(keyword))
        for keyword in asked.excluded:
            chosen -= families.heads_of(self.holding(keyword))
        return self.tagged(asked, chosen, families)

    def tagged(self, asked: KeywordQuery, heads: set[str], families: Families) -> set[str]:
        """Return the heads that contain one of the tags; all heads if there are no tags."""
        tags = (families.heads_of(self.holding(tag)) for tag in asked.tags)
        return heads & set().union(*tags) if asked.tags else heads

    def best_entries(
        self, asked: KeywordQuery, families: Families, heads: Sequence[str]
    ) -> dict[str, list[tuple[int, int]]]:
        """For each head, return some messages of its family with their number of matching units, highest first."""
        members, room = set(families.members(heads)), self._store.entries
        counts: Counter[int] = Counter()
        for unit in {unit for keyword in asked.keywords for unit in keyword.units}:
            counts.update(room.within(self._look_up(unit), members).tolist())
        fullest = sorted(counts, key=lambda entry: (-counts[entry], entry))
        proposed: dict[str, list[tuple[int, int]]] = {}
        for entry, thread in zip(fullest, room.threads(fullest), strict=True):
            some = proposed.setdefault(families.head_of[thread or ""], [])
            if len(some) < PROPOSED:
                some.append((entry, counts[entry]))
        return proposed

    def _look_up(self, unit: Unit) -> Numbers:
        if unit not in self._places:
            self._places[unit] = self._store.text.holding(unit)
        return self._places[unit]

    def _unit_holding(self, unit: Unit) -> set[str | None]:
        if unit not in self._holding:
            threads = self._store.entries.all_threads(self._look_up(unit), self._which.ids)
            self._holding[unit] = threads | self._titled(unit)
        return self._holding[unit]

    def _titled(self, unit: Unit) -> set[str]:
        if self._titles is None:
            self._titles = [
                (id, title.lower()) for id, title in self._store.conversations.titles(self._which)
            ]
        first = unit.words[0]
        likely = [(id, title) for id, title in self._titles if first in title]
        return {id for id, title in likely if set(_WORD.findall(title)).issuperset(unit.words)}
