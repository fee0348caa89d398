"""mcp-memory-service: memories in SQLite. Its vectors need an extension, its texts do not.

A change creates a new row, and the old row names the one that supersedes it. Here that becomes the memory's history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ...domain.records import Former, Priority
from ...readers import Places
from ...readers.formats.paths import data_home
from ..contents import ForeignMemory, Record, UnplacedRecords, category_of, relation
from ..stores import store_importer
from ..tables import Row, Tables, by, sqlite_tables

NAME = "mcp-memory-service"
FILE = "sqlite_vec.db"
_QUOTED = 80
_MADE = ("created_at", "created_at_iso")
_CHANGED = ("updated_at", "updated_at_iso")


def find(places: Places) -> Iterator[Path]:
    environment = places.environment
    if file := environment.get("MCP_MEMORY_SQLITE_PATH", ""):
        yield Path(file)
    if folder := environment.get("MCP_MEMORY_BASE_DIR", ""):
        yield Path(folder) / FILE
    if places.platform == "darwin":
        yield places.home / "Library" / "Application Support" / "mcp-memory" / FILE
    elif places.platform == "win32":
        local = environment.get("LOCALAPPDATA", "")
        yield (Path(local) if local else places.home / "AppData" / "Local") / "mcp-memory" / FILE
    else:
        yield data_home(places) / "mcp-memory" / FILE


def read(path: Path) -> Iterator[Record]:
    with sqlite_tables(path, "memories.content_hash") as tables:
        memories = {row.text("content_hash"): row for row in tables("memories")}
        superseded = by(memories.values(), "superseded_by")
        for row in memories.values():
            # a superseded row is part of the other one's history
            if row.text("superseded_by") not in memories:
                yield _memory(row, _before(row, superseded))
        yield from _relations(tables, memories)
        yield from _beliefs(tables)


def _memory(row: Row, before: list[Row]) -> ForeignMemory:
    """Convert a memory. Its place is the hash of its first text, which does not change when the text does."""
    first = before[0] if before else row
    created_at = first.time(*_MADE)
    return ForeignMemory(
        kind="memories",
        place=f"memories/{first.text('content_hash')}",
        text=row.text("content"),
        created_at=created_at,
        updated_at=row.time(*_CHANGED, default=created_at),
        category=category_of(row.text("memory_type")),
        tags=row.texts("tags"),
        metadata=row.object("metadata"),
        history=tuple(map(_former, before)),
        is_deleted="deleted_at" in row or "superseded_by" in row,
    )


def _before(row: Row, superseded: Mapping[str, list[Row]]) -> list[Row]:
    """Return the rows that it superseded, directly and indirectly, oldest first."""
    rows: list[Row] = []
    left = [row.text("content_hash")]
    seen = set(left)
    while left:
        before = [each for each in superseded.get(left.pop(), ()) if each.text("content_hash") not in seen]
        rows += before
        left += [each.text("content_hash") for each in before]
        seen.update(left)
    return sorted(rows, key=lambda each: each.time(*_MADE))


def _former(row: Row) -> Former:
    return Former(
        row.text("content"),
        category_of(row.text("memory_type")),
        Priority.NORMAL,
        None,
        row.object("metadata"),
        row.time(*_CHANGED, *_MADE),
    )


def _relations(tables: Tables, memories: Mapping[str, Row]) -> Iterator[Record]:
    alike = 0
    for row in tables("memory_graph"):
        ends = row.text("source_hash"), row.text("target_hash")
        kind = row.text("relationship_type")
        if kind in ("", "related") or not memories.keys() >= set(ends):
            alike += 1
            continue
        subject, object = (_quoted(memories[end].text("content")) for end in ends)
        at = row.time("created_at")
        yield relation(f"memory_graph/{'/'.join(ends)}/{kind}", subject, kind, object, at)
    if alike:
        yield UnplacedRecords("similarities", "recomputed by meaning", alike)


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line if len(line) <= _QUOTED else line[: _QUOTED - 1] + '…'}”"


def _beliefs(tables: Tables) -> Iterator[ForeignMemory]:
    for row in tables("beliefs"):
        created_at = row.time(*_MADE)
        yield ForeignMemory(
            kind="beliefs",
            place=f"beliefs/{row.id('id')}",
            text=row.text("content"),
            created_at=created_at,
            updated_at=row.time(*_CHANGED, default=created_at),
            category="fact",
            metadata={"confidence": row.number("confidence")},
            is_deleted=row.text("status") not in ("", "active"),
        )


importer = store_importer(NAME, "mcp-memory-service", read=read, find=find, names=(FILE, "*.db"))
