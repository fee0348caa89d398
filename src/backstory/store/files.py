"""Files as a session last saw them, and bytes under the SHA-256 of their content, each stored once and compressed."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from hashlib import sha256

from ..domain.checkpoints import CachedFile
from .columns import JSON, Columns
from .database import Database, batches

LEVEL = 1  # a checkpoint waits for it: four times as fast as the usual 6, and a tenth larger

# manifests of checkpoints hold files in the order of these fields
FILE = Columns(CachedFile, {"metadata": JSON})


class FileRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, file: CachedFile) -> None:
        """Insert a file, or replace the one with the same session and path. Its content must already be stored."""
        with self._database.transaction():
            self._database.change(FILE.upsert("cached_file", "session", "path"), FILE.write(file))

    def get(self, session: str, path: str) -> CachedFile | None:
        rest = "FROM cached_file WHERE session = ? AND path = ?"
        files = self._database.records(FILE, rest, [session, path])
        return files[0] if files else None

    def latest(self, path: str) -> CachedFile | None:
        """The file as any session last saw it."""
        rest = "FROM cached_file WHERE path = ? ORDER BY cached_at DESC, id LIMIT 1"
        files = self._database.records(FILE, rest, [path])
        return files[0] if files else None

    def find(self, session: str) -> list[CachedFile]:
        """The files of a session, sorted by path."""
        return self._database.records(FILE, "FROM cached_file WHERE session = ? ORDER BY path", [session])

    def put_blobs(self, contents: Sequence[bytes]) -> list[str]:
        """Store each content unless it exists, and return the hashes.

        The caller must refer to the hashes in the same transaction; otherwise another process may delete the
        contents."""
        hashes = [sha256(content).hexdigest() for content in contents]
        with self._database.transaction():
            known = {
                hash
                for marks, some in batches(hashes)
                for hash in self._database.values(f"SELECT hash FROM content WHERE hash IN ({marks})", some)
            }
            for hash, content in dict(zip(hashes, contents, strict=True)).items():
                if hash not in known:
                    packed = zlib.compress(content, LEVEL)
                    self._database.change("INSERT INTO content (hash, packed) VALUES (?, ?)", [hash, packed])
        return hashes

    def read_blobs(self, hashes: Sequence[str]) -> dict[str, bytes]:
        return {
            hash: zlib.decompress(packed)
            for marks, some in batches(hashes)
            for hash, packed in self._database.rows(
                f"SELECT hash, packed FROM content WHERE hash IN ({marks})", some
            )
        }
