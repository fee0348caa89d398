"""Removal of old bytes from the unused part of the pages of a SQLite file.

`secure_delete` clears deleted cells and freed pages. When SQLite splits or merges pages, though, it writes their cells
anew and leaves the former ones where they were, in the gap between the list of cells and the first of them. No
statement reaches these bytes, and VACUUM would write the whole file. They are cleared in the file itself:

- SQLite never reads a gap, so that clearing one that is torn by a crash does no harm
- the caller has the write lock, and pages that the log contains are left for later: nobody else, not even a
  checkpoint, writes the pages that are cleared
- every connection reads its pages again after the transaction of the caller, so that no old copy is written back
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Iterator

from .file import StoreFile
from .header import HEADER_BYTES

SCAN_BYTES = 1 << 20
BTREE_HEADER_BYTES = {2: 12, 5: 12, 10: 8, 13: 8}
"""Length of a page's header by its first byte: inner pages and leaves of indexes and tables. Other pages begin with a
page number, whose first byte is 0 or 1 in a file of less than MAX_PAGES."""
MAX_PAGES = 0x0200_0000
RESERVED_AT, AUTO_VACUUM_AT = 20, 52  # in the file's header; both 0 in every store that Backstory made
_ZEROS = bytes(1 << 16)


def can_be_cleared(file: StoreFile) -> bool:
    """False if the file contains unknown kinds of pages."""
    beginning = file.read(0, HEADER_BYTES)
    (largest_root,) = struct.unpack_from(">I", beginning, AUTO_VACUUM_AT)
    return not beginning[RESERVED_AT] and not largest_root and file.header().pages < MAX_PAGES


def stale_pages(file: StoreFile) -> list[int]:
    """The numbers of the pages with old bytes in their gaps.

    Others may write meanwhile. A page that they split then has only old bytes that were there when this began, and
    so do pages that are read while they are written."""
    size = file.header().page_bytes
    numbers: list[int] = []
    at_once = SCAN_BYTES // size or 1
    first = 1
    while data := file.read((first - 1) * size, at_once * size):
        numbers += [first + start // size for start, _, _ in _stale_gaps(data, size, is_first=first == 1)]
        first += at_once
    return numbers


def clear(file: StoreFile, pages: Iterable[int], logged: Collection[int]) -> list[int]:
    """Clear the gaps of pages. Returns those that were left out because the log contains them."""
    size = file.header().page_bytes
    postponed = []
    for number in pages:
        if number in logged:
            postponed.append(number)
            continue
        page = file.read((number - 1) * size, size)
        for _, start, end in _stale_gaps(page, size, is_first=number == 1):
            file.write((number - 1) * size + start, _ZEROS[: end - start])
    return postponed


def _stale_gaps(data: bytes, size: int, *, is_first: bool) -> Iterator[tuple[int, int, int]]:
    """The start of each page with a gap that is not clear, and both ends of that gap."""
    for page in range(0, len(data) - size + 1, size):
        head = page + HEADER_BYTES if is_first and not page else page
        header_bytes = BTREE_HEADER_BYTES.get(data[head])
        if header_bytes is None:
            continue
        cells, top = struct.unpack_from(">HH", data, head + 3)
        start = head + header_bytes + 2 * cells
        end = page + (top or 1 << 16)
        if start < end <= page + size and data[start:end] != _ZEROS[: end - start]:
            yield page, start, end
