"""Checkpoints: exact copies of a session's memories and files, stored as content-addressed chunks.

The lines of a session's memories are cut into chunks, and a manifest lists the hashes of the chunks. The id of a
memory decides whether a chunk ends after it, and memories are ordered by their entry numbers, which never change. An
edit, a deletion or a new memory therefore changes only its own chunk, and an unchanged session produces the same
manifest.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from ..domain.checkpoints import CachedFile, Checkpoint, CheckpointContents, CheckpointManifest
from ..domain.filters import Filter
from ..domain.records import Memory
from .columns import Columns, marks
from .copies import COPIED, copied_columns, copied_line, read_copied
from .database import Database, Row
from .files import FILE, FileRoom
from .where import MEMORIES, where_clause

CHUNK = 64  # memories in a chunk, on average; fewer make an edit cheaper and the manifest longer

_CHECKPOINT = Columns(Checkpoint)


class CheckpointRoom:
    def __init__(self, database: Database, files: FileRoom) -> None:
        self._database = database
        self._files = files

    def copy(self, where: Filter, files: Sequence[CachedFile]) -> CheckpointManifest:
        """Copy the matching memories and the metadata of the files."""
        condition, values = where_clause(where)
        line = copied_columns(self._database)
        sql = f"SELECT e.id, {line} FROM entry e WHERE {MEMORIES} AND {condition} ORDER BY e.n"
        with self._database.transaction():
            return self._keep(self._database.rows(sql, values), files)

    def copy_foreign(self, memories: Sequence[Memory], files: Sequence[CachedFile]) -> CheckpointManifest:
        """Copy memories that are not in the store, for example those of an imported file."""
        with self._database.transaction():
            return self._keep([(memory.id, copied_line(memory)) for memory in memories], files)

    def _keep(self, lines: Sequence[Row], files: Sequence[CachedFile]) -> CheckpointManifest:
        chunks = self._files.put_blobs(["\n".join(some).encode() for some in _chunks(lines)])
        manifest = {"columns": COPIED, "chunks": chunks, "files": [FILE.write(file) for file in files]}
        (root,) = self._files.put_blobs([json.dumps(manifest).encode()])
        return CheckpointManifest(root, len(lines))

    def read(self, checkpoint: Checkpoint) -> CheckpointContents:
        """The contents of a checkpoint as of the time it was taken."""
        manifest = self._manifest(checkpoint.root)
        chunks = self._files.read_blobs(manifest["chunks"])
        memories = [
            read_copied(
                json.loads(line), manifest["columns"], session=checkpoint.session, surface=checkpoint.surface
            )
            for hash in manifest["chunks"]
            for line in chunks[hash].decode().split("\n")
        ]
        return CheckpointContents(memories, [FILE.read(row) for row in manifest["files"]])

    def put(self, checkpoint: Checkpoint) -> None:
        sql = (
            f"INSERT INTO checkpoint (n, {_CHECKPOINT.listed})"
            f" SELECT coalesce(max(n), 0) + 1, {marks(_CHECKPOINT.names)} FROM checkpoint"
        )
        with self._database.transaction():
            self._database.change(sql, _CHECKPOINT.write(checkpoint))

    def find(
        self, surface: str, *, id: str | None = None, name: str | None = None, session: str | None = None
    ) -> list[Checkpoint]:
        """The checkpoints that match all given arguments, newest first."""
        arguments = {"surface": surface, "id": id, "name": name, "session": session}
        conditions = {column: value for column, value in arguments.items() if value is not None}
        condition = " AND ".join(f"{column} = ?" for column in conditions)
        rest = f"FROM checkpoint WHERE {condition} ORDER BY n DESC"
        return self._database.records(_CHECKPOINT, rest, list(conditions.values()))

    def remove(self, memories: Collection[str]) -> int:
        """Remove these memories from all checkpoints. Returns the number of checkpoints that contained one."""
        changed = 0
        with self._database.transaction():
            for n, root in self._database.rows("SELECT n, root FROM checkpoint ORDER BY n"):
                manifest = self._manifest(root)
                chunks, taken = self._chunks_without(manifest, frozenset(memories))
                if taken:
                    (new,) = self._files.put_blobs([json.dumps(manifest | {"chunks": chunks}).encode()])
                    sql = "UPDATE checkpoint SET root = ?, items = items - ? WHERE n = ?"
                    changed += self._database.change(sql, [new, taken, n])
            if changed:
                self.drop_unused_blobs()
        return changed

    def _chunks_without(self, manifest: dict[str, Any], memories: frozenset[str]) -> tuple[list[str], int]:
        """The hashes of the chunks without these memories, and the number of memories removed."""
        id_at = manifest["columns"].index("id")
        contents = self._files.read_blobs(manifest["chunks"])
        hashes: list[str] = []
        taken = 0
        for hash in manifest["chunks"]:
            lines = contents[hash].decode().split("\n")
            left = [line for line in lines if json.loads(line)[id_at] not in memories]
            taken += len(lines) - len(left)
            if len(left) == len(lines):
                hashes.append(hash)
            elif left:
                hashes += self._files.put_blobs(["\n".join(left).encode()])
        return hashes, taken

    def drop_unused_blobs(self) -> int:
        """Delete contents that neither a file nor a checkpoint refers to. Returns their number.

        Copies in a checkpoint survive the deletion of the original memory: that is the purpose of a checkpoint."""
        with self._database.transaction():
            used = set(self._database.values("SELECT DISTINCT hash FROM cached_file"))
            for root in self._database.values("SELECT DISTINCT root FROM checkpoint"):
                manifest = self._manifest(root)
                used |= {root, *manifest["chunks"], *(FILE.read(row).hash for row in manifest["files"])}
            unused = [
                (hash,) for hash in self._database.values("SELECT hash FROM content") if hash not in used
            ]
            self._database.change_many("DELETE FROM content WHERE hash = ?", unused)
        return len(unused)

    def _manifest(self, root: str) -> dict[str, Any]:
        manifest: dict[str, Any] = json.loads(self._files.read_blobs([root])[root])
        return manifest


def _chunks(lines: Iterable[Row]) -> Iterator[list[str]]:
    chunk: list[str] = []
    for id, line in lines:
        chunk.append(line)
        if zlib.crc32(id.encode()) % CHUNK == 0:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
