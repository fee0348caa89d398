"""Checkpoints: true copies of a session's memories and files, as rows and content-addressed chunks.

The lines of a session's memories are cut into chunks, and a manifest lists the hashes of the chunks. A chunk ends at
a memory whose id says so, and the memories stand in the order of their entry numbers, which never change: an edit,
a deletion or a new memory changes its own chunk and no other, and an unchanged session gives the same manifest.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from ..domain.checkpoints import CachedFile, Checkpoint, CheckpointContents, Manifest
from ..domain.filters import Filter, Kind
from ..domain.records import Memory
from ..domain.when import from_ms, to_ms
from .blobs import BlobRows
from .copies import COPIED, CopyRows, copied_line, read_copied
from .files import file_row, read_file
from .statements import Row
from .where import where_clause

CHUNK = 64  # memories in a chunk, on average; fewer make an edit cheaper and the manifest longer

_COLUMNS = (
    "id", "name", "description", "session", "project", "surface", "root", "items", "files", "git_branch",
    "git_status", "created_at",
)  # fmt: skip


class Snapshots(Protocol):
    def copy_memories(self, where: Filter, files: Sequence[CachedFile]) -> Manifest:
        """Keep copies of the memories that match, and of what is known of the files."""

    def keep_copies(self, memories: Sequence[Memory], files: Sequence[CachedFile]) -> Manifest:
        """The same for memories that are not in the store, as in a file that is imported."""

    def read_copy(self, checkpoint: Checkpoint) -> CheckpointContents:
        """What a checkpoint holds, as it was when it was taken."""

    def put_checkpoint(self, checkpoint: Checkpoint) -> None: ...

    def find_checkpoints(
        self, surface: str, *, id: str | None = None, name: str | None = None, session: str | None = None
    ) -> list[Checkpoint]:
        """Newest first."""

    def drop_unused_blobs(self) -> int:
        """Delete the contents that no file and no checkpoint refers to. What a checkpoint copied stays, also when
        the memory it was copied from is deleted: that is what a checkpoint is for."""


class SnapshotRows(BlobRows, CopyRows):
    def copy_memories(self, where: Filter, files: Sequence[CachedFile]) -> Manifest:
        condition, values = where_clause(where)
        sql = f"SELECT e.id, {self._copied()} FROM entry e WHERE e.kind = ? AND {condition} ORDER BY e.n"
        with self.transaction():
            return self._keep_lines(self._rows(sql, [Kind.MEMORY, *values]), files)

    def keep_copies(self, memories: Sequence[Memory], files: Sequence[CachedFile]) -> Manifest:
        with self.transaction():
            return self._keep_lines([(memory.id, copied_line(memory)) for memory in memories], files)

    def _keep_lines(self, rows: Sequence[Row], files: Sequence[CachedFile]) -> Manifest:
        chunks = self.put_blobs(["\n".join(lines).encode() for lines in _chunks(rows)])
        manifest = {"columns": COPIED, "chunks": chunks, "files": [file_row(file) for file in files]}
        return Manifest(self.put_blobs([json.dumps(manifest).encode()])[0], len(rows))

    def read_copy(self, checkpoint: Checkpoint) -> CheckpointContents:
        manifest = self._manifest(checkpoint.root)
        chunks = self.read_blobs(manifest["chunks"])
        memories = [
            read_copied(
                json.loads(line), manifest["columns"], session=checkpoint.session, surface=checkpoint.surface
            )
            for hash in manifest["chunks"]
            for line in chunks[hash].decode().split("\n")
        ]
        return CheckpointContents(memories, [read_file(row) for row in manifest["files"]])

    def put_checkpoint(self, checkpoint: Checkpoint) -> None:
        marks = ", ".join("?" * len(_COLUMNS))
        sql = (
            f"INSERT INTO checkpoint (n, {', '.join(_COLUMNS)})"
            f" SELECT coalesce(max(n), 0) + 1, {marks} FROM checkpoint"
        )
        with self.transaction():
            self._change(sql, [*checkpoint[:-1], to_ms(checkpoint.created_at)])

    def find_checkpoints(
        self, surface: str, *, id: str | None = None, name: str | None = None, session: str | None = None
    ) -> list[Checkpoint]:
        narrowing = [
            (column, value)
            for column, value in (("surface", surface), ("id", id), ("name", name), ("session", session))
            if value is not None
        ]
        condition = " AND ".join(f"{column} = ?" for column, _ in narrowing)
        sql = f"SELECT {', '.join(_COLUMNS)} FROM checkpoint WHERE {condition} ORDER BY n DESC"
        return [_read_checkpoint(row) for row in self._rows(sql, [value for _, value in narrowing])]

    def drop_unused_blobs(self) -> int:
        with self.transaction():
            used = {row[0] for row in self._rows("SELECT DISTINCT hash FROM cached_file")}
            for (root,) in self._rows("SELECT DISTINCT root FROM checkpoint"):
                manifest = self._manifest(root)
                used |= {root, *manifest["chunks"], *(read_file(row).hash for row in manifest["files"])}
            unused = [row[0] for row in self._rows("SELECT hash FROM content") if row[0] not in used]
            for hash in unused:
                self._change("DELETE FROM content WHERE hash = ?", [hash])
        return len(unused)

    def _manifest(self, root: str) -> dict[str, Any]:
        manifest: dict[str, Any] = json.loads(self.read_blobs([root])[root])
        return manifest


def _chunks(rows: Iterable[Row]) -> Iterator[list[str]]:
    lines: list[str] = []
    for id, line in rows:
        lines.append(line)
        if zlib.crc32(id.encode()) % CHUNK == 0:
            yield lines
            lines = []
    if lines:
        yield lines


def _read_checkpoint(row: Row) -> Checkpoint:
    return Checkpoint(*row)._replace(created_at=from_ms(row[-1]))
