"""Protobuf without a schema: what is read is what was written, and nothing is made of other bytes."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.readers.formats.protobuf import Field, ProtobufMessage, fields_in, message_in, text_in

from .databases_of import field, varint

numbers = st.integers(1, 2**29 - 1)
values = st.integers(0, 2**64 - 1) | st.binary(max_size=300)


@given(st.lists(st.tuples(numbers, values), max_size=20))
def test_fields_come_back_in_order(written: list[tuple[int, int | bytes]]) -> None:
    raw = b"".join(field(number, value) for number, value in written)
    assert fields_in(raw) == [Field(number, value) for number, value in written]


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_none(raw: bytes) -> None:
    found = fields_in(raw)
    assert found is None or all(isinstance(each, Field) for each in found)


def test_numbers_of_fixed_size_are_numbers() -> None:
    raw = varint(1 << 3 | 1) + struct.pack("<Q", 7) + varint(2 << 3 | 5) + struct.pack("<I", 9)
    assert fields_in(raw) == [Field(1, 7), Field(2, 9)]


@pytest.mark.parametrize(
    "raw",
    [
        field(1, "cut")[:-1],
        varint(1 << 3),
        b"\xff" * 11,
        b"\x00\x01",
        varint(1 << 3 | 3) + varint(1 << 3 | 4),
        varint(1 << 3 | 1) + b"\0\0\0",
    ],
    ids=["cut", "no value", "endless number", "field 0", "group", "short fixed"],
)
def test_what_is_no_message_is_none(raw: bytes) -> None:
    assert fields_in(raw) is None
    assert message_in(raw) is None


def test_a_message_is_asked_by_number() -> None:
    inside = field(1, "one") + field(1, "two") + field(2, 5)
    message = message_in(field(3, inside) + field(4, "text") + field(3, b"\xff"))
    assert message
    assert message.message(3).text(1) == "one"
    assert message.message(3).integer(2) == 5
    assert [each.text(1) for each in message.messages(3)] == ["one"]
    assert message.text(4) == "text"
    assert (message.text(9), message.integer(4), message.message(9)) == ("", None, ProtobufMessage())


@pytest.mark.parametrize("raw", [b"\xff", b"\x00", b"a\x07b", b"a\x7fb", "a\u0085b".encode()])
def test_bytes_that_nobody_writes_are_no_text(raw: bytes) -> None:
    assert text_in(raw) == ""


def test_text_of_any_language_is_text() -> None:
    assert text_in("Grüße\n\t漢字 🙂 a\u200db".encode()) == "Grüße\n\t漢字 🙂 a\u200db"
