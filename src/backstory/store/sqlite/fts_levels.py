"""Removal of empty levels from the structure record of an FTS5 index.

Merging all segments adds two levels to the record, and SQLite 3.40 sets no limit: after about a thousand merges it
takes its own record for damaged, and the index cannot be read any more (3.51 stops at 65 levels). Which level a segment is on
matters only for the order of the segments, so that empty levels between them can go.
"""

from __future__ import annotations

from typing import NamedTuple

from ..database import Database

MAX_LEVELS = 64
"""SQLite reads 2,000."""
LEVELS_KEPT = 16
"""Levels to keep, empty or not: automatic merges work from one level to the next and need room below old segments."""
STRUCTURE_ID = 10
COOKIE_BYTES = 4
V2_MARK = b"\xff\x00\x00\x01"  # of tables that count their tombstones: five more numbers for each segment
SEGMENT_NUMBERS, SEGMENT_NUMBERS_V2 = 3, 8


class _SegmentLevel(NamedTuple):
    merging: int
    """Number of segments that an unfinished merge reads; its output is on the next level."""
    segments: list[list[int]]


class IndexStructure(NamedTuple):
    head: bytes
    writes: int
    levels: list[_SegmentLevel]

    def shortened(self) -> IndexStructure:
        """The structure without the lowest empty levels in excess of LEVELS_KEPT."""
        excess = max(len(self.levels) - LEVELS_KEPT, 0)
        levels = []
        for level in self.levels:
            if excess and not level.segments and not level.merging:
                excess -= 1
            else:
                levels.append(level)
        return self._replace(levels=levels)

    def encoded(self) -> bytes:
        numbers = [len(self.levels), sum(len(level.segments) for level in self.levels), self.writes]
        for level in self.levels:
            numbers += [level.merging, len(level.segments), *(n for each in level.segments for n in each)]
        return self.head + b"".join(map(_varint, numbers))


def drop_empty_levels(database: Database, index: str) -> None:
    """Shorten the record of an index that has many levels, within the caller's transaction."""
    record: bytes = database.value(f"SELECT block FROM {index}_data WHERE id = {STRUCTURE_ID}")
    structure = read_structure(record)
    if structure is None or len(structure.levels) <= MAX_LEVELS:
        return
    # FTS5 has the record in memory, and reads it again only after a rollback or a commit of another connection.
    database.change("SAVEPOINT record")
    database.change(f"INSERT INTO {index} ({index}, rank) VALUES ('merge', 1)")
    database.change("ROLLBACK TO record")
    database.change("RELEASE record")
    sql = f"UPDATE {index}_data SET block = ? WHERE id = {STRUCTURE_ID} AND block = ?"
    database.change(sql, [structure.shortened().encoded(), record])


def read_structure(record: bytes) -> IndexStructure | None:
    """Parse a record; None if it has another form than the two known ones."""
    is_v2 = record[COOKIE_BYTES : COOKIE_BYTES + len(V2_MARK)] == V2_MARK
    head = record[: COOKIE_BYTES + (len(V2_MARK) if is_v2 else 0)]
    width = SEGMENT_NUMBERS_V2 if is_v2 else SEGMENT_NUMBERS
    try:
        numbers = iter(_varints(record[len(head) :]))
        count, segments, writes = next(numbers), next(numbers), next(numbers)
        levels = []
        for _ in range(count):
            merging, size = next(numbers), next(numbers)
            levels.append(
                _SegmentLevel(merging, [[next(numbers) for _ in range(width)] for _ in range(size)])
            )
    except StopIteration:
        return None
    structure = IndexStructure(head, writes, levels)
    is_exact = sum(len(level.segments) for level in levels) == segments and structure.encoded() == record
    return structure if is_exact else None


def _varints(data: bytes) -> list[int]:
    """Numbers in SQLite's format: seven bits a byte, the highest first. None here needs the ninth byte with eight bits."""
    numbers, number = [], 0
    for byte in data:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(number)
            number = 0
    return numbers


def _varint(number: int) -> bytes:
    digits = [number & 0x7F]
    while number := number >> 7:
        digits.append(number & 0x7F | 0x80)
    return bytes(reversed(digits))
