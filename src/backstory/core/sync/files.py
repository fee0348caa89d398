"""What tells whether a foreign file changed, and whether what was read of it still stands there."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import NamedTuple

from ...readers import Form, Source
from ...readers.formats.databases import stamp
from ...readers.formats.files import open_regular

CHUNK = 1 << 20


class Stamp(NamedTuple):
    size: int
    modified_ns: int

    @property
    def modified_ms(self) -> int:
        return self.modified_ns // 1_000_000


def stamp_of(source: Source) -> Stamp:
    """Of a database, with what its owner has not moved into it yet."""
    if source.form is Form.DATABASE:
        return Stamp(*stamp(source.path))
    state = source.path.stat()
    return Stamp(state.st_size, state.st_mtime_ns)


class Checksum:
    """Of all bytes of a log before a position, continued as the position moves on.

    It finds an edit anywhere, such as a secret that somebody overwrote. It is a CRC because that can be continued, and
    because all of the log is read for it whenever it grows; nobody has a reason to forge it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0
        self._crc = 0

    def until(self, position: int) -> str:
        """Empty when the file is shorter, or cannot be read any more."""
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
