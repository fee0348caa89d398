"""Messages in protobuf's wire format, read without their schema: numbers, and bytes that may be anything."""

from __future__ import annotations

import struct
from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
LONGEST_VARINT = 10


def read_fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Number and value of all fields, in order; bytes are views of the message. Raises ValueError where a byte says that
    it is none."""
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at)
        number, kind = key >> 3, key & 7
        if number == 0:
            raise ValueError("There is no field 0.")
        if kind == VARINT:
            value, at = _read_varint(message, at)
            yield number, value
            continue
        if kind == BYTES:
            size, at = _read_varint(message, at)
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
        else:
            raise ValueError("Groups are not used any more.")
        if at + size > len(message):
            raise ValueError("The message ends within a field.")
        part = message[at : at + size]
        at += size
        yield number, part if kind == BYTES else struct.unpack("<Q" if size == 8 else "<I", part)[0]


def read_varints(packed: memoryview) -> Iterator[int]:
    """Numbers that stand one after the other in one field."""
    at = 0
    while at < len(packed):
        value, at = _read_varint(packed, at)
        yield value


def _read_varint(message: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for place in range(LONGEST_VARINT):
        if at + place >= len(message):
            break
        byte = message[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at + place + 1
    raise ValueError("A number does not end.")
