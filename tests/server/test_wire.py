"""Lines out of a stream, and the id of a request that is too long to read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.server.wire import Lines, TooLong

LIMIT = 100_000


def cut(stream: bytes, chunk_bytes: int, limit: int = LIMIT) -> list[bytes | TooLong]:
    lines = Lines(limit)
    chunks = [stream[at : at + chunk_bytes] for at in range(0, len(stream), chunk_bytes)]
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    return [*found, *lines.rest()]


@given(stream=st.binary(), chunk_bytes=st.integers(1, 10))
def test_lines_do_not_depend_on_how_they_arrive(stream: bytes, chunk_bytes: int) -> None:
    assert cut(stream, chunk_bytes) == stream.split(b"\n")


def test_only_the_line_beyond_the_limit_is_thrown_away() -> None:
    assert cut(b"12345\n123456\n12\n", 4, limit=5) == [b"12345", TooLong("null"), b"12", b""]


def test_a_line_without_end_is_held_in_bounded_memory() -> None:
    lines = Lines(LIMIT)
    for _ in range(1_000):
        assert list(lines.feed(b"x" * 65_536)) == []
    assert sum(map(len, lines._parts)) + len(lines._head) < 2 * LIMIT


def oversized(*members: str) -> bytes:
    return ("{" + ",".join(members) + "}").encode()


TEXT = json.dumps('","id":9,"x":{"id":8},' * 10_000)
CALL = f'"method":"tools/call","params":{{"name":"echo","id":7,"arguments":{{"text":{TEXT},"id":6}}}}'


@pytest.mark.parametrize(
    ("line", "id"),
    [
        (oversized('"jsonrpc":"2.0"', '"id":5', CALL), "5"),
        (oversized('"jsonrpc":"2.0"', '"id" : "a\\"b"', CALL), '"a\\"b"'),
        (oversized(CALL, '"jsonrpc":"2.0"', '"id":5'), "5"),
        (oversized(CALL, '"id":"é"', '"jsonrpc":"2.0"') + b"\r", '"\\u00e9"'),
        (oversized('"jsonrpc":"2.0"', CALL), "null"),
        (oversized('"jsonrpc":"2.0"', '"id":null', CALL), "null"),
        (oversized('"jsonrpc":"2.0"', '"id":[5]', CALL), "null"),
        (oversized(f'"id":{"5" * 70_000}', CALL), "null"),
        (b"[" + oversized('"id":5', CALL) + b"]", "null"),
        (TEXT.encode(), "null"),
    ],
)
def test_the_id_of_a_line_too_long_is_found_where_it_is_certain(line: bytes, id: str) -> None:
    assert cut(line + b"\n", 65_536)[0] == TooLong(id)


@given(
    id=st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    arguments=st.dictionaries(
        st.text(), st.text() | st.integers() | st.dictionaries(st.just("id"), st.integers())
    ),
    is_first=st.booleans(),
)
def test_an_id_that_is_found_is_the_right_one(id: Any, arguments: dict[str, Any], is_first: bool) -> None:
    rest = {"method": "tools/call", "params": {"arguments": arguments}, "jsonrpc": "2.0"}
    message = {"id": id} | rest if is_first else rest | {"id": id}
    (line, _) = cut(json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n", 64, limit=1)
    assert isinstance(line, TooLong)
    assert json.loads(line.id) == id
