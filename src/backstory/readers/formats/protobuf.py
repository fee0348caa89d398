"""Protobuf messages of other programs. Fields are accessed by number, because the schema is not published."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
LONGEST_VARINT = 10


class Field(NamedTuple):
    number: int
    value: int | bytes


def fields_in(raw: bytes) -> list[Field] | None:
    """Return all fields of a message in order; None if any byte is invalid."""
    try:
        return list(_fields(raw))
    except ValueError:
        return None


class ProtobufMessage(NamedTuple):
    """The fields of a message, accessed by number."""

    fields: tuple[Field, ...] = ()

    def each(self, number: int) -> Iterator[bytes]:
        return (
            field.value for field in self.fields if field.number == number and isinstance(field.value, bytes)
        )

    def messages(self, number: int) -> Iterator[ProtobufMessage]:
        """Yield the values of a field that are valid messages."""
        return (message for raw in self.each(number) if (message := message_in(raw)) is not None)

    def message(self, number: int) -> ProtobufMessage:
        return next(self.messages(number), ProtobufMessage())

    def integer(self, number: int) -> int | None:
        values = (field.value for field in self.fields if field.number == number)
        return next((value for value in values if isinstance(value, int)), None)

    def text(self, number: int) -> str:
        return next((text for raw in self.each(number) if (text := text_in(raw))), "")


def message_in(raw: bytes) -> ProtobufMessage | None:
    fields = fields_in(raw)
    return None if fields is None else ProtobufMessage(tuple(fields))


def text_in(raw: bytes) -> str:
    """Return the text, or "" if it is not UTF-8 or contains characters that people do not write."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    is_written = all(char.isprintable() or char in "\n\r\t" or ord(char) > 0x9F for char in text)
    return text if is_written else ""


def _fields(message: bytes) -> Iterator[Field]:
    """Yield the fields. Raises ValueError if a byte shows that it is not a message."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if number == 0:
            raise ValueError("There is no field 0.")
        if kind == VARINT:
            value, at = _varint(message, at)
            yield Field(number, value)
            continue
        if kind == BYTES:
            size, at = _varint(message, at)
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
        else:
            raise ValueError("Groups are not used any more.")
        if at + size > len(message):
            raise ValueError("The message ends within a field.")
        part = message[at : at + size]
        at += size
        yield Field(number, part if kind == BYTES else struct.unpack("<Q" if size == 8 else "<I", part)[0])


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(LONGEST_VARINT):
        if at + place >= len(message):
            break
        byte = message[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at + place + 1
    raise ValueError("A number does not end.")
