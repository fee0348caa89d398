"""The first bytes of a SQLite file: whether it is one, and two numbers of ours in fields that SQLite leaves to
applications."""

from __future__ import annotations

import os
import struct
from typing import NamedTuple

MAGIC = b"SQLite format 3\0"
HEADER_BYTES = 100


class FileHeader(NamedTuple):
    """The fields of the first page that identify a store."""

    id: int
    """0 in a store that an older version created and that has not been opened since."""
    commits: int
    page_bytes: int
    pages: int

    @property
    def bytes(self) -> int:
        return self.page_bytes * self.pages


def read_header(page: bytes) -> FileHeader | None:
    """Parse the first page; None if it is not the beginning of a database."""
    if len(page) < HEADER_BYTES or not page.startswith(MAGIC):
        return None
    # SQLite's format: page size at byte 16, pages at 28, user_version at 60, application_id at 68.
    (page_bytes,) = struct.unpack_from(">H", page, 16)
    (pages,) = struct.unpack_from(">I", page, 28)
    commits, id = struct.unpack_from(">i4xi", page, 60)
    # The page size has two bytes, so 1 means 65536.
    return FileHeader(id, commits, 65536 if page_bytes == 1 else page_bytes, pages)


def new_store_id() -> int:
    return int.from_bytes(os.urandom(4), "big", signed=True) or 1  # 0: no id yet
