"""What tells whether a foreign file changed, and whether what was read of it still stands there."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from ...readers import Form, Source

SAMPLE = 4096
"""Bytes that are compared at the beginning, and before the place where reading goes on."""


class Stamp(NamedTuple):
    size: int
    modified_ns: int

    @property
    def modified_ms(self) -> int:
        return self.modified_ns // 1_000_000


def stamp_of(source: Source) -> Stamp:
    """Of a database, with what its owner has not moved into it yet."""
    if source.form is Form.DATABASE:
        from ...readers.formats.databases import stamp  # sqlite3 for readers, which not everybody needs

        return Stamp(*stamp(source.path))
    state = source.path.stat()
    return Stamp(state.st_size, state.st_mtime_ns)


class Samples(NamedTuple):
    """Hashes of the first bytes of a log, and of the last ones before a position."""

    head: str
    tail: str


def samples(path: Path, position: int) -> Samples:
    with path.open("rb") as file:
        head = file.read(min(SAMPLE, position))
        file.seek(max(position - SAMPLE, 0))
        return Samples(_hash(head), _hash(file.read(min(SAMPLE, position))))


def _hash(sample: bytes) -> str:
    return blake2b(sample, digest_size=16).hexdigest()
