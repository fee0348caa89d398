"""Foreign files: how far each was read, and what of them was forgotten for good."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from ..domain.census import ReaderCensus, SourceCount
from ..domain.sources import CONTEXT, SourceStamp, SourceState, source_path
from ..domain.when import to_ms, utc_now
from .columns import FLAG, JSON, Codec, Columns
from .conversations import ConversationRoom
from .database import Database, batches

_NOTHING_READ = '{"mark": {}, "stale": []}'
_SOURCE = Columns(SourceState, {"state": JSON, "skipped": JSON, "is_gone": FLAG})
_PUT = _SOURCE.upsert("source", "path")
# thousands are read to find that nothing changed, and few have a context: others are not decoded
_STAMP = Columns(
    SourceStamp,
    {"context": Codec(str, lambda state: JSON.read(state).get(CONTEXT, "")), "is_gone": FLAG},
    context="CASE WHEN state LIKE ? THEN state ELSE '{}' END",
)
_HAS_CONTEXT = f'%"{CONTEXT}":%'
_CENSUS = Columns(
    ReaderCensus,
    conversations="(SELECT count(*) FROM conversation c WHERE c.surface = reader)",
    messages="(SELECT count(*) FROM entry e WHERE e.surface = reader AND e.kind = 'message')",
    sources="count(*)",
    gone="CAST(sum(is_gone) AS BIGINT)",
    redacted="CAST(sum(redacted) AS BIGINT)",
    problems="CAST(sum(CASE WHEN problem <> '' THEN 1 ELSE 0 END) AS BIGINT)",
)
_KNOWN = (
    "SELECT 1 FROM conversation WHERE id = ? UNION ALL SELECT 1 FROM archived_conversation WHERE id = ?"
    " UNION ALL SELECT 1 FROM forgotten WHERE conversation = ?"
)
_COUNT = Columns(SourceCount, files="count(*)")


class SyncRoom:
    def __init__(self, database: Database, conversations: ConversationRoom) -> None:
        self._database = database
        self._conversations = conversations

    def sources(self, reader: str | None = None) -> dict[str, SourceState]:
        """By path."""
        only, values = ("", []) if reader is None else ("WHERE reader = ?", [reader])
        found = self._database.records(_SOURCE, f"FROM source {only} ORDER BY path", values)
        return {source.path: source for source in found}

    def stamps(self, reader: str) -> dict[str, SourceStamp]:
        """By path."""
        rest = "FROM source WHERE reader = ? ORDER BY path"
        return {stamp.path: stamp for stamp in self._database.records(_STAMP, rest, [_HAS_CONTEXT, reader])}

    def get(self, path: str) -> SourceState | None:
        return next(iter(self._database.records(_SOURCE, "FROM source WHERE path = ?", [path])), None)

    def put(self, source: SourceState) -> None:
        """Insert, or replace by path."""
        known = source if source.read_at else source._replace(read_at=utc_now())
        with self._database.joined():
            self._database.change(_PUT, _SOURCE.write(known))

    def mark_gone(self, paths: Sequence[str]) -> None:
        """Their conversations say so too; nothing else changes."""
        with self._database.joined():
            sql = "UPDATE source SET is_gone = 1 WHERE path = ?"
            self._database.change_many(sql, [(path,) for path in paths])
            self._set_gone(set(paths), 1)

    def mark_back(self, path: str) -> None:
        """A source that was gone is there again as it was, and so are its conversations."""
        with self._database.joined():
            self._database.change("UPDATE source SET is_gone = 0 WHERE path = ?", [path])
            self._set_gone({path}, 0)

    def restart(self, path: str) -> None:
        """It is read from its start if it comes back."""
        sql = "UPDATE source SET size = -1, position = 0, state = ? WHERE path = ?"
        with self._database.joined():
            self._database.change(sql, [_NOTHING_READ, path])

    def _set_gone(self, paths: set[str], is_gone: int) -> None:
        for table in ("conversation", "archived_conversation"):
            rows = self._database.rows(
                f"SELECT id, source FROM {table} WHERE is_gone <> ? AND source <> ''", [is_gone]
            )
            ids = [(is_gone, id) for id, source in rows if source_path(source, paths) is not None]
            self._database.change_many(f"UPDATE {table} SET is_gone = ? WHERE id = ?", ids)

    def problems(self) -> dict[str, str]:
        """Why sources could not be read, by path."""
        sql = "SELECT path, problem FROM source WHERE problem <> '' AND is_gone = 0 ORDER BY path"
        return self._database.pairs(sql)

    def census(self) -> dict[str, ReaderCensus]:
        """By reader, of those that ever found a source."""
        rows = self._database.rows(
            f"SELECT reader, {_CENSUS.selected} FROM source GROUP BY reader ORDER BY reader"
        )
        return {reader: _CENSUS.read(counts) for reader, *counts in rows}

    def count_sources(self) -> list[SourceCount]:
        rest = "FROM source GROUP BY reader, problem ORDER BY reader, problem"
        return self._database.records(_COUNT, rest)

    def forget(self, conversations: Sequence[str], at: datetime) -> int:
        """Delete, from the archive too, and leave tombstones; how many conversations went."""
        sql = "INSERT INTO forgotten (conversation, forgotten_at) VALUES (?, ?) ON CONFLICT (conversation) DO NOTHING"
        with self._database.joined():
            self._database.change_many(sql, [(id, to_ms(at)) for id in conversations])
            archived = sum(
                self._database.change(f"DELETE FROM archived_conversation WHERE id IN ({marks})", some)
                for marks, some in batches(conversations)
            )
            return archived + self._conversations.delete(conversations)

    def knows(self, conversation: str) -> bool:
        """Whether it is there, in the archive, or forgotten: of most that are read nothing is known yet."""
        return bool(self._database.rows(_KNOWN, [conversation] * 3))

    def forgotten(self, conversations: Iterable[str]) -> set[str]:
        """Those of the given that must not come back."""
        return {
            id
            for marks, some in batches(conversations)
            for id in self._database.values(
                f"SELECT conversation FROM forgotten WHERE conversation IN ({marks})", some
            )
        }
