"""Foreign files: how far each was read, and which of their conversations were permanently forgotten."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from ..domain.census import ReaderCensus, SourceCount
from ..domain.sources import CONTEXT, SourceStamp, SourceState, source_path
from ..domain.when import to_ms, utc_now
from .columns import FLAG, JSON, Codec, Columns, marks
from .conversations import ConversationRoom
from .database import Database, batches
from .mirror import CommitMirror

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
    conversations="(SELECT count(*) FROM conversation c WHERE c.surface = reader AND c.kind <> 'subagent')",
    subagents="(SELECT count(*) FROM conversation c WHERE c.surface = reader AND c.kind = 'subagent')",
    messages="(SELECT CAST(coalesce(sum((SELECT max(e.seq) + 1 FROM entry e WHERE e.thread = c.id)), 0) AS BIGINT)"
    " FROM conversation c WHERE c.surface = reader)",
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
_TABLES = ("conversation", "archived_conversation")


class SyncRoom:
    def __init__(self, database: Database, conversations: ConversationRoom) -> None:
        self._database = database
        self._conversations = conversations
        self._counts = CommitMirror[str, list[SourceCount]](database, 1)

    def sources(self, reader: str | None = None) -> dict[str, SourceState]:
        """The states of all sources, optionally of one reader, by path."""
        only, values = ("", []) if reader is None else ("WHERE reader = ?", [reader])
        states = self._database.records(_SOURCE, f"FROM source {only} ORDER BY path", values)
        return {source.path: source for source in states}

    def stamps(self, reader: str) -> dict[str, SourceStamp]:
        """The stamps of a reader's sources, by path."""
        rest = "FROM source WHERE reader = ? ORDER BY path"
        return {stamp.path: stamp for stamp in self._database.records(_STAMP, rest, [_HAS_CONTEXT, reader])}

    def get(self, path: str) -> SourceState | None:
        return next(iter(self._database.records(_SOURCE, "FROM source WHERE path = ?", [path])), None)

    def has_read(self, source: str) -> bool:
        """True if a conversation's source is a file, or a part of a file, that was read on this machine."""
        paths = [source]
        while "#" in paths[-1]:
            paths.append(paths[-1].rpartition("#")[0])
        return bool(
            self._database.rows(f"SELECT 1 FROM source WHERE path IN ({marks(paths)}) LIMIT 1", paths)
        )

    def put(self, source: SourceState) -> None:
        """Insert a source, or replace the one with the same path."""
        known = source if source.read_at else source._replace(read_at=utc_now())
        with self._database.joined():
            self._database.change(_PUT, _SOURCE.write(known))

    def set_sources_gone(self, paths: Sequence[str], is_gone: bool) -> None:
        with self._database.joined():
            sql = "UPDATE source SET is_gone = ? WHERE path = ?"
            self._database.change_many(sql, [(int(is_gone), path) for path in paths])

    def conversations_in(self, paths: Collection[str], *, is_gone: bool) -> list[str]:
        """The conversations, live or archived, whose source is one of these files and whose `is_gone` has this value."""
        sql = "SELECT id, source FROM {} WHERE is_gone = ? AND source <> ''"
        return sorted(
            id
            for table in _TABLES
            for id, source in self._database.rows(sql.format(table), [int(is_gone)])
            if source_path(source, paths) is not None
        )

    def set_gone(self, conversations: Sequence[str], is_gone: bool) -> None:
        """Mark conversations, live or archived, as gone from their source, or as there."""
        with self._database.joined():
            for table in _TABLES:
                sql = f"UPDATE {table} SET is_gone = ? WHERE id = ?"
                self._database.change_many(sql, [(int(is_gone), id) for id in conversations])

    def restart(self, path: str) -> None:
        """Read a file from its start the next time it is there."""
        sql = "UPDATE source SET size = -1, position = 0, state = ? WHERE path = ?"
        with self._database.joined():
            self._database.change(sql, [_NOTHING_READ, path])

    def problems(self) -> dict[str, str]:
        """The reasons why sources could not be read, by path."""
        sql = "SELECT path, problem FROM source WHERE problem <> '' AND is_gone = 0 ORDER BY path"
        return self._database.pairs(sql)

    def census(self) -> dict[str, ReaderCensus]:
        """Counts by reader, for readers that ever found a source."""
        rows = self._database.rows(
            f"SELECT reader, {_CENSUS.selected} FROM source GROUP BY reader ORDER BY reader"
        )
        return {reader: _CENSUS.read(counts) for reader, *counts in rows}

    def count_sources(self) -> list[SourceCount]:
        return self._counts.get("sources", self._count_sources)

    def _count_sources(self) -> list[SourceCount]:
        rest = "FROM source GROUP BY reader, problem ORDER BY reader, problem"
        return self._database.records(_COUNT, rest)

    def bury(self, conversations: Sequence[str], at: datetime) -> None:
        """Leave tombstones: no sync adds to these any more."""
        sql = "INSERT INTO forgotten (conversation, forgotten_at) VALUES (?, ?) ON CONFLICT (conversation) DO NOTHING"
        with self._database.joined():
            self._database.change_many(sql, [(id, to_ms(at)) for id in conversations])

    def forget(self, conversations: Sequence[str], at: datetime) -> int:
        """Delete conversations, live and archived, and leave tombstones. Returns their number."""
        with self._database.joined():
            self.bury(conversations, at)
            archived = sum(
                self._database.change(f"DELETE FROM archived_conversation WHERE id IN ({marks})", some)
                for marks, some in batches(conversations)
            )
            return archived + self._conversations.delete(conversations)

    def knows(self, conversation: str) -> bool:
        """True if the conversation is live, archived or forgotten. Most conversations that are read are not known yet."""
        return bool(self._database.rows(_KNOWN, [conversation] * 3))

    def forgotten(self, conversations: Iterable[str]) -> set[str]:
        """The conversations that must not be stored again."""
        return {
            id
            for marks, some in batches(conversations)
            for id in self._database.values(
                f"SELECT conversation FROM forgotten WHERE conversation IN ({marks})", some
            )
        }
