"""Which entries hold a word or a field: sets of entry numbers, from which a query is answered."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from ..domain.entries import ListedMemory, TextFields
from ..domain.filters import Filter, Kind, Order
from .statements import Statements
from .where import ordered, where_clause

if TYPE_CHECKING:
    from ..domain.words import Unit


class Matching(Protocol):
    def match_text(self, unit: Unit, fields: TextFields) -> set[int]:
        """Every entry that holds the unit in its text, in its key, or in one of them."""

    def text_scores(self, units: Sequence[Unit], entries: Iterable[int]) -> dict[int, float]:
        """How well the given entries match any of the units; more is better."""

    def match_metadata(self, field: str) -> dict[int, str]:
        """Memories whose metadata may have such a field, with their metadata as JSON."""

    def list_memories(
        self, where: Filter, order: Order, among: Iterable[int] | None = None
    ) -> list[ListedMemory]:
        """Memories that match, in order; `among` are the only ones considered."""

    def used_bytes(self) -> int:
        """The size of what the store holds. Space that deletions freed does not count."""


class MatchingRows(Statements):
    @abstractmethod
    def match_text(self, unit: Unit, fields: TextFields) -> set[int]: ...

    @abstractmethod
    def text_scores(self, units: Sequence[Unit], entries: Iterable[int]) -> dict[int, float]: ...

    @abstractmethod
    def used_bytes(self) -> int: ...

    def match_metadata(self, field: str) -> dict[int, str]:
        literal = json.dumps(field).replace("!", "!!").replace("%", "!%").replace("_", "!_")
        sql = "SELECT n, metadata FROM entry WHERE kind = ? AND metadata LIKE ? ESCAPE '!'"
        return {row[0]: row[1] for row in self._rows(sql, [Kind.MEMORY, f"%{literal}%"])}

    def list_memories(
        self, where: Filter, order: Order, among: Iterable[int] | None = None
    ) -> list[ListedMemory]:
        condition, values = where_clause(where)
        if among is not None:
            only, numbers = self._among("e.n", among)
            condition, values = f"{only} AND {condition}", [numbers, *values]
        sql = f"SELECT e.n, e.key FROM entry e WHERE e.kind = ? AND {condition} ORDER BY {ordered(order)}"
        return [ListedMemory(*row) for row in self._rows(sql, [Kind.MEMORY, *values])]
