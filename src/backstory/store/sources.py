"""Foreign files: how far each was read, what of them was forgotten for good, and whose turn it is to read."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from ..domain.census import ReaderCensus
from ..domain.sources import SourceState, source_path
from ..domain.when import from_ms, to_ms, utc_now
from .statements import Row, Statements, batches


class Sources(Protocol):
    def history_census(self) -> dict[str, ReaderCensus]:
        """By reader, of those that ever found a source."""

    def find_problems(self) -> dict[str, str]:
        """Why sources could not be read, by path."""

    def find_sources(self, reader: str | None = None) -> dict[str, SourceState]:
        """By path."""

    def put_source(self, source: SourceState) -> None: ...

    def mark_gone(self, paths: Sequence[str]) -> None:
        """Their conversations say so too; nothing else changes. A source that is put again is back."""

    def forget(self, conversations: Sequence[str], at: datetime) -> int:
        """Delete, from the archive too, and leave tombstones; how many conversations went."""

    def forgotten(self, conversations: Iterable[str]) -> set[str]:
        """Those of the given that must not come back."""

    def take_lease(self, name: str, holder: str, *, for_ms: int) -> bool:
        """Whether the work is the holder's now. Others get it when the lease ends or is given back. All who take a
        lease take it for as long: one that would last longer was given by a clock that was ahead, and has ended."""

    def drop_lease(self, name: str, holder: str) -> None: ...


_SOURCE_COLUMNS = "path, reader, size, modified_ns, position, head, tail, state, skipped, redacted, problem, is_gone, read_at"


class SourceRows(Statements):
    @abstractmethod
    def delete_conversations(self, ids: Sequence[str]) -> int: ...

    def history_census(self) -> dict[str, ReaderCensus]:
        sql = (
            "SELECT reader, (SELECT count(*) FROM conversation c WHERE c.surface = reader),"
            " (SELECT count(*) FROM entry e WHERE e.surface = reader AND e.kind = 'message'), count(*), sum(is_gone),"
            " sum(redacted), sum(CASE WHEN problem <> '' THEN 1 ELSE 0 END) FROM source GROUP BY reader ORDER BY reader"
        )
        return {row[0]: ReaderCensus(*map(int, row[1:])) for row in self._rows(sql)}

    def find_problems(self) -> dict[str, str]:
        rows = self._rows(
            "SELECT path, problem FROM source WHERE problem <> '' AND is_gone = 0 ORDER BY path"
        )
        return {row[0]: row[1] for row in rows}

    def find_sources(self, reader: str | None = None) -> dict[str, SourceState]:
        only = ("", []) if reader is None else (" WHERE reader = ?", [reader])
        rows = self._rows(f"SELECT {_SOURCE_COLUMNS} FROM source{only[0]} ORDER BY path", only[1])
        return {row[0]: _read_source(row) for row in rows}

    def put_source(self, source: SourceState) -> None:
        names = _SOURCE_COLUMNS.split(", ")
        updates = ", ".join(f"{name} = excluded.{name}" for name in names[1:])
        marks = ", ".join("?" * len(names))
        with self._joined():
            was_gone = self._rows("SELECT 1 FROM source WHERE path = ? AND is_gone = 1", [source.path])
            self._change(
                f"INSERT INTO source ({_SOURCE_COLUMNS}) VALUES ({marks}) ON CONFLICT (path) DO UPDATE SET {updates}",
                _source_row(source),
            )
            if was_gone and not source.is_gone:
                self._set_gone({source.path}, 0)

    def mark_gone(self, paths: Sequence[str]) -> None:
        with self._joined():
            self._change_many("UPDATE source SET is_gone = 1 WHERE path = ?", [(path,) for path in paths])
            self._set_gone(set(paths), 1)

    def _set_gone(self, paths: set[str], is_gone: int) -> None:
        for table in ("conversation", "archived_conversation"):
            rows = self._rows(
                f"SELECT id, source FROM {table} WHERE is_gone <> ? AND source <> ''", [is_gone]
            )
            ids = [(is_gone, id) for id, source in rows if source_path(source, paths) is not None]
            self._change_many(f"UPDATE {table} SET is_gone = ? WHERE id = ?", ids)

    def forget(self, conversations: Sequence[str], at: datetime) -> int:
        sql = "INSERT INTO forgotten (conversation, forgotten_at) VALUES (?, ?) ON CONFLICT (conversation) DO NOTHING"
        with self._joined():
            self._change_many(sql, [(id, to_ms(at)) for id in conversations])
            archived = sum(
                self._change(f"DELETE FROM archived_conversation WHERE id IN ({marks})", some)
                for marks, some in batches(conversations)
            )
            return archived + self.delete_conversations(conversations)

    def forgotten(self, conversations: Iterable[str]) -> set[str]:
        return {
            row[0]
            for marks, some in batches(list(conversations))
            for row in self._rows(f"SELECT conversation FROM forgotten WHERE conversation IN ({marks})", some)
        }

    def take_lease(self, name: str, holder: str, *, for_ms: int) -> bool:
        now = to_ms(utc_now())
        sql = (
            "INSERT INTO lease (name, holder, leased_until) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE"
            " SET holder = excluded.holder, leased_until = excluded.leased_until"
            " WHERE lease.holder = excluded.holder OR lease.leased_until < ? OR lease.leased_until > ? RETURNING holder"
        )
        with self._joined():
            return bool(self._rows(sql, [name, holder, now + for_ms, now, now + for_ms]))

    def drop_lease(self, name: str, holder: str) -> None:
        with self._joined():
            self._change("DELETE FROM lease WHERE name = ? AND holder = ?", [name, holder])


def _source_row(source: SourceState) -> Row:
    read_at = source.read_at or utc_now()
    return [
        source.path, source.reader, source.size, source.modified_ns, source.position, source.head, source.tail,
        json.dumps(dict(source.state)), json.dumps(dict(source.skipped)), source.redacted, source.problem,
        int(source.is_gone), to_ms(read_at),
    ]  # fmt: skip


def _read_source(row: Row) -> SourceState:
    source = SourceState(*row)
    return source._replace(
        state=json.loads(row[7]),
        skipped=json.loads(row[8]),
        is_gone=bool(source.is_gone),
        read_at=from_ms(row[12]),
    )
