"""Files of other programs' memories, and which memory came from which place in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..domain.origins import MemoryFileCensus, MemoryFileState, MemoryOrigin
from .columns import FLAG, Columns
from .database import Database, batches

_FILE = Columns(MemoryFileState, {"is_gone": FLAG})
_ORIGIN = Columns(MemoryOrigin, {"is_gone": FLAG})
_CENSUS = Columns(
    MemoryFileCensus,
    memories=(
        "(SELECT count(DISTINCT o.memory) FROM memory_origin o JOIN entry e ON e.id = o.memory"
        " WHERE o.program = f.program AND o.is_gone = 0)"
    ),
    files="count(*)",
    problems="CAST(sum(CASE WHEN f.problem <> '' THEN 1 ELSE 0 END) AS BIGINT)",
)


class OriginRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def files(self) -> dict[str, MemoryFileState]:
        """All memory files, by path."""
        files = self._database.records(_FILE, "FROM memory_file ORDER BY path")
        return {file.path: file for file in files}

    def put_file(self, file: MemoryFileState) -> None:
        """Insert a file, or replace the one with the same path."""
        with self._database.joined():
            self._database.change(_FILE.upsert("memory_file", "path"), _FILE.write(file))

    def of_file(self, path: str) -> dict[str, MemoryOrigin]:
        """The origins in a file, by anchor."""
        origins = self._database.records(_ORIGIN, "FROM memory_origin WHERE path = ? ORDER BY anchor", [path])
        return {origin.anchor: origin for origin in origins}

    def of_memories(self, ids: Iterable[str]) -> list[MemoryOrigin]:
        return self._among("memory", ids)

    def with_digests(self, digests: Iterable[str]) -> list[MemoryOrigin]:
        """Places whose current or last text has one of these digests."""
        return self._among("digest", digests)

    def _among(self, column: str, values: Iterable[str]) -> list[MemoryOrigin]:
        return [
            origin
            for marks, some in batches(values)
            for origin in self._database.records(
                _ORIGIN, f"FROM memory_origin WHERE {column} IN ({marks}) ORDER BY path, anchor", some
            )
        ]

    def put(self, origins: Sequence[MemoryOrigin]) -> None:
        """Insert origins, or replace those with the same path and anchor."""
        with self._database.joined():
            sql = _ORIGIN.upsert("memory_origin", "path", "anchor")
            self._database.change_many(sql, [_ORIGIN.write(origin) for origin in origins])

    def delete(self, origins: Sequence[MemoryOrigin]) -> None:
        with self._database.joined():
            sql = "DELETE FROM memory_origin WHERE path = ? AND anchor = ?"
            self._database.change_many(sql, [(origin.path, origin.anchor) for origin in origins])

    def census(self) -> dict[str, MemoryFileCensus]:
        """Counts by program, for programs that ever had a file."""
        sql = f"SELECT f.program, {_CENSUS.selected} FROM memory_file f WHERE f.is_gone = 0 GROUP BY f.program ORDER BY f.program"
        return {program: _CENSUS.read(counts) for program, *counts in self._database.rows(sql)}
