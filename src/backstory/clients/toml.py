"""Edits of TOML as text: add one table at the end or remove one, and preserve all other bytes."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..domain.errors import Unreadable
from ..domain.lazy import lazy_pattern
from .edits import Splice, apply, in_lower_case, line_end, malformed

_HEADER = lazy_pattern(r"(?:^|(?<=\A\ufeff))[ \t]*\[[^\r\n]*", re.MULTILINE)
_PLACE = lazy_pattern(r"(.*) \(at line (\d+), column (\d+)\)")
_AT_END = lazy_pattern(r"(.*) \(at end of document\)")


def parse(text: str) -> Any:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        if placed := _PLACE.fullmatch(str(error)):
            raise Unreadable(f"line {placed[2]}, column {placed[3]}: {in_lower_case(placed[1])}") from None
        ending = _AT_END.fullmatch(str(error))
        raise malformed(text, len(text), in_lower_case(ending[1] if ending else str(error))) from None


def put(text: str, path: Sequence[str], value: Mapping[str, Any]) -> list[Splice]:
    """Set a table: replace the table of this name, or append it."""
    present = parse(text)
    newline = line_end(text)
    table = _table(path, value).replace("\n", newline)
    if span := _span(text, path):
        start, end = span
        splice = Splice(start, text[start:end], table)
    else:
        gap = newline if text.strip("\ufeff") and not text.endswith("\n") else ""
        gap += newline if text.strip("\ufeff\r\n\t ") else ""
        splice = Splice(len(text), "", gap + table)
    _check(apply(text, [splice]), _with(present, path, value), path)
    return [splice]


def cut(text: str, path: Sequence[str]) -> list[Splice]:
    """Remove a table with its subtables; no splices if it is missing."""
    present = parse(text)
    span = _span(text, path)
    if span is None:
        if _is_in(present, path):
            raise Unreadable(f"{'.'.join(path)} is not written as a table of its own; remove it by hand")
        return []
    start, end = span
    before = text[:start]
    if before.rstrip(" \t\r\n") and before.endswith(("\n\n", "\n\r\n")):
        start -= 2 if before.endswith("\r\n") else 1
    splice = Splice(start, text[start:end], "")
    _check(apply(text, [splice]), _without(present, path), path)
    return [splice]


def _check(text: str, expected: Any, path: Sequence[str]) -> None:
    """A name may be taken in ways that no new table can follow: an inline table, dotted keys."""
    try:
        if parse(text) == expected:
            return
    except Unreadable:
        pass
    raise Unreadable(f"{path[0]} is not written as tables; edit it by hand")


def _span(text: str, path: Sequence[str]) -> tuple[int, int] | None:
    """The span from the header of a table to the last line of its subtables."""
    headers = [*_headers(text), (len(text), ())]
    for number, (start, name) in enumerate(headers[:-1]):
        if name[: len(path)] == tuple(path):
            after = next(at for at, other in headers[number + 1 :] if other[: len(path)] != tuple(path))
            return start, start + _length(text[start:after])
    return None


def _length(section: str) -> int:
    """The length of a section without trailing empty lines and comments, which belong to the next one."""
    lines = section.splitlines(keepends=True)
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return sum(map(len, lines))


def _headers(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The offsets and names of tables. Lines inside strings and arrays are skipped: the text before them does not parse."""
    for match in _HEADER.finditer(text):
        try:
            parse(text[: match.start()])
            header = parse(match[0])
        except Unreadable:
            continue
        name = []
        while header:
            if isinstance(header, list):
                header = header[0]
                continue
            ((key, header),) = header.items()
            name.append(key)
        yield match.start(), tuple(name)


def _table(path: Sequence[str], value: Mapping[str, Any]) -> str:
    lines = [f"[{'.'.join(path)}]", *(f"{key} = {_written(each)}" for key, each in value.items())]
    return "\n".join(lines) + "\n"


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {_written(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _is_in(document: Any, path: Sequence[str]) -> bool:
    for key in path:
        if not isinstance(document, Mapping) or key not in document:
            return False
        document = document[key]
    return True


def _with(document: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    inside = document.get(path[0], {})
    if not isinstance(inside, Mapping):
        raise Unreadable(f"{path[0]} is not a table")
    return {**document, path[0]: _with(inside, path[1:], value)}


def _without(document: Any, path: Sequence[str]) -> Any:
    """Tables that only its name made go with it."""
    rest = {key: value for key, value in document.items() if key != path[0]}
    if len(path) == 1 or not isinstance(document[path[0]], Mapping):
        return rest
    inside = _without(document[path[0]], path[1:])
    return {**document, path[0]: inside} if inside else rest
