"""Compression: move old items to an archive, from which they can be read and restored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypedDict

from ...core import Core
from ...domain.records import Memory
from ...domain.when import iso, parse_when
from ...tools import Effect
from ...tools.params import Range
from .branches import by_category
from .vocabulary import surface

if TYPE_CHECKING:
    from ...core.archive import CompressionResult

KB = 1024
KEYS_SHOWN = 200  # maximum number of archived items' keys in one answer
SESSIONS_SHOWN = 50


class Sizes(TypedDict):
    items: int
    originalSize: float
    compressedSize: float
    ratio: float


class DateRange(TypedDict):
    start: str
    end: str


class ArchivedSession(TypedDict):
    sessionId: str
    items: int
    keys: list[str]


class CompressionSummary(TypedDict):
    byCategory: dict[str, int]
    dateRange: DateRange
    archived: list[ArchivedSession]
    keysNotShown: int
    sessionsNotShown: int


class CompressedItems(TypedDict):
    compressed: Sizes
    preserved: int
    deleted: int
    summary: CompressionSummary


@surface.tool("Compress old context", Effect(destructive=True))
def context_compress(
    core: Core,
    older_than: Annotated[str, "Items last changed before this: an ISO date, or words such as '30 days ago'"],
    preserve_categories: Annotated[list[str] | None, "Categories to leave as they are"] = None,
    target_size: Annotated[
        float | None, "KB: stop as soon as what stays uncompressed fits, the oldest go first", Range(low=0)
    ] = None,
    session_id: Annotated[str | None, "Only this session; without it all sessions"] = None,
) -> CompressedItems:
    """Compress old context items to save space. Nothing is deleted: values move whole, with their history, to a
    compressed archive. Searches no longer find them; context_get with a key and includeMetadata reads them, marked
    archived. Sizes are KB of stored values, ratio is originalSize divided by compressedSize, preserved counts the
    items that stay, and summary.archived lists which keys went, by session."""
    session = None if session_id is None else core.sessions.get(session_id).id
    result = core.archive.compress(
        parse_when(older_than, core.engine.now(), field="olderThan"),
        keep=tuple(preserve_categories or ()),
        target_bytes=None if target_size is None else target_size * KB,
        session=session,
    )
    return {
        "compressed": _sizes(result),
        "preserved": result.preserved,
        # always 0: archiving deletes nothing, and only context_delete removes items that a user saved
        "deleted": 0,
        "summary": _summary(result.moved),
    }


def _sizes(result: CompressionResult) -> Sizes:
    packed = result.packed
    return {
        "items": packed.items,
        "originalSize": round(packed.original / KB, 3),
        "compressedSize": round(packed.packed / KB, 3),
        "ratio": round(packed.original / packed.packed, 2) if packed.packed else 1.0,
    }


def _summary(moved: Sequence[Memory]) -> CompressionSummary:
    sessions: dict[str, ArchivedSession] = {}
    for place, memory in enumerate(moved):
        id = memory.session or ""
        session = sessions.setdefault(id, {"sessionId": id, "items": 0, "keys": []})
        session["items"] += 1
        if place < KEYS_SHOWN:
            session["keys"].append(memory.key or memory.id)
    times = [memory.updated_at for memory in moved]
    return {
        "byCategory": by_category(moved),
        "dateRange": {"start": iso(min(times)), "end": iso(max(times))}
        if times
        else {"start": "", "end": ""},
        "archived": list(sessions.values())[:SESSIONS_SHOWN],
        "keysNotShown": max(len(moved) - KEYS_SHOWN, 0),
        "sessionsNotShown": max(len(sessions) - SESSIONS_SHOWN, 0),
    }
