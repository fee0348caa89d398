"""The score of a recalled conversation: the sum of its parts, each of which is reported.

- `answer` (up to 1.5): how close the conversation comes to the best answer.
- `keywords` (up to 1): the share of the query's words that it contains.
- `recency`: 1.0 within a day, 0.8 a week, 0.5 a month, 0.2 a quarter, else 0.1.
- `files`: half for reading or writing any files, half if they are the named files or, if none are named, this project's.
- `type`: a bonus for the kind of conversation.

If there is a query, its answer decides: all parts fall steeply with the distance to the best answer, so that the other
parts order near-equal answers only, and an old answer stands above a recent mention. That never lowers a hit below the
minimum score that reaches it with its full recency, nor a conversation that contains all words of the query; and a
prompt never lowers one that would reach the minimum otherwise."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ...domain.records import ConversationOutline

TYPE_BONUS = {
    "architecture": 0.5,
    "debugging": 0.5,
    "problem_solving": 0.4,
    "technical": 0.3,
    "code_discussion": 0.2,
    "general": 0.0,
}

MOST_ANSWER = 1.5
DIGITS = 2  # parts are rounded before they are added: the reported parts add up to the score
# how fast the parts fall with the share of the best answer: for the order, and for reaching a minimum score
ORDER_STEEPNESS, MINIMUM_STEEPNESS = 20, 3


class RecallParts(NamedTuple):
    """The parts of a conversation's score."""

    answer: float | None
    """None without a query."""
    keywords: float = 0.0
    recency: float = 0.0
    files: float = 0.0
    type: float = 0.0

    @property
    def score(self) -> float:
        return round((self.answer or 0.0) + self.keywords + self.recency + self.files + self.type, DIGITS)


@lru_cache(1_000)
def raised(parts: RecallParts, least: float, full: RecallParts) -> RecallParts:
    """Raise the parts until the score reaches `least`, or to their full value if that is not enough."""
    lacking = ceil(round((least - parts.score) * 10**DIGITS, 6)) / 10**DIGITS
    for name in ("answer", "recency", "keywords", "type", "files"):
        value, most = getattr(parts, name) or 0.0, getattr(full, name) or 0.0
        if (more := min(lacking, most - value)) > 0:
            parts = parts._replace(**{name: round(value + more, DIGITS)})
            lacking -= more
    return parts


class _Traits(NamedTuple):
    """The features of a conversation that its score depends on, besides its answer."""

    recency: float
    files: float
    usual_files: float
    """The value of `files` if no file were named, if that is more."""
    bonus: float
    keyword_share: float
    """The share of the keywords that it contains."""

    def weighted(self, answer: float | None, weight: float) -> RecallParts:
        """The parts, each multiplied by `weight`. `answer` is the full value, or None without a query."""
        return RecallParts(
            None if answer is None else round(weight * answer, DIGITS),
            keywords=round(weight * self.keyword_share, DIGITS),
            recency=round(weight * self.recency, DIGITS),
            files=round(weight * self.files, DIGITS),
            type=round(weight * self.bonus, DIGITS),
        )


@lru_cache(10_000)  # most conversations answer nothing, and their traits repeat
def _parts(answer: float | None, share: float, traits: _Traits, least: float) -> RecallParts:
    """The parts of a score. To reach `least` they are raised, at most to what the conversation has without a prompt."""
    parts = traits.weighted(answer, share**ORDER_STEEPNESS)
    if not least:
        return parts
    usual = traits.weighted(answer, share**MINIMUM_STEEPNESS)
    full = usual._replace(recency=traits.recency, files=traits.usual_files, type=traits.bonus)
    return raised(parts, least, full)


class Scorer(NamedTuple):
    """Scores the conversations of one query."""

    is_asked: bool
    """True if a query or a prompt was searched for."""
    shares: Mapping[str, float]
    """The share of the best answer that each conversation reaches; empty without a query."""
    members: Mapping[str, Collection[str]]
    holders: Sequence[Set[str | None]]
    """For each keyword, the conversations that contain it."""
    working: Set[str]
    """Conversations that touched files."""
    named: Set[str] | None
    """Conversations that touched one of the named files."""
    project: str
    least: float
    """The minimum score. A prompt does not lower a conversation below it that would reach it otherwise."""

    @property
    def _answer(self) -> float | None:
        """The score of the best answer; None if nothing is asked."""
        return MOST_ANSWER if self.is_asked else None

    def parts(self, outline: ConversationOutline, recency: float) -> RecallParts:
        """The parts of a conversation's score."""
        share = self._share(outline.id)
        return _parts(self._answer, share, self._traits(outline, recency, share), self.least)

    def usual(self, outline: ConversationOutline, recency: float) -> RecallParts:
        """The parts that decide whether a conversation reaches a minimum score."""
        share = self._share(outline.id)
        return self._traits(outline, recency, share).weighted(self._answer, share**MINIMUM_STEEPNESS)

    def _traits(self, outline: ConversationOutline, recency: float, share: float) -> _Traits:
        files, usual_files = self._files(outline)
        keyword_share = self._keyword_share(outline.id) if share else 0.0
        bonus = TYPE_BONUS.get(outline.subject, 0.0)
        return _Traits(recency, files, usual_files, bonus, keyword_share)

    def _share(self, id: str) -> float:
        """The share of the best answer that a conversation reaches; 1 for all if nothing was searched for."""
        return self.shares.get(id, 0.0 if self.shares else 1.0)

    def _files(self, outline: ConversationOutline) -> tuple[float, float]:
        """The part for files, and the part as it would be if no file were named, if that is more."""
        if outline.id not in self.working:
            return 0.0, 0.0
        of_project = 1.0 if outline.project == self.project else 0.5
        if self.named is None:
            return of_project, of_project
        of_named = 1.0 if outline.id in self.named else 0.5
        return of_named, max(of_named, of_project)

    def _keyword_share(self, id: str) -> float:
        """Return the share of keywords that a conversation contains."""
        members = self.members[id]
        if not self.holders:
            return 0.0
        return sum(not some.isdisjoint(members) for some in self.holders) / len(self.holders)
