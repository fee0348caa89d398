"""Archived memories: out of the live tables and every index, whole with their histories, in compressed packs."""

from __future__ import annotations

import json
import zlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from ..domain.archive import ArchivedMemory, PackSize
from ..domain.filters import Filter
from ..domain.records import Former, Memory
from ..domain.when import to_ms
from .copies import COPIED, CopyRows, read_copied
from .rows import FORMER_COLUMNS, read_former
from .where import where_clause

PACK = 200  # memories in a pack: reading one unpacks them all, and more together hardly shrink further

_FORMER = ", ".join(FORMER_COLUMNS)
_INDEX = ("id", "key", "private", "category", "priority", "channel", "created_at", "updated_at")
_ARCHIVED = (
    "(SELECT a.*, 'memory' AS kind, 'own' AS trust, p.thread, p.project, p.surface"
    " FROM archived a JOIN archive_pack p ON p.n = a.pack) AS e"
)
"""Looks like the entry table to a Filter, which asks only whether something came with a repository: no memory does."""


class Archives(Protocol):
    def archive_memories(self, memories: Sequence[Memory]) -> PackSize:
        """Move memories and their histories into the archive."""

    def find_archived(self, where: Filter) -> list[ArchivedMemory]:
        """What was changed last comes first."""

    def restore_archived(self, ids: Sequence[str]) -> None:
        """Move memories and their histories back. No live memory may have one of the ids."""

    def delete_archived(self, where: Filter) -> int:
        """Delete for good what matches, and say how many went."""


class ArchiveRows(CopyRows):
    @abstractmethod
    def put_memories(self, memories: Sequence[Memory]) -> None: ...

    @abstractmethod
    def delete_memories(self, where: Filter) -> int: ...

    def archive_memories(self, memories: Sequence[Memory]) -> PackSize:
        total = PackSize(0, 0, 0)
        with self.transaction():
            for together in _together(memories):
                pack = self._pack(together)
                total = PackSize(*(a + b for a, b in zip(total, pack, strict=True)))
                self.delete_memories(Filter(ids=tuple(memory.id for memory in together)))
        return total

    def find_archived(self, where: Filter) -> list[ArchivedMemory]:
        condition, values = where_clause(where)
        sql = f"SELECT e.id, e.pack, e.thread, e.surface FROM {_ARCHIVED} WHERE {condition} ORDER BY e.updated_at DESC, e.id"
        rows = self._rows(sql, values)
        packs = {n: self._unpack(n) for n in dict.fromkeys(row[1] for row in rows)}
        return [_read_archived(packs[pack], id, thread, surface) for id, pack, thread, surface in rows]

    def restore_archived(self, ids: Sequence[str]) -> None:
        with self.transaction():
            for start in range(0, len(ids), PACK):
                some = Filter(ids=tuple(ids[start : start + PACK]))
                found = self.find_archived(some)
                self.put_memories([archived.memory for archived in found])
                for archived in found:
                    self._put_history(archived.memory.id, archived.history)
                self.delete_archived(some)

    def delete_archived(self, where: Filter) -> int:
        condition, values = where_clause(where)
        with self.transaction():
            rows = self._rows(f"SELECT e.id, e.pack FROM {_ARCHIVED} WHERE {condition}", values)
            for n in {row[1] for row in rows}:
                self._take_out(n, [id for id, pack in rows if pack == n])
        return len(rows)

    def _pack(self, memories: Sequence[Memory]) -> PackSize:
        first = memories[0]
        ids = [memory.id for memory in memories]
        marks = ", ".join("?" * len(ids))
        lines = self._rows(
            f"SELECT e.id, {self._copied()} FROM entry e WHERE e.id IN ({marks}) ORDER BY e.n", ids
        )
        items = {id: [json.loads(line), []] for id, line in lines}
        for id, *former in self._rows(
            f"SELECT e.id, {', '.join(f'f.{name}' for name in _FORMER.split(', '))} FROM former f"
            f" JOIN entry e ON e.n = f.entry WHERE e.id IN ({marks}) ORDER BY e.n, f.place",
            ids,
        ):
            items[id][1].append(former)
        whole = dump({"columns": COPIED, "items": items})
        packed = zlib.compress(whole, 9)
        n = self._rows("SELECT coalesce(max(n), 0) + 1 FROM archive_pack")[0][0]
        self._change(
            "INSERT INTO archive_pack (n, thread, project, surface, packed) VALUES (?, ?, ?, ?, ?)",
            [n, first.session, first.project, first.surface, packed],
        )
        return PackSize(len(items), len(whole), len(packed) + sum(self._index(n, m) for m in memories))

    def _index(self, n: int, m: Memory) -> int:
        """List a memory as part of a pack; how many bytes that takes."""
        sql = f"INSERT INTO archived (pack, {', '.join(_INDEX)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        texts = (m.id, m.key, m.category, m.priority.value, m.channel)
        times = (to_ms(m.created_at), to_ms(m.updated_at))
        self._change(sql, [n, m.id, m.key, int(m.private), m.category, m.priority.value, m.channel, *times])
        return sum(len(text.encode()) for text in texts if text) + 8 * len(times)

    def _unpack(self, n: int) -> dict[str, Any]:
        packed = self._rows("SELECT packed FROM archive_pack WHERE n = ?", [n])[0][0]
        pack: dict[str, Any] = json.loads(zlib.decompress(packed))
        return pack

    def _take_out(self, n: int, ids: Sequence[str]) -> None:
        for id in ids:
            self._change("DELETE FROM archived WHERE id = ?", [id])
        pack = self._unpack(n)
        pack["items"] = {id: item for id, item in pack["items"].items() if id not in ids}
        if pack["items"]:
            packed = zlib.compress(dump(pack), 9)
            self._change("UPDATE archive_pack SET packed = ? WHERE n = ?", [packed, n])
        else:
            self._change("DELETE FROM archive_pack WHERE n = ?", [n])

    def _put_history(self, id: str, history: Sequence[Former]) -> None:
        sql = f"INSERT INTO former (entry, place, {_FORMER}) SELECT n, ?, ?, ?, ?, ?, ?, ?, ? FROM entry WHERE id = ?"
        for place, f in enumerate(history, start=1):
            metadata, saved_at = json.dumps(dict(f.metadata)), to_ms(f.saved_at)
            row = [place, f.text, f.category, f.priority.value, f.channel, metadata, saved_at, int(f.private)]
            self._change(sql, [*row, id])


def _together(memories: Sequence[Memory]) -> Iterator[Sequence[Memory]]:
    """Those that share a pack."""
    places: dict[tuple[str | None, str, str], list[Memory]] = {}
    for memory in memories:
        places.setdefault((memory.session, memory.project, memory.surface), []).append(memory)
    for place in places.values():
        for start in range(0, len(place), PACK):
            yield place[start : start + PACK]


def _read_archived(pack: dict[str, Any], id: str, session: str | None, surface: str) -> ArchivedMemory:
    line, formers = pack["items"][id]
    return ArchivedMemory(
        read_copied(line, pack["columns"], session=session, surface=surface),
        tuple(map(read_former, formers)),
    )


def dump(pack: dict[str, Any]) -> bytes:
    return json.dumps(pack, ensure_ascii=False, separators=(",", ":")).encode()
