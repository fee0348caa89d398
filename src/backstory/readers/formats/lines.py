"""JSON lines as assistants leave them: half written, cut, glued together, and now and then huge."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, BinaryIO, TypeVar

import msgspec

LONGEST_LINE = 64 * 1024 * 1024
CHUNK = 128 * 1024

CUT = "cut line"
TOO_LONG = "line over 64 MiB"
MISFIT = "unexpected shape"

OBJECTS = msgspec.json.Decoder(dict[str, Any])
"""For lines whose fields are looked at one by one."""
_REFUSED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

T = TypeVar("T")


def read_lines(stream: BinaryIO, skipped: Counter[str], start: int = 0) -> Iterator[tuple[int, bytes, bool]]:
    """Each line without its newline, where it starts, and whether it has ended: the last may still be growing.

    A line over LONGEST_LINE is never in memory as a whole."""
    if start:
        stream.seek(start)
    rest = bytearray()
    is_huge = False
    while chunk := stream.read(CHUNK):
        for line in io.BytesIO(chunk):  # which finds newlines many times faster than split()
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
    stream: BinaryIO,
    decoder: msgspec.json.Decoder[T],
    skipped: Counter[str],
    start: int = 0,
    is_wanted: Callable[[bytes], bool] | None = None,
) -> Iterator[tuple[int, T]]:
    """The records of all lines, with where their line starts. What cannot be read is counted, unless it still grows.

    Lines that `is_wanted` refuses are not decoded at all."""
    decode = decoder.decode
    for at, line, is_ended in read_lines(stream, skipped, start):
        if is_wanted is not None and not is_wanted(line):
            continue
        try:
            yield at, decode(line)
        except _REFUSED:
            lost: Counter[str] = Counter()
            for record in _repair(line, decoder, lost):
                yield at, record
            if is_ended:
                skipped.update(lost)


def decode_raw(raw: msgspec.Raw, decoder: msgspec.json.Decoder[T]) -> T | None:
    """A part that was left undecoded, and therefore unchecked, when its record was read; None if it is nothing."""
    if not raw:
        return None
    try:
        return decoder.decode(raw)
    except _REFUSED:
        return next(_repair(bytes(raw), decoder, Counter()), None)


def _repair(line: bytes, decoder: msgspec.json.Decoder[T], lost: Counter[str]) -> Iterator[T]:
    """What the strict decoder refuses: objects glued together, lone surrogates, bytes that are not UTF-8."""
    text = line.decode("utf-8", "replace").strip("\0 \t\r\n\ufeff")
    loose = json.JSONDecoder()
    position = 0
    while position < len(text):
        try:
            found, position = loose.raw_decode(text, position)
        except (ValueError, RecursionError):
            lost[CUT] += 1
            return
        try:
            yield decoder.decode(msgspec.json.encode(_sound(found)))
        except _REFUSED:
            lost[MISFIT] += 1
        while position < len(text) and text[position] in " \t\r,":
            position += 1


def _sound(value: Any) -> Any:
    """The same with every string fit for UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_sound(item) for item in value]
    if isinstance(value, dict):
        return {_sound(key): _sound(item) for key, item in value.items()}
    return value


def to_ms(value: str | float | None) -> int | None:
    """A recorded time: ISO 8601, or seconds or milliseconds since 1970. None for what is no time."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000 + 0.5)
    if value is None or not 0 < value < 1e15:
        return None
    return int(value if value > 1e11 else value * 1000)
