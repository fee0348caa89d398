"""Open foreign files safely: only regular files, and without blocking.

A named pipe, a device behind a link or a socket raises OSError at once. Opened normally, it could block forever."""

from __future__ import annotations

import codecs
import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from ...domain.errors import Unreadable

_FLAGS = os.O_RDONLY
for _name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"):  # not every platform has all of them
    _FLAGS |= getattr(os, _name, 0)

MAX_FILE_BYTES = 1 << 30
"""Maximum size in bytes of a file that is read as a whole."""


def open_regular(path: str | Path) -> BinaryIO:
    """Open a file for reading. Raises OSError if it is not a regular file, also behind links."""
    descriptor = os.open(path, _FLAGS)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def read_regular(path: str | Path) -> bytes:
    """Read a whole file. Raises OSError if it is larger than MAX_FILE_BYTES."""
    with open_regular(path) as file:
        raw = file.read(MAX_FILE_BYTES + 1)
    if len(raw) > MAX_FILE_BYTES:
        raise OSError(errno.EFBIG, "it is over 1 GiB", str(path))
    return raw


def read_text(path: str | Path) -> str:
    """Read a whole text file. Invalid UTF-8 is replaced, and CRLF becomes a newline. Raises Unreadable for UTF-16."""
    raw = read_regular(path)
    refuse_wide_text(raw)
    return raw.decode("utf-8", "replace").replace("\r\n", "\n")


def refuse_wide_text(beginning: bytes) -> None:
    """Raise Unreadable for text that begins like UTF-16 or UTF-32, such as a file rewritten by a Windows editor or
    shell.

    Read as UTF-8, it would appear to contain nothing."""
    has_mark = beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))
    zeros = [byte == 0 for byte in beginning[:4]]
    if has_mark or zeros in ([True, False, True, False], [False, True, False, True]):
        raise Unreadable("It is text in UTF-16 or UTF-32; assistants write UTF-8.")
