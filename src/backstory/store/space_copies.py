"""Which memories of this store are copies from a team's space, in which version, and who wrote them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..domain.team import SpaceCopy
from .columns import Columns
from .database import Database, batches

_COPY = Columns(SpaceCopy)


class SpaceCopyRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, copies: Iterable[SpaceCopy]) -> None:
        """Insert copies, or replace those with the same memory id."""
        with self._database.joined():
            self._database.change_many(_COPY.upsert("space_copy", "memory"), list(map(_COPY.write, copies)))

    def get(self, memories: Iterable[str]) -> dict[str, SpaceCopy]:
        """Copies by memory id."""
        return {
            each.memory: each
            for marks, some in batches(memories)
            for each in self._database.records(_COPY, f"FROM space_copy WHERE memory IN ({marks})", some)
        }

    def of_space(self, space: str) -> dict[str, SpaceCopy]:
        """Copies of memories of one space, by memory id."""
        rows = self._database.records(_COPY, "FROM space_copy WHERE space = ? ORDER BY memory", [space])
        return {each.memory: each for each in rows}

    def spaces(self) -> set[str]:
        """Names of the spaces that have copies here."""
        return set(self._database.values("SELECT DISTINCT space FROM space_copy"))

    def count(self, space: str) -> int:
        return int(self._database.value("SELECT count(*) FROM space_copy WHERE space = ?", [space]))

    def delete(self, memories: Sequence[str]) -> None:
        with self._database.joined():
            for marks, some in batches(memories):
                self._database.change(f"DELETE FROM space_copy WHERE memory IN ({marks})", some)
