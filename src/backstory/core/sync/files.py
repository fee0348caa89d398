"""Detection of changes in foreign files: of new content, and of edits to content that was already read."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import NamedTuple

from ...readers import Form, Source
from ...readers.formats.databases import stamp
from ...readers.formats.files import open_regular

CHUNK = 1 << 20  # bytes per read


class Stamp(NamedTuple):
    size: int
    modified_ns: int

    @property
    def modified_ms(self) -> int:
        return self.modified_ns // 1_000_000


def stamp_of(source: Source) -> Stamp:
    """The size and modification time of a file; for a database, including its write-ahead log."""
    # A database in WAL mode changes without its main file changing.
    if source.form is Form.DATABASE:
        return Stamp(*stamp(source.path))
    state = source.path.stat()
    return Stamp(state.st_size, state.st_mtime_ns)


class Checksum:
    """A checksum of all bytes of a log before a position, continued as the position advances.

    It detects edits anywhere, for example a secret that was overwritten. A CRC can be continued and is fast, which
    matters because the whole log is read whenever it grows; forgery is not a concern."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0
        self._crc = 0

    def until(self, position: int) -> str:
        """The checksum of the bytes before `position`, or "" if the file is shorter or cannot be read."""
        # A CRC can only be continued forwards.
        if position < self._position:
            self._position = self._crc = 0
        try:
            with open_regular(self._path) as file:
                file.seek(self._position)
                while self._position < position:
                    chunk = file.read(min(CHUNK, position - self._position))
                    if not chunk:
                        return ""
                    self._crc = zlib.crc32(chunk, self._crc)
                    self._position += len(chunk)
        except OSError:
            return ""
        return f"{self._crc:08x}"
