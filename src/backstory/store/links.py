"""Links between memories. A link is visible to callers who can see both of its ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..domain.filters import Filter
from ..domain.graph import Relation
from ..domain.links import MemoryLink
from .columns import JSON, Columns
from .database import Database, batches
from .where import where_clause

_LINK = Columns(MemoryLink, {"metadata": JSON})
_STATED = "SELECT s.entity, l.relationship, t.entity FROM link l"
_CERTAIN = 1.0


class LinkRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, link: MemoryLink) -> None:
        """Insert a link, or replace the one with the same id."""
        with self._database.joined():
            self._database.change(_LINK.upsert("link", "id"), _LINK.write(link))

    def get(self, source: str, target: str, relationship: str) -> MemoryLink | None:
        rest = "FROM link WHERE source = ? AND target = ? AND relationship = ?"
        links = self._database.records(_LINK, rest, [source, target, relationship])
        return links[0] if links else None

    def at(self, memories: Iterable[str]) -> list[MemoryLink]:
        """Links that begin or end at one of the memories, the oldest first."""
        by_id: dict[str, MemoryLink] = {}
        for marks, some in batches(memories):
            rest = f"FROM link WHERE source IN ({marks}) OR target IN ({marks})"
            by_id |= {link.id: link for link in self._database.records(_LINK, rest, [*some, *some])}
        return sorted(by_id.values(), key=lambda link: (link.created_at, link.id))

    def relations(self, where: Filter, entities: Iterable[int] | None = None) -> list[Relation]:
        """Links whose two ends match, as relations of the knowledge graph, optionally only those at one of the entities.

        Memories that the graph has not read yet are left out."""
        condition, values = where_clause(where)
        visible = f"(SELECT e.id, g.entity FROM entry e JOIN graphed g ON g.entry = e.n WHERE {condition})"
        sql = f"{_STATED} JOIN {visible} AS s ON s.id = l.source JOIN {visible} AS t ON t.id = l.target"
        parameters = [*values, *values]
        if entities is not None:
            numbers = list(entities)
            begin, first = self._database.among("s.entity", numbers)
            end, last = self._database.among("t.entity", numbers)
            sql += f" WHERE {begin} OR {end}"
            parameters += [first, last]
        rows = self._database.rows(f"{sql} ORDER BY l.created_at, l.id", parameters)
        return [Relation(subject, relationship, object, _CERTAIN) for subject, relationship, object in rows]

    def delete_at(self, memories: Sequence[str]) -> int:
        """Delete links that begin or end at one of the memories. Returns their number."""
        with self._database.joined():
            return sum(
                self._database.change(
                    f"DELETE FROM link WHERE source IN ({marks}) OR target IN ({marks})", [*some, *some]
                )
                for marks, some in batches(memories)
            )
