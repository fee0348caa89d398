"""Synchronisation state of a store that is shared between devices: unsent changes, versions, deletions, segments.

While the store takes part, triggers record changes in the transaction that makes them; see migration 37. Only SQLite
has these tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ..domain.devices import DeletionNote, KnownProject, Peer, SegmentNote, SentConversation, Version
from ..domain.records import Former
from ..domain.when import from_ms, to_ms
from .columns import FLAG, FORMER, JSON, LIST, Columns, marks
from .database import Database, batches
from .tables import TABLES, Travel

_VERSION = Columns(Version, {"is_dropped": FLAG, "is_sent": FLAG})
_DELETION = Columns(DeletionNote, {"with_checkpoints": FLAG, "is_sent": FLAG, "is_done": FLAG})
_SEGMENT = Columns(SegmentNote, {"is_mine": FLAG})
_PEER = Columns(Peer, {"alive": LIST})
_CONVERSATION = Columns(SentConversation, {"is_unsent": FLAG})
_PROJECT = Columns(KnownProject, {"identity": JSON, "is_local": FLAG})

_TRAVELLING = [table for table in TABLES.values() if table.travel is not Travel.STAYS]
ROWS = {table.name: table.columns for table in _TRAVELLING if table.travel is Travel.AS_ROW}
"""Columns of the tables whose rows are sent unchanged; the key is the first column."""
DELETABLE_ROWS = tuple(name for name in ROWS if TABLES[name].repeats_deletions)
_JOURNALED = {
    "memory": "SELECT id FROM entry WHERE kind = 'memory' UNION SELECT id FROM archived",
    "conversation": "SELECT id FROM conversation UNION SELECT id FROM archived_conversation"
    " UNION SELECT conversation FROM forgotten",
} | {table: f"SELECT {columns[0]} FROM {table}" for table, columns in ROWS.items()}


class DeviceRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def is_possible(self) -> bool:
        """True if the store is a file."""
        return self._database.has_table("device_self")

    def identity(self) -> str | None:
        """The id that this store writes under; None while it does not take part."""
        return next(iter(self._database.values("SELECT id FROM device_self")), None)

    def enable(self, device: str) -> None:
        """Take part under this id. Unless the store took part before, all existing records count as changed."""
        with self._database.joined():
            is_new = self.identity() is None
            self._database.change("DELETE FROM device_self")
            self._database.change("INSERT INTO device_self (id) VALUES (?)", [device])
            if is_new:
                for kind, ids in _JOURNALED.items():
                    sql = f"WITH there (id) AS ({ids}) INSERT OR IGNORE INTO device_journal (kind, id) SELECT ?, id FROM there"
                    self._database.change(sql, [kind])

    def rename(self, device: str) -> None:
        """Continue under another id.

        This store remains responsible for segments written under the former id and writes them again if they get
        lost: if two copies of one machine both got a new id, no other device would."""
        with self._database.joined():
            self._database.change("UPDATE device_self SET id = ?", [device])
            self._database.change("DELETE FROM device_segment WHERE state = 'pending'")

    def disable(self) -> None:
        """Forget everything about devices."""
        with self._database.joined():
            for table in TABLES:
                if table.startswith("device_"):
                    self._database.change(f"DELETE FROM {table}")

    def begin_sync(self, now: datetime) -> int:
        """Count a sync; its number."""
        with self._database.joined():
            self._database.change("UPDATE device_self SET synced = synced + 1, synced_at = ?", [to_ms(now)])
            return int(self._database.value("SELECT synced FROM device_self"))

    def synced_at(self) -> datetime | None:
        times = self._database.values("SELECT synced_at FROM device_self WHERE synced_at > 0")
        return from_ms(times[0]) if times else None

    def changed(self, limit: int, only: Iterable[tuple[str, str]] | None = None) -> list[tuple[str, str]]:
        """Kind and id of records that changed since they were stamped; of the given ones, or the first `limit`."""
        if only is None:
            rows = self._database.rows(
                "SELECT kind, id FROM device_journal ORDER BY kind, id LIMIT ?", [limit]
            )
            return [(kind, id) for kind, id in rows]
        wanted = set(only)
        return [
            (kind, id)
            for listed, some in batches(sorted({id for _, id in wanted}))
            for kind, id in self._database.rows(
                f"SELECT kind, id FROM device_journal WHERE id IN ({listed}) ORDER BY kind, id", some
            )
            if (kind, id) in wanted
        ]

    def settle(self, records: Iterable[tuple[str, str]]) -> None:
        """Mark records as settled: they were stamped, or their change came from another device."""
        with self._database.joined():
            self._database.change_many("DELETE FROM device_journal WHERE kind = ? AND id = ?", list(records))

    def count_changed(self) -> int:
        return int(self._database.value("SELECT count(*) FROM device_journal"))

    def versions(self, kind: str, id: str) -> list[Version]:
        """The earliest first."""
        rest = "FROM device_version WHERE kind = ? AND id = ? ORDER BY stamp, device"
        return self._database.records(_VERSION, rest, [kind, id])

    def sent_versions(self, kind: str, ids: Iterable[str]) -> dict[str, list[Version]]:
        """The versions of the given records that are in the folder, by id."""
        versions: dict[str, list[Version]] = {}
        for listed, some in batches(dict.fromkeys(ids)):
            sql = (
                f"SELECT id, {_VERSION.listed} FROM device_version"
                f" WHERE kind = ? AND is_sent = 1 AND id IN ({listed})"
            )
            for id, *row in self._database.rows(sql, [kind, *some]):
                versions.setdefault(id, []).append(_VERSION.read(row))
        return versions

    def put_versions(self, kind: str, id: str, versions: Iterable[Version]) -> None:
        """Insert versions, or replace those with the same stamp and device."""
        sql = f"INSERT OR REPLACE INTO device_version (kind, id, {_VERSION.listed}) VALUES (?, ?, {marks(_VERSION.names)})"
        with self._database.joined():
            self._database.change_many(sql, [(kind, id, *_VERSION.write(each)) for each in versions])

    def put_latest(self, kind: str, id: str, version: Version) -> None:
        """Replace all versions of a record that has no history."""
        with self._database.joined():
            self._database.change("DELETE FROM device_version WHERE kind = ? AND id = ?", [kind, id])
            self.put_versions(kind, id, [version])

    def drop_version(self, kind: str, id: str, version: Version) -> None:
        sql = "DELETE FROM device_version WHERE kind = ? AND id = ? AND stamp = ? AND device = ?"
        with self._database.joined():
            self._database.change(sql, [kind, id, *version.order])

    def drop_versions(self, id: str) -> None:
        """Delete the versions of this id, of every kind."""
        with self._database.joined():
            self._database.change("DELETE FROM device_version WHERE id = ?", [id])

    def unsent_versions(self, limit: int, after: tuple[str, str] = ("", "")) -> list[tuple[str, str]]:
        """Kind and id of records that have versions to send, in order."""
        sql = (
            "SELECT DISTINCT kind, id FROM device_version WHERE is_sent = 0 AND (kind, id) > (?, ?)"
            " ORDER BY kind, id LIMIT ?"
        )
        return [(kind, id) for kind, id in self._database.rows(sql, [*after, limit])]

    def count_unsent(self) -> int:
        """Records that were stamped and are in no segment yet."""
        return sum(
            int(self._database.value(sql))
            for sql in (
                "SELECT count(*) FROM (SELECT DISTINCT kind, id FROM device_version WHERE is_sent = 0)",
                "SELECT count(*) FROM device_conversation WHERE is_unsent = 1",
                "SELECT count(*) FROM device_forgotten WHERE is_sent = 0",
            )
        )

    def mark_sent(self, kind: str, id: str, order: tuple[int, str]) -> None:
        sql = "UPDATE device_version SET is_sent = 1 WHERE kind = ? AND id = ? AND stamp = ? AND device = ?"
        with self._database.joined():
            self._database.change(sql, [kind, id, *order])

    def resend(self, entities: Iterable[str]) -> None:
        """Write everything of these records into the folder again."""
        ids = [(id,) for id in entities]
        with self._database.joined():
            self._database.change_many("UPDATE device_version SET is_sent = 0 WHERE id = ?", ids)
            self._database.change_many(
                "UPDATE device_conversation SET mark = 0, header = '', is_unsent = 1 WHERE id = ?", ids
            )
            self._database.change_many("UPDATE device_forgotten SET is_sent = 0 WHERE id = ?", ids)

    def newest_stamps(self) -> dict[str, int]:
        """The greatest stamp of each device."""
        return self._database.pairs("SELECT device, max(stamp) FROM device_version GROUP BY device")

    def row(self, table: str, id: str) -> dict[str, Any] | None:
        """A row of one of ROWS, by the names of its columns."""
        columns = ROWS[table]
        rows = self._database.rows(f"SELECT {', '.join(columns)} FROM {table} WHERE {columns[0]} = ?", [id])
        return dict(zip(columns, rows[0], strict=True)) if rows else None

    def rows_after(self, table: str, after_ms: int) -> list[dict[str, Any]]:
        """Rows of one of ROWS that were made or changed after a time."""
        columns = ROWS[table]
        times = [column for column in columns if column == "at" or column.endswith("_at")]
        since = " OR ".join(f"{column} > ?" for column in times)
        rows = self._database.rows(
            f"SELECT {', '.join(columns)} FROM {table} WHERE {since}", [after_ms] * len(times)
        )
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def put_row(self, table: str, row: Mapping[str, Any]) -> None:
        """Insert a row, or replace the row with the same key.

        A link that duplicates another is not stored twice: the one with the smaller id stays."""
        columns = ROWS[table]
        values = [row[column] for column in columns]
        with self._database.joined():
            if table == "link":
                same = "source = ? AND target = ? AND relationship = ?"
                key = [row["source"], row["target"], row["relationship"]]
                self._database.change(f"DELETE FROM link WHERE {same} AND id > ?", [*key, row["id"]])
                if self._database.rows(f"SELECT 1 FROM link WHERE {same} AND id < ?", [*key, row["id"]]):
                    return
            updates = ", ".join(f"{column} = excluded.{column}" for column in columns[1:])
            sql = (
                f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks(columns)})"
                f" ON CONFLICT ({columns[0]}) DO UPDATE SET {updates}"
            )
            self._database.change(sql, values)

    def delete_row(self, table: str, id: str) -> None:
        with self._database.joined():
            self._database.change(f"DELETE FROM {table} WHERE {ROWS[table][0]} = ?", [id])

    def put_history(self, id: str, history: Sequence[Former]) -> None:
        """Replace the former values of a live memory."""
        entry = "SELECT n FROM entry WHERE id = ?"
        insert = f"INSERT INTO former (entry, place, {FORMER.listed}) SELECT n, ?, {marks(FORMER.names)} FROM entry WHERE id = ?"
        with self._database.joined():
            self._database.change(f"DELETE FROM former WHERE entry = ({entry})", [id])
            rows = [(place, *FORMER.write(former), id) for place, former in enumerate(history, start=1)]
            self._database.change_many(insert, rows)

    def forgotten_at(self, memory: str) -> datetime | None:
        """The time when an archived memory was forgotten; None if it is not forgotten or not archived."""
        times = self._database.values("SELECT forgotten_at FROM archived WHERE id = ?", [memory])
        return from_ms(times[0]) if times and times[0] is not None else None

    def is_buried(self, conversation: str) -> bool:
        return bool(self._database.rows("SELECT 1 FROM forgotten WHERE conversation = ?", [conversation]))

    def conversation(self, id: str) -> SentConversation | None:
        conversations = self._database.records(_CONVERSATION, "FROM device_conversation WHERE id = ?", [id])
        return conversations[0] if conversations else None

    def put_conversation(self, sent: SentConversation) -> None:
        with self._database.joined():
            self._database.change(
                _CONVERSATION.upsert("device_conversation", "id"), _CONVERSATION.write(sent)
            )

    def drop_conversation(self, id: str) -> None:
        with self._database.joined():
            self._database.change("DELETE FROM device_conversation WHERE id = ?", [id])

    def unsent_conversations(self) -> list[str]:
        return self._database.values("SELECT id FROM device_conversation WHERE is_unsent = 1 ORDER BY id")

    def tally(self, conversation: str, mark: int) -> tuple[int, int, int]:
        """Summarise the messages of a live conversation.

        Returns how many messages have numbers up to `mark`, the sum of their revisions, and the highest number of
        all messages."""
        counted = "SELECT count(*), coalesce(sum(revision), 0) FROM entry WHERE thread = ? AND kind = 'message' AND n <= ?"
        ((messages, revisions),) = self._database.rows(counted, [conversation, mark])
        last = "SELECT coalesce(max(n), 0) FROM entry WHERE thread = ? AND kind = 'message'"
        return messages, revisions, int(self._database.value(last, [conversation]))

    def messages_after(self, conversation: str, mark: int) -> set[str]:
        """The ids of messages with greater numbers."""
        sql = "SELECT id FROM entry WHERE thread = ? AND kind = 'message' AND n > ?"
        return set(self._database.values(sql, [conversation, mark]))

    def put_deletion(self, note: DeletionNote) -> None:
        """Insert a deletion, or replace the one with the same id."""
        with self._database.joined():
            self._database.change(_DELETION.upsert("device_forgotten", "id"), _DELETION.write(note))

    def undone_deletions(self) -> list[DeletionNote]:
        """Deletions that this store has still to repeat, or to repeat again because the record came back."""
        there = " UNION ALL ".join(
            f"SELECT 1 FROM {table.name} WHERE id = f.id" for table in _TRAVELLING if table.repeats_deletions
        )
        return self._database.records(
            _DELETION, f"FROM device_forgotten f WHERE is_done = 0 OR EXISTS ({there}) ORDER BY id"
        )

    def finish_deletions(self, ids: Iterable[str]) -> None:
        with self._database.joined():
            self._database.change_many(
                "UPDATE device_forgotten SET is_done = 1 WHERE id = ?", [(id,) for id in ids]
            )

    def reach_checkpoints(self, ids: Iterable[str]) -> None:
        """Other devices take these memories out of their checkpoints too."""
        if not self.is_possible:
            return
        sql = "INSERT OR IGNORE INTO device_journal (kind, id) SELECT 'checkpoints', ? FROM device_self"
        with self._database.joined():
            self._database.change_many(sql, [(id,) for id in ids])

    def deletions(self, ids: Iterable[str]) -> dict[str, DeletionNote]:
        """The deletions of the given records, by id."""
        return {
            note.id: note
            for listed, some in batches(ids)
            for note in self._database.records(
                _DELETION, f"FROM device_forgotten WHERE id IN ({listed})", some
            )
        }

    def all_deletions(self) -> list[DeletionNote]:
        return self._database.records(_DELETION, "FROM device_forgotten ORDER BY id")

    def buried(self) -> list[str]:
        """Conversations that were forgotten in this store."""
        return self._database.values("SELECT conversation FROM forgotten ORDER BY conversation")

    def unsent_deletions(self) -> list[DeletionNote]:
        return self._database.records(_DELETION, "FROM device_forgotten WHERE is_sent = 0 ORDER BY id")

    def mark_deletions_sent(self, ids: Iterable[str]) -> None:
        with self._database.joined():
            self._database.change_many(
                "UPDATE device_forgotten SET is_sent = 1 WHERE id = ?", [(id,) for id in ids]
            )

    def segments(self, names: Iterable[str]) -> dict[str, SegmentNote]:
        """The known segments among the given names, by name.

        Notes of replaced segments are never deleted, so that a file which a synchroniser restores is recognised.
        They therefore become far more numerous than the files in the folder."""
        return {
            note.name: note
            for listed, some in batches(names)
            for note in self._database.records(
                _SEGMENT, f"FROM device_segment WHERE name IN ({listed})", some
            )
        }

    def own_segments(self) -> list[SegmentNote]:
        """Current segments that this store wrote, also under a former id, in order."""
        return self._database.records(
            _SEGMENT, "FROM device_segment WHERE is_mine = 1 AND state = 'read' ORDER BY n"
        )

    def last_number(self, device: str) -> int:
        """The highest number of a device's segments; 0 where none is known."""
        sql = "SELECT coalesce(max(number), 0) FROM device_segment WHERE device = ?"
        return int(self._database.value(sql, [device]))

    def put_segment(self, note: SegmentNote) -> int:
        """Insert a segment, or replace the one with the same name. Returns its number."""
        columns = [name for name in _SEGMENT.names if name != "n"]
        updates = ", ".join(f"{name} = excluded.{name}" for name in columns if name != "name")
        sql = (
            f"INSERT INTO device_segment ({', '.join(columns)}) VALUES ({marks(columns)})"
            f" ON CONFLICT (name) DO UPDATE SET {updates} RETURNING n"
        )
        with self._database.joined():
            return int(self._database.rows(sql, _SEGMENT.write(note)[1:])[0][0])

    def set_segment_state(self, names: Iterable[str], state: str) -> None:
        with self._database.joined():
            self._database.change_many(
                "UPDATE device_segment SET state = ? WHERE name = ?", [(state, n) for n in names]
            )

    def hold(self, segment: int, entities: Mapping[str, bool]) -> None:
        """Record the ids a segment contains, each with True if it holds more than the deletion of that id."""
        with self._database.joined():
            self._database.change("DELETE FROM device_held WHERE segment = ?", [segment])
            rows = [(entity, segment, int(is_content)) for entity, is_content in entities.items()]
            self._database.change_many(
                "INSERT INTO device_held (entity, segment, is_content) VALUES (?, ?, ?)", rows
            )

    def held_by(self, segment: int) -> list[str]:
        return self._database.values("SELECT entity FROM device_held WHERE segment = ?", [segment])

    def forgotten_in_segments(self) -> list[tuple[str, DeletionNote]]:
        """Segments that still contain deleted records, each with the deletion."""
        columns = ", ".join(f"f.{name}" for name in _DELETION.names)
        sql = (
            f"SELECT s.name, {columns} FROM device_forgotten f"
            " JOIN device_held h ON h.entity = f.id AND h.is_content = 1 JOIN device_segment s ON s.n = h.segment ORDER BY s.name"
        )
        return [(name, _DELETION.read(row)) for name, *row in self._database.rows(sql)]

    def machines_with(self, entity: str) -> list[str]:
        """The names of other machines whose segments contain a record."""
        sql = (
            "SELECT DISTINCT p.name FROM device_held h JOIN device_segment s ON s.n = h.segment"
            " JOIN device_peer p ON p.id = s.device WHERE h.entity = ? AND h.is_content = 1"
            " AND s.device NOT IN (SELECT id FROM device_self) ORDER BY p.name"
        )
        return self._database.values(sql, [entity]) if self.is_possible else []

    def tally_held(self) -> dict[str, tuple[int, int]]:
        """The number of memories and conversations in the segments of each device."""
        sql = (
            "SELECT s.device, count(DISTINCT CASE WHEN v.id IS NOT NULL THEN h.entity END),"
            " count(DISTINCT CASE WHEN c.id IS NOT NULL THEN h.entity END)"
            " FROM device_held h JOIN device_segment s ON s.n = h.segment"
            " LEFT JOIN (SELECT DISTINCT id FROM device_version WHERE kind = 'memory') v ON v.id = h.entity"
            " LEFT JOIN device_conversation c ON c.id = h.entity"
            " WHERE h.is_content = 1 AND s.state = 'read' GROUP BY s.device"
        )
        return {
            device: (memories, conversations) for device, memories, conversations in self._database.rows(sql)
        }

    def peers(self) -> list[Peer]:
        return self._database.records(_PEER, "FROM device_peer ORDER BY name, id")

    def put_peer(self, peer: Peer) -> None:
        """Insert a device, or replace the data of an earlier segment of that device."""
        sql = _PEER.upsert("device_peer", "id")
        with self._database.joined():
            self._database.change(sql, _PEER.write(peer))

    def projects(self) -> list[KnownProject]:
        return self._database.records(_PROJECT, "FROM device_project ORDER BY path")

    def put_project(self, project: KnownProject) -> None:
        with self._database.joined():
            self._database.change(_PROJECT.upsert("device_project", "path"), _PROJECT.write(project))

    def move_project(self, former: str, now: str) -> None:
        """Move all records of a project to another one, including paths of files below it."""
        with self._database.joined():
            below = "value LIKE ? ESCAPE '!' AND entry IN (SELECT n FROM entry WHERE project = ?)"
            pattern = former.replace("!", "!!").replace("%", "!%").replace("_", "!_") + "/%"
            self._database.change(
                f"UPDATE trace SET value = ? || substr(value, ?) WHERE {below}",
                [now, len(former) + 1, pattern, former],
            )
            for table in _TRAVELLING:
                if "project" in table.columns:
                    sql = f"UPDATE {table.name} SET project = ? WHERE project = ?"
                    self._database.change(sql, [now, former])
            self._database.change("DELETE FROM device_project WHERE path = ?", [former])
