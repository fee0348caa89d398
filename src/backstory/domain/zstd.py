"""Zstandard: the module of Python 3.14, or its backport on an older Python, and a reader of compressed files."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, BinaryIO

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdCompressor, ZstdDecompressor, ZstdError, compress, decompress
else:
    from backports.zstd import ZstdCompressor, ZstdDecompressor, ZstdError, compress, decompress

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["ZstdCompressor", "ZstdDecompressor", "ZstdError", "compress", "decompress", "open_frames"]

CHUNK_BYTES = 128 * 1024


def open_frames(packed: BinaryIO) -> BinaryIO:
    """The content of a file of one or more frames. Closing it closes the file.

    A file that its program is still writing ends within a frame; the part that is there is read, where `ZstdFile` would
    raise an error."""
    return io.BufferedReader(_Frames(packed), CHUNK_BYTES)


class _Frames(io.RawIOBase):
    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed
        self._frame = ZstdDecompressor()
        self._rest = b""
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Skip content. Nobody goes back in a log, so that is not supported."""
        target = offset + self._position if whence == io.SEEK_CUR else offset
        if target < self._position or whence == io.SEEK_END:
            raise io.UnsupportedOperation("A compressed log is read forwards only.")
        skipped = memoryview(bytearray(CHUNK_BYTES))
        while self._position < target and self.readinto(skipped[: target - self._position]):
            pass
        return self._position

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        while True:
            if self._frame.eof:
                self._rest = self._frame.unused_data
                self._frame = ZstdDecompressor()
            content = self._frame.decompress(self._input(), len(view))
            if content:
                view[: len(content)] = content
                self._position += len(content)
                return len(content)
            if self._frame.needs_input and not self._frame.eof and not self._fill():
                return 0

    def _input(self) -> bytes:
        """Compressed bytes for the frame, if it needs some."""
        if self._frame.needs_input and (self._rest or self._fill()):
            rest, self._rest = self._rest, b""
            return rest
        return b""

    def _fill(self) -> bool:
        self._rest = self._packed.read(CHUNK_BYTES)
        return bool(self._rest)

    def close(self) -> None:
        try:
            self._packed.close()
        finally:
            super().close()
