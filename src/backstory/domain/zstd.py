"""Zstandard: the module of Python 3.14 or its backport, and a reader of compressed files."""

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
    """Open a file of one or more frames and return its content as a stream. Closing the stream closes the file.

    A file that is still being written ends within a frame. The available part is read, where `ZstdFile` would raise an
    error."""
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
        """Skip content. Seeking backwards is not supported, because logs are read forwards only."""
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
        """Return compressed bytes for the current frame, or none if it does not need any."""
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
