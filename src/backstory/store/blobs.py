"""Bytes under the SHA-256 of their content, each stored once and compressed."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Protocol

from .statements import Statements

LEVEL = 1  # a checkpoint waits for it: four times as fast as the usual 6, and a tenth larger
AT_ONCE = 500  # parameters of one statement; older builds of SQLite allow 999


class Blobs(Protocol):
    def put_blobs(self, contents: Sequence[bytes]) -> list[str]:
        """Keep each content, unless it is kept already, and give their hashes. Whoever refers to them does so
        in the same transaction, else another process may drop them meanwhile."""

    def read_blobs(self, hashes: Sequence[str]) -> dict[str, bytes]: ...


class BlobRows(Statements):
    def put_blobs(self, contents: Sequence[bytes]) -> list[str]:
        from hashlib import sha256  # loads OpenSSL, which is not for start-up

        hashes = [sha256(content).hexdigest() for content in contents]
        with self.transaction():
            known = self._known(hashes)
            for hash, content in dict(zip(hashes, contents, strict=True)).items():
                if hash not in known:
                    packed = zlib.compress(content, LEVEL)
                    self._change("INSERT INTO content (hash, packed) VALUES (?, ?)", [hash, packed])
        return hashes

    def read_blobs(self, hashes: Sequence[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for some in _slices(hashes):
            sql = f"SELECT hash, packed FROM content WHERE hash IN ({', '.join('?' * len(some))})"
            found |= {hash: zlib.decompress(packed) for hash, packed in self._rows(sql, some)}
        return found

    def _known(self, hashes: Sequence[str]) -> set[str]:
        return {
            row[0]
            for some in _slices(hashes)
            for row in self._rows(
                f"SELECT hash FROM content WHERE hash IN ({', '.join('?' * len(some))})", some
            )
        }


def _slices(hashes: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(hashes), AT_ONCE):
        yield hashes[start : start + AT_ONCE]
