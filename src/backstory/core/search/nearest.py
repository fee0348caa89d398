"""The memories to show where no result is sure: the nearest, or without vectors the newest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...domain.filters import Filter, Kind, Order
from ...domain.kinds import MemoryKind, categories_of, kind_of
from ...domain.records import Memory
from ...search.engine import Hit
from ...search.relevance import has_known_word
from ..part import CorePart
from .own_project import MOST_UNSURE

if TYPE_CHECKING:
    from collections.abc import Sequence

OWN_DECISIONS = 3  # of the caller's project, shown before other unsure results: they apply until replaced
STANDING_KINDS = (MemoryKind.DECISION, MemoryKind.PREFERENCE)
_STANDING = tuple(category for kind in STANDING_KINDS for category in categories_of(kind))


class NearestMemories(CorePart):
    def find(self, query: str, where: Filter, limit: int) -> list[Hit]:
        """The memories within `where` that are nearest to a query, whether or not they match it."""
        where = where._replace(kinds=(Kind.MEMORY,))
        newest = self.engine.store.memories.numbers(where, Order.UPDATED_NEWEST, None, limit)
        if not len(newest):  # most projects have none, and then a second search would be in vain
            return []
        if nearest := self.engine.search.find(query, where, only_relevant=False).hits:
            return nearest
        numbers = newest[:limit].tolist()
        entries = self.load(numbers)
        return [Hit(each, 0.0, 0.0, entries[each].project) for each in numbers if each in entries]

    def decisions(self, query: str, where: Filter, words: Sequence[str]) -> list[Hit]:
        """The decisions and preferences of the caller's project that are nearest to a query.

        Empty if `where` excludes them, or if the query contains no real word: the nearest memory to random letters means
        nothing."""
        own = self.caller.project
        is_left_out = (
            (where.projects and own not in where.projects)
            or (where.kinds and Kind.MEMORY not in where.kinds)
            or (where.categories and not {*where.categories} & {*_STANDING})
        )
        if not own or is_left_out or not has_known_word(words):
            return []
        categories = tuple(each for each in _STANDING if not where.categories or each in where.categories)
        nearest = self.find(query, where._replace(projects=(own,), categories=categories), OWN_DECISIONS)
        return [hit._replace(certainty=min(hit.certainty, MOST_UNSURE)) for hit in nearest[:OWN_DECISIONS]]

    def decisions_first(self, hits: Sequence[Hit]) -> list[Hit]:
        """Move the best decisions and preferences of the caller's project to the front."""
        own = [hit.entry for hit in hits if hit.project == self.caller.project and hit.conversation is None]
        entries = self.load(own)
        memories = {number: entry for number, entry in entries.items() if isinstance(entry, Memory)}
        standing = [each for each in own if each in memories and kind_of(memories[each]) in STANDING_KINDS]
        first = {*standing[:OWN_DECISIONS]}
        return sorted(hits, key=lambda hit: hit.entry not in first)
