"""JSON lines as they lie on disk: what can be read is read, what cannot is counted."""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.domain.errors import Unreadable
from backstory.readers.formats import lines
from backstory.readers.formats.lines import CUT, MISFIT, OBJECTS, TOO_LONG, read_lines, read_records, to_ms

ANY = msgspec.json.Decoder(dict[str, Any])


def records(content: bytes, start: int = 0) -> tuple[list[tuple[int, dict[str, Any]]], Counter[str]]:
    skipped: Counter[str] = Counter()
    return list(read_records(io.BytesIO(content), ANY, skipped, start)), skipped


@given(st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line), max_size=20), st.booleans())
def test_lines_end_at_newlines_and_nowhere_else(contents: list[bytes], is_ended: bool) -> None:
    content = b"\n".join(contents) + (b"\n" if is_ended else b"")
    found = list(read_lines(io.BytesIO(content), Counter()))
    assert b"".join(line + b"\n" * ended for _, line, ended in found) == content
    assert all(content[at : at + len(line)] == line for at, line, _ in found)
    assert all(ended for _, _, ended in found[:-1])


def test_lines_longer_than_a_chunk_come_whole() -> None:
    long = b"x" * (3 * lines.CHUNK + 7)
    found = list(read_lines(io.BytesIO(b"a\n" + long + b"\nb\n"), Counter()))
    assert found == [(0, b"a", True), (2, long, True), (3 + len(long), b"b", True)]


def test_a_line_separator_within_a_text_does_not_end_the_line() -> None:
    found, skipped = records('{"text":"a\u2028b"}\n'.encode())
    assert found == [(0, {"text": "a\u2028b"})]
    assert not skipped


def test_the_last_line_counts_without_a_newline_if_it_is_complete() -> None:
    assert records(b'{"n":1}\n{"n":2}') == ([(0, {"n": 1}), (8, {"n": 2})], Counter())


def test_half_a_last_line_is_not_counted_as_lost() -> None:
    assert records(b'{"n":1}\n{"n":') == ([(0, {"n": 1})], Counter())


def test_a_line_cut_in_the_middle_of_a_file_is_skipped_and_counted() -> None:
    assert records(b'{"n":1}\n{"text":"ab\n{"n":2}\n') == ([(0, {"n": 1}), (20, {"n": 2})], Counter({CUT: 1}))


def test_objects_glued_together_are_all_read() -> None:
    found, skipped = records(b'{"n":1}{"n":2} {"n":3}\n{"n":4}{"n":\n')
    assert [record["n"] for _, record in found] == [1, 2, 3, 4]
    assert skipped == Counter({CUT: 1})


def test_lone_surrogates_and_bad_bytes_do_not_lose_the_record() -> None:
    found, skipped = records(b'{"text":"a\\ud83d b"}\n{"text":"\xff"}\n')
    assert [record["text"] for _, record in found] == ["a? b", "\ufffd"]
    assert not skipped


def test_what_is_no_object_is_counted() -> None:
    assert records(b'"text"\n[]\n{"n":1}\n') == ([(10, {"n": 1})], Counter({MISFIT: 2}))


def test_nesting_without_end_is_skipped() -> None:
    found, skipped = records(b'{"n":' + b"[" * 100_000 + b'\n{"n":1}\n')
    assert [record for _, record in found] == [{"n": 1}]
    assert skipped == Counter({CUT: 1})


class Endless(io.RawIOBase):
    """A line of 65 MiB between two short ones, made as it is read."""

    def __init__(self) -> None:
        self.left = [b'{"n":1}\n', *[b"x" * 1024 * 1024] * 65, b'\n{"n":2}\n{"n":3}']

    def read(self, size: int = -1) -> bytes:
        return self.left.pop(0) if self.left else b""


def test_a_line_over_64_mib_is_skipped_and_counted_and_offsets_stay_right() -> None:
    skipped: Counter[str] = Counter()
    found = list(read_records(Endless(), ANY, skipped))  # type: ignore[arg-type]
    after = 8 + 65 * 1024 * 1024 + 1
    assert found == [(0, {"n": 1}), (after, {"n": 2}), (after + 8, {"n": 3})]
    assert skipped == Counter({TOO_LONG: 1})


def test_reading_starts_where_it_is_told_to() -> None:
    assert records(b'{"n":1}\n{"n":2}\n', start=8) == ([(8, {"n": 2})], Counter())


@pytest.mark.parametrize(
    ("recorded", "ms"),
    [
        ("2026-01-02T03:04:05.678Z", 1767323045678),
        ("2026-01-02T03:04:05", 1767323045000),
        ("2026-01-02T05:04:05.678+02:00", 1767323045678),
        (1767323045678, 1767323045678),
        (1767323045, 1767323045000),
        (1767323045.5, 1767323045500),
        ("yesterday", None),
        (None, None),
        (0, None),
        (1e300, None),
    ],
)
def test_times_are_read_in_every_spelling(recorded: str | float | None, ms: int | None) -> None:
    assert to_ms(recorded) == ms


WHOLE = {"type": "a", "says": {"type": "b", "parts": [{"text": "}{"}]}}


@pytest.mark.parametrize(
    "torn",
    [
        '{"type": "a", "says": {"type": "b", "te',
        '{"type": "a", "says": "first, ',
        '{"type": "a", "says": {"type": "b"}',
        '{"type": "a", "says": {"type": "b"}, "mo',
        '{"type": "a", "says": tru',
        '{"type": "a", "says": "so \\',
        '{"typ',
        "{",
    ],
)
@pytest.mark.parametrize("count", [1, 2])
def test_records_behind_half_a_line_are_read(torn: str, count: int) -> None:
    skipped: Counter[str] = Counter()
    line = torn + json.dumps(WHOLE) * count + "\n" + json.dumps({"type": "next"}) + "\n"
    found = [record for _, record in read_records(io.BytesIO(line.encode()), OBJECTS, skipped)]
    assert found == [*[WHOLE] * count, {"type": "next"}]
    assert skipped == {CUT: 1}


@pytest.mark.parametrize(
    "torn", ['{"type": "a", "says": {"kind": "b"}', '{"a": [{"b": 1}', '{"a": [{"a": 1}']
)
def test_a_part_of_half_a_line_is_no_record(torn: str) -> None:
    skipped: Counter[str] = Counter()
    assert list(read_records(io.BytesIO(f"{torn}\n".encode()), OBJECTS, skipped)) == []
    assert skipped == {CUT: 1}


def test_a_line_that_still_grows_is_not_taken_for_a_torn_one() -> None:
    growing = b'{"type": "a", "says": [{"type": "b"}'
    assert list(read_records(io.BytesIO(growing), OBJECTS, Counter())) == []


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_text_that_is_not_utf_8_is_unreadable_and_not_empty(encoding: str) -> None:
    raw = (json.dumps(WHOLE) + "\n").encode(encoding)
    with pytest.raises(Unreadable, match="UTF-16"):
        list(read_records(io.BytesIO(raw), OBJECTS, Counter()))
