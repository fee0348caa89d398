"""JSON lines as assistants leave them: incomplete, cut, concatenated, and sometimes huge."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, BinaryIO, TypeVar

import msgspec

from ...domain.lazy import lazy_pattern
from .files import refuse_wide_text

LONGEST_LINE = 64 * 1024 * 1024
CHUNK = 128 * 1024

CUT = "cut line"
TOO_LONG = "line over 64 MiB"
MISFIT = "unexpected shape"

OBJECTS = msgspec.json.Decoder(dict[str, Any])
"""Decoder for lines whose fields are read one by one."""
_REFUSED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_LOOSE = json.JSONDecoder()
_QUOTE = lazy_pattern(r'(?<!\\)(?:\\\\)*"')
_FIRST_KEY = lazy_pattern(r'\{\s*"(?:[^"\\]|\\.)*"\s*:')

T = TypeVar("T")


def read_lines(stream: BinaryIO, skipped: Counter[str], start: int = 0) -> Iterator[tuple[int, bytes, bool]]:
    """Yield each line's offset, its bytes without the newline, and whether it is complete: the last one may still be
    growing.

    A line longer than LONGEST_LINE is never in memory as a whole."""
    if start:
        stream.seek(start)
    rest = bytearray()
    is_huge = False
    while chunk := stream.read(CHUNK):
        for line in io.BytesIO(chunk):  # BytesIO finds newlines many times faster than split()
            if not line.endswith(b"\n"):
                rest += line
                if len(rest) > LONGEST_LINE:
                    is_huge = True
                if is_huge:
                    start += len(rest)
                    rest.clear()
            elif is_huge:
                skipped[TOO_LONG] += 1
                start += len(line)
                is_huge = False
            else:
                yield start, bytes(rest) + line[:-1] if rest else line[:-1], True
                start += len(rest) + len(line)
                rest.clear()
    if rest:
        yield start, bytes(rest), False


def read_records(
    stream: BinaryIO, decoder: msgspec.json.Decoder[T], skipped: Counter[str], start: int = 0
) -> Iterator[tuple[int, T]]:
    """Yield the records of all lines with the offsets of their lines.

    Unreadable lines are counted, unless still growing."""
    for offset, _, record in raw_records(stream, decoder, skipped, start):
        yield offset, record


def raw_records(
    stream: BinaryIO,
    decoder: msgspec.json.Decoder[T],
    skipped: Counter[str],
    start: int = 0,
    is_wanted: Callable[[bytes], bool] | None = None,
) -> Iterator[tuple[int, bytes, T]]:
    """Yield records with the offset and bytes of their line. Lines that `is_wanted` rejects are not decoded.

    Raises Unreadable for UTF-16 text."""
    decode = decoder.decode
    for at, line, is_ended in read_lines(stream, skipped, start):
        if at == 0:
            refuse_wide_text(line)
        if is_wanted is not None and not is_wanted(line):
            continue
        try:
            yield at, line.strip(), decode(line)
        except _REFUSED:
            lost: Counter[str] = Counter()
            for raw, record in _repair(line, decoder, lost, is_ended=is_ended):
                yield at, raw, record
            if is_ended:
                skipped.update(lost)


def decode_raw(raw: msgspec.Raw, decoder: msgspec.json.Decoder[T]) -> T | None:
    """Decode a part that was left undecoded, and therefore unchecked, when its record was read; None if it is empty."""
    if not raw:
        return None
    try:
        return decoder.decode(raw)
    except _REFUSED:
        return next((record for _, record in _repair(bytes(raw), decoder, Counter())), None)


def _repair(
    line: bytes, decoder: msgspec.json.Decoder[T], lost: Counter[str], *, is_ended: bool = False
) -> Iterator[tuple[bytes, T]]:
    """Yield the objects in a line that the strict decoder refuses, each with its bytes.

    Handles concatenated objects, an object after a partial one, lone surrogates, and invalid UTF-8. A line that is not
    complete may be part of one object."""
    text = line.decode("utf-8", "replace").strip("\0 \t\r\n\ufeff")
    for start, end, value in _values_in(text, lost, is_ended=is_ended):
        try:
            yield text[start:end].encode(), decoder.decode(msgspec.json.encode(_sound(value)))
        except _REFUSED:
            lost[MISFIT] += 1


def _values_in(text: str, lost: Counter[str], *, is_ended: bool) -> Iterator[tuple[int, int, Any]]:
    position = 0
    while position < len(text):
        try:
            value, end = _LOOSE.raw_decode(text, position)
        except (ValueError, RecursionError):
            lost[CUT] += 1
            if is_ended:
                yield from reversed(list(_after_tear(text, position)))
            return
        yield position, end, value
        position = end
        while position < len(text) and text[position] in " \t\r,":
            position += 1


def _after_tear(text: str, position: int) -> Iterator[tuple[int, int, Any]]:
    """Yield complete objects after a partial one, last first: a crash cut a line, and the next record was appended to
    it.

    An object that may belong to the partial one is left out: it begins with another key, or is at the position of a
    value."""
    if not text.startswith("{", position):
        return
    torn = _FIRST_KEY.match(text, position)
    beginning = torn[0] if torn else '{"'
    end = start = len(text)
    while (start := text.rfind(beginning, position + 1, start)) != -1:
        try:
            value, reached = _LOOSE.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if reached == end and not _may_be_part(text[position:start]):
            yield start, end, value
            end = len(text[:start].rstrip(" \t\r,"))


def _may_be_part(before: str) -> bool:
    """True if an object after this beginning of another may be a value in it. No object begins inside a text."""
    is_within_text = len(_QUOTE.findall(before)) % 2 == 1
    return not is_within_text and before.rstrip().endswith((":", "[", ","))


def _sound(value: Any) -> Any:
    """Return the value with every string made valid UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_sound(item) for item in value]
    if isinstance(value, dict):
        return {_sound(key): _sound(item) for key, item in value.items()}
    return value


def to_ms(value: str | float | None) -> int | None:
    """Parse a recorded time: ISO 8601, or seconds or milliseconds since 1970. None if it is not a time."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000 + 0.5)
    if value is None or not 0 < value < 1e15:
        return None
    return int(value if value > 1e11 else value * 1000)
