"""Changes to memories, and the watchers that are notified of them.

Saving, changing and erasing a memory is recorded only while a watcher is active. Every other deletion is always
recorded by the code that deletes, because nothing else preserves the key of the deleted memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from ..domain.links import ChangeKind, MemoryChange, Watcher
from ..domain.when import to_ms
from .columns import FLAG, JSON, LIST, Codec, Columns
from .database import Database, Row, batches

_KIND = Codec(str, {kind.value: kind for kind in ChangeKind}.__getitem__)
_OPTIONAL_FLAG = Codec(
    lambda value: None if value is None else FLAG.write(value),
    lambda value: None if value is None else FLAG.read(value),
)
_CHANGE = Columns(MemoryChange, {"kind": _KIND, "private": _OPTIONAL_FLAG, "is_erased": _OPTIONAL_FLAG})
_WATCHER = Columns(Watcher, {"filters": JSON, "existing": LIST})

_LAST = (
    "SELECT max(n) FROM (SELECT coalesce(max(sequence), 0) AS n FROM memory_change"
    " UNION ALL SELECT coalesce(max(sequence), 0) FROM watcher) AS known"
)
"""The highest sequence number in use.

Changes that every watcher has received are deleted, so the watchers' own positions count too.
"""


def note_changes(database: Database, changes: Sequence[Row]) -> None:
    """Note (kind, memory id, time in ms) of memories that were saved or changed, if a watcher waits for them."""
    if not changes or not _is_watched(database, max(at for _, _, at in changes)):
        return
    first = int(database.value(_LAST)) + 1
    sql = "INSERT INTO memory_change (sequence, kind, memory, changed_at) VALUES (?, ?, ?, ?)"
    database.change_many(sql, [(n, *change) for n, change in enumerate(changes, start=first)])


def _is_watched(database: Database, at_ms: int) -> bool:
    waiting = "SELECT count(*) FROM watcher WHERE stopped_at IS NULL AND expires_at > ?"
    return bool(database.value(waiting, [at_ms]))


class ChangeRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def last_sequence(self) -> int:
        return int(self._database.value(_LAST))

    def note_update(self, memories: Iterable[str], at: datetime) -> None:
        """Record a change to data that belongs to these memories, for example a link."""
        with self._database.joined():
            note_changes(self._database, [(ChangeKind.UPDATE.value, id, to_ms(at)) for id in memories])

    def note_deletions(self, deletions: Iterable[MemoryChange]) -> None:
        """Record deletions, and assign their sequence numbers."""
        with self._database.transaction():
            first = self.last_sequence() + 1
            rows = [
                _CHANGE.write(deletion._replace(sequence=n))
                for n, deletion in enumerate(deletions, start=first)
            ]
            self._database.change_many(_CHANGE.insert("memory_change"), rows)

    def is_watched(self, at: datetime) -> bool:
        """True if any watcher waits for changes."""
        return _is_watched(self._database, to_ms(at))

    def after(self, sequence: int, limit: int) -> list[MemoryChange]:
        """The next changes, in order."""
        rest = "FROM memory_change WHERE sequence > ? ORDER BY sequence LIMIT ?"
        return self._database.records(_CHANGE, rest, [sequence, limit])

    def deletions(self, surface: str, session: str, since: datetime) -> list[MemoryChange]:
        """Memories of a session that were deleted then or later, but not erased, in order."""
        rest = (
            "FROM memory_change WHERE kind = 'DELETE' AND is_erased = 0 AND surface = ? AND session = ? AND changed_at >= ?"
            " ORDER BY sequence"
        )
        return self._database.records(_CHANGE, rest, [surface, session, to_ms(since)])

    def deleted_channels(self, surface: str, session: str) -> list[str]:
        """Channels of deleted memories, as far as the session may know of them."""
        sql = (
            "SELECT DISTINCT channel FROM memory_change WHERE kind = 'DELETE' AND is_erased = 0 AND surface = ?"
            " AND channel IS NOT NULL AND (private = 0 OR session = ?) ORDER BY channel"
        )
        return self._database.values(sql, [surface, session])

    def put_watcher(self, watcher: Watcher) -> None:
        """Insert a watcher, or replace the one with the same id."""
        with self._database.joined():
            self._database.change(_WATCHER.upsert("watcher", "id"), _WATCHER.write(watcher))

    def watcher(self, id: str) -> Watcher | None:
        watchers = self._database.records(_WATCHER, "FROM watcher WHERE id = ?", [id])
        return watchers[0] if watchers else None

    def watchers(self, session: str) -> list[Watcher]:
        """All watchers of a session, including ended ones, oldest first."""
        rest = "FROM watcher WHERE session = ? ORDER BY created_at, id"
        return self._database.records(_WATCHER, rest, [session])

    def prune(self, now: datetime, *, ended_before: datetime, deleted_before: datetime) -> bool:
        """Delete changes that every watcher has received, old deletions, and watchers that ended long ago.

        Returns True if the key of an erased memory was among them."""
        with self._database.joined():
            waiting = "SELECT min(sequence) FROM watcher WHERE stopped_at IS NULL AND expires_at > ?"
            reported = self._database.value(waiting, [to_ms(now)])
            last = self.last_sequence() if reported is None else reported
            erased = "DELETE FROM memory_change WHERE sequence <= ? AND is_erased = 1"
            held_erased = self._database.change(erased, [last]) > 0
            self._database.change(
                "DELETE FROM memory_change WHERE sequence <= ? AND (kind <> 'DELETE' OR changed_at < ?)",
                [last, to_ms(deleted_before)],
            )
            ended = "DELETE FROM watcher WHERE coalesce(stopped_at, expires_at) < ?"
            self._database.change(ended, [to_ms(ended_before)])
        return held_erased

    def forget(self, memories: Sequence[str]) -> int:
        """Delete all records of changes to these memories. Returns their number."""
        with self._database.joined():
            return sum(
                self._database.change(f"DELETE FROM memory_change WHERE memory IN ({marks})", some)
                for marks, some in batches(memories)
            )
