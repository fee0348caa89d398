"""Messages of foreign programs in protobuf, whose fields are asked for by number: the schema is not published."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...domain.protobuf import read_fields


class Field(NamedTuple):
    number: int
    value: int | bytes


def fields_in(raw: bytes) -> list[Field] | None:
    """All fields of a message in order; None if a single byte says that it is none."""
    try:
        return [
            Field(number, value if isinstance(value, int) else bytes(value))
            for number, value in read_fields(memoryview(raw))
        ]
    except ValueError:
        return None


class ProtobufMessage(NamedTuple):
    """The fields of a message, asked for by number."""

    fields: tuple[Field, ...] = ()

    def each(self, number: int) -> Iterator[bytes]:
        return (
            field.value for field in self.fields if field.number == number and isinstance(field.value, bytes)
        )

    def messages(self, number: int) -> Iterator[ProtobufMessage]:
        """Those that can be read as messages."""
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
    """The text, or nothing if it is no UTF-8 or has characters that people do not write."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    is_written = all(char.isprintable() or char in "\n\r\t" or ord(char) > 0x9F for char in text)
    return text if is_written else ""
