"""Split an answer that is too large for one message into parts. Each is a complete answer with a part of the lists.

Every part has all fields. Lists and maps are distributed over the parts in order; short lists of texts, such as
notices, and all other values are repeated. A text or list that is too large for any part is cut, and continues in
`rest` of the following parts."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

from .budget import size
from .params import Json

PART_BYTES = 15_000
FRAME_BYTES = 4_000
"""Maximum size in bytes of the fields that every part repeats."""
REPEATED_BYTES = 1_000
MOST_FIELDS = 24  # our records have fewer fields: a larger object is a map, whose entries are distributed
SHORTEST_BYTES = 32

Path = tuple[str, ...]


class Rest(TypedDict):
    at: Annotated[str, "What was cut in a part before: a JSON pointer into the joined answer"]
    begin: Annotated[int, "How many of its characters or members came before"]
    value: Annotated[Any, "Those that follow"]


class Part(TypedDict):
    """Fields of a part in addition to those of the answer."""

    rest: NotRequired[Annotated[list[Rest], "How what was cut in a part before goes on"]]


class _Cut(NamedTuple):
    at: str
    begin: int
    value: Any


class _Unit(NamedTuple):
    """One item of a part: the path of its list or map, and the value to add there."""

    path: Path
    added: Any


def split(body: Json) -> list[Json]:
    frame, units = _frame(body, ())
    frame, cuts = _cut(frame, "", FRAME_BYTES)
    room = max(PART_BYTES - size(frame), SHORTEST_BYTES)
    parts: list[Json] = []
    filling: list[_Unit] = []
    left = room
    for unit in _fitted(units, cuts, room):
        needed = size(unit.added)
        if needed > left and filling:
            parts.append(_filled(frame, filling))
            filling, left = [], room
        filling.append(unit)
        left -= needed
    return [*parts, _filled(frame, filling)]


def cut_to(value: Any, most: int, note: str) -> Any:
    """Return the value with its long texts and lists cut, so that it takes at most `most` bytes."""
    return value if size(value) <= most else _cut(value, "", most, note)[0]


def _frame(body: Json, path: Path) -> tuple[Json, list[_Unit]]:
    """Split the answer into the fields that every part repeats and the items to distribute, in order."""
    frame: Json = {}
    units: list[_Unit] = []
    for name, value in body.items():
        here = (*path, name)
        if isinstance(value, dict) and len(value) <= MOST_FIELDS:
            frame[name], inner = _frame(value, here)
            units += inner
        elif isinstance(value, dict):
            frame[name] = {}
            units += [_Unit(here, {key: each}) for key, each in value.items()]
        elif isinstance(value, list) and not _is_repeated(value):
            frame[name] = []
            units += [_Unit(here, [each]) for each in value]
        else:
            frame[name] = value
    return frame, units


def _is_repeated(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values) and size(values) <= REPEATED_BYTES


def _fitted(units: list[_Unit], cuts: list[_Cut], room: int) -> Iterator[_Unit]:
    """Yield items that fit into a part. The rest of a larger item follows immediately."""
    for cut in cuts:
        yield from _rest(cut, room)
    index: dict[Path, int] = {}
    for path, added in units:
        place = index[path] = index.get(path, -1) + 1
        whole = added if isinstance(added, dict) else added[0]
        at = _pointer(path) if isinstance(added, dict) else f"{_pointer(path)}/{place}"
        if size(added) <= room:
            yield _Unit(path, added)
            continue
        fitting, inner = _cut(whole, at, room - SHORTEST_BYTES)
        yield _Unit(path, fitting if isinstance(added, dict) else [fitting])
        for cut in inner:
            yield from _rest(cut, room)


def _rest(cut: _Cut, room: int) -> Iterator[_Unit]:
    begin = cut.begin
    while begin < len(cut.value):
        rest: Rest = {"at": cut.at, "begin": begin, "value": ""}
        piece = _head(cut.value[begin:], room - size([rest]), least=1)
        yield _Unit(("rest",), [rest | {"value": piece}])
        begin += len(piece)


def _cut(
    value: Any, at: str, most: int, note: str = "`rest` of this chunk or the next goes on"
) -> tuple[Any, list[_Cut]]:
    """Cut the longest values first, and no more than necessary."""
    longest = most
    while True:
        longest = longest * 3 // 4
        cuts: list[_Cut] = []
        fitting = _value_cut(value, longest, at, note, cuts)
        if size(fitting) <= most or longest < SHORTEST_BYTES:
            return fitting, cuts


def _value_cut(value: Any, longest: int, at: str, note: str, cuts: list[_Cut]) -> Any:
    if isinstance(value, dict):
        return {
            name: _value_cut(each, longest, f"{at}{_pointer((name,))}", note, cuts)
            for name, each in value.items()
        }
    if not isinstance(value, str | list) or size(value) <= longest:
        return value
    head = _head(value, longest, least=0)
    cuts.append(_Cut(at, len(head), value))
    return f"{head}… [cut: {len(value):,} characters in all; {note}]" if isinstance(head, str) else head


def _head(value: Any, most: int, *, least: int) -> Any:
    count = min(len(value), max(most, least))
    while count > least and size(value[:count]) > most:
        count = max(count * 3 // 4, least)
    return value[:count]


def _filled(frame: Json, units: list[_Unit]) -> Json:
    part = deepcopy(frame)
    for path, added in units:
        holder = part
        for name in path[:-1]:
            holder = holder[name]
        if isinstance(added, dict):
            holder[path[-1]].update(added)
        else:
            holder.setdefault(path[-1], []).extend(added)
    return part


def _pointer(path: Path) -> str:
    return "".join("/" + name.replace("~", "~0").replace("/", "~1") for name in path)
