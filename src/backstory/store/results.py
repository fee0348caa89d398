"""Tool calls of messages and their results, each compressed separately, so that one can be shown and forgotten
without the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..domain.lazy import lazy_module
from ..domain.tool_results import StoredCall, StoredResult, TextRange, ToolTally
from ..domain.usage import UsageFilter
from ..domain.when import to_ms
from .columns import marks
from .database import Database, Row
from .where import conversations_clause, places_clause

if TYPE_CHECKING:
    from ..domain import zstd
else:  # 3 ms, which a save does without
    zstd = lazy_module("backstory.domain.zstd")

NO_DICTIONARY = 0
"""A dictionary would save a sixth of the space; none is shipped, because it would contain parts of real logs."""
_LEVEL = 3
_CALL = ("native_id", "name", "arguments_at", "arguments_length", "command_at", "command_length")
_RESULT = ("is_error", "exit_code", "duration_ms", "bytes", "is_cut", "dictionary", "packed")
_COLUMNS = ("entry", "place", *_CALL, *_RESULT)
# a copy of a log may lack a result that another copy has
_KEPT = (
    "{0} = CASE WHEN excluded.packed IS NULL AND excluded.native_id = result.native_id"
    " THEN result.{0} ELSE excluded.{0} END"
)
_PUT = (
    f"INSERT INTO result ({', '.join(_COLUMNS)}) VALUES ({marks(_COLUMNS)}) ON CONFLICT (entry, place) DO UPDATE SET "
    + ", ".join([*(f"{name} = excluded.{name}" for name in _CALL), *(_KEPT.format(name) for name in _RESULT)])
)
_OWN_TOOLS = "FROM entry e WHERE e.thread = ? AND e.role = 'tool'"


class ResultRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, calls: Sequence[StoredCall], numbers: Mapping[str, int], replaced: Sequence[int]) -> None:
        """Store the calls of the given messages, replacing those of the `replaced` entries.

        `numbers` maps message ids to entry numbers. If a call arrives without a result, its stored result is
        retained."""
        if not calls and not replaced:
            return
        places: dict[int, int] = dict.fromkeys(replaced, 0)
        rows: list[Row] = []
        pack = _packer()
        for call in calls:
            entry = numbers[call.message]
            place = places.get(entry, 0)
            places[entry] = place + 1
            spans = (*call.arguments, *call.command)
            rows.append((entry, place, call.native_id, call.name, *spans, *pack(call.result)))
        former = [(entry, places[entry]) for entry in replaced]
        self._database.change_many("DELETE FROM result WHERE entry = ? AND place >= ?", former)
        self._database.change_many(_PUT, rows)

    def add_late(self, conversation: str, results: Mapping[str, StoredResult]) -> None:
        """Store results of calls that are there already, by the ids of the calls."""
        sql = (
            f"UPDATE result SET {', '.join(f'{name} = ?' for name in _RESULT)}"
            f" WHERE native_id = ? AND entry IN (SELECT e.n {_OWN_TOOLS})"
        )
        pack = _packer()
        rows = [(*pack(result), id, conversation) for id, result in results.items()]
        with self._database.joined():
            self._database.change_many(sql, rows)

    def of(self, conversation: str, places: range | None = None) -> list[StoredCall]:
        """The tool calls of a conversation in order, optionally only those of messages whose `seq` is in the range."""
        within, values = places_clause(places)
        columns = ", ".join(f"r.{name}" for name in (*_CALL, *_RESULT))
        sql = (
            f"SELECT e.id, {columns} FROM entry e JOIN result r ON r.entry = e.n"
            f" WHERE e.thread = ? AND {within} ORDER BY e.seq, e.n, r.place"
        )
        return [_read(zstd.decompress, *row) for row in self._database.rows(sql, [conversation, *values])]

    def tally(self, where: UsageFilter) -> list[ToolTally]:
        """The tools that were called in that time, the most called first."""
        condition, values = conversations_clause(where.conversations)
        within, times = "", []
        for moment, comparison in ((where.since, ">="), (where.until, "<")):
            if moment is not None:
                within += f"e.created_at {comparison} ? AND "
                times.append(to_ms(moment))
        sql = (
            "SELECT r.name, count(*), CAST(sum(r.is_error) AS BIGINT) FROM result r JOIN entry e ON e.n = r.entry"
            f" WHERE {within}e.thread IN (SELECT id FROM conversation WHERE {condition})"
            " GROUP BY r.name ORDER BY count(*) DESC, r.name"
        )
        return [ToolTally(*row) for row in self._database.rows(sql, [*times, *values])]

    def count_lost(self) -> int:
        """Count conversations with tool calls whose source file vanished before results were stored."""
        sql = (
            "SELECT count(*) FROM conversation c WHERE c.is_gone = 1"
            " AND EXISTS (SELECT 1 FROM entry e WHERE e.thread = c.id AND e.role = 'tool')"
            " AND NOT EXISTS (SELECT 1 FROM entry e JOIN result r ON r.entry = e.n WHERE e.thread = c.id)"
        )
        return int(self._database.value(sql))


def _packer() -> Callable[[StoredResult | None], tuple[Any, ...]]:
    """Makes the values of a result. To make a compressor takes as long as to use it, and none is safe for two threads."""
    compressor = zstd.ZstdCompressor(level=_LEVEL)

    def packed(result: StoredResult | None) -> tuple[Any, ...]:
        if result is None:
            return (0, None, None, None, 0, NO_DICTIONARY, None)
        text, is_error, exit_code, duration_ms = (
            result.text,
            int(result.is_error),
            result.exit_code,
            result.duration_ms,
        )
        packed = compressor.compress(text.encode("utf-8", "replace"), compressor.FLUSH_FRAME)
        return (is_error, exit_code, duration_ms, result.bytes, int(result.is_cut), NO_DICTIONARY, packed)

    return packed


def _read(
    unpack: Callable[[bytes], bytes],
    message: str,
    native_id: str,
    name: str,
    arguments_at: int,
    arguments_length: int,
    command_at: int,
    command_length: int,
    *result: Any,
) -> StoredCall:
    spans = TextRange(arguments_at, arguments_length), TextRange(command_at, command_length)
    return StoredCall(message, native_id, name, *spans, _unpacked(unpack, *result))


def _unpacked(
    unpack: Callable[[bytes], bytes],
    is_error: int,
    exit_code: int | None,
    duration_ms: int | None,
    size: int | None,
    is_cut: int,
    dictionary: int,
    packed: bytes | None,
) -> StoredResult | None:
    if packed is None or size is None or dictionary != NO_DICTIONARY:
        return None
    text = unpack(packed).decode()
    return StoredResult(text, size, bool(is_cut), bool(is_error), exit_code, duration_ms)
