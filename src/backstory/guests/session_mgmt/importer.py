"""session-mgmt and its successor session-buddy: reflections and conversations in DuckDB, in three generations of
tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from ...domain.categories import REFLECTION
from ...domain.when import to_ms
from ...importers.archives import conversation_of
from ...importers.contents import (
    ForeignConversation,
    ForeignMemory,
    ForeignSession,
    Record,
    UnplacedRecords,
    relation,
)
from ...importers.counts import Skip
from ...importers.stores import store_importer
from ...importers.tables import Row, Tables, duckdb_tables
from ...readers import ConversationHeader, Piece, Places, Role, Turn
from ...readers.formats.paths import homes
from ...readers.formats.values import fingerprint

NAME = "session-mgmt"
FILE = "reflection.duckdb"
_TIMES = ("timestamp", "created_at")
_UNPLACED = {
    "project_groups": "project groups",
    "session_links": "session links",
    "code_graphs": "code graphs",
    "distilled_skills": "distilled skills",
}


def find(places: Places) -> Iterator[Path]:
    yield from (home / ".claude" / "data" / FILE for home in homes(places))


def read(path: Path) -> Iterator[Record]:
    with duckdb_tables(path) as (tables, is_whole):
        if not is_whole:
            reason = "wait in its log: end the program that has it open, and import again"
            yield UnplacedRecords("last changes", reason)
        yield from (_session(row) for row in tables("session_windows"))
        yield from _each_once(tables, "reflections", _reflection)
        yield from _each_once(tables, "conversations", partial(_conversation, path))
        yield from (_dependency(row) for row in tables("project_dependencies"))
        for table, kind in _UNPLACED.items():
            if times := sum(1 for _ in tables(table)):
                yield UnplacedRecords(kind, "a thing of session-mgmt alone", times)


def _project(row: Row) -> str:
    name = row.text("project")
    return "" if name.lower() in ("unknown", "default") else name


def _session(row: Row) -> ForeignSession:
    started_at = row.time("started_at")
    directory = row.text("working_directory")
    return ForeignSession(
        place=f"session_windows/{row.id('id')}",
        name=_project(row) or Path(directory).name or "session",
        created_at=started_at,
        updated_at=row.time("ended_at", default=started_at),
        project=directory or _project(row),
    )


def _each_once(tables: Tables, kind: str, record: Callable[[Row], Record]) -> Iterator[Record]:
    """Yield each text once. Newer versions have both tables, and some texts in both."""
    seen: set[str] = set()
    for table in (f"{kind}_v2", kind):
        for row in tables(table):
            text = row.text("content")
            yield UnplacedRecords(kind, Skip.TWICE) if text in seen else record(row)
            seen.add(text)


def _reflection(row: Row) -> ForeignMemory:
    created_at = row.time(*_TIMES)
    names = ("category", "subcategory", "insight_type", "memory_tier")
    about = {name: row.text(name) for name in names if row.text(name)}
    return ForeignMemory(
        kind="reflections",
        place=f"reflections/{row.id('id')}",
        text=row.text("content"),
        created_at=created_at,
        updated_at=row.time("updated_at", default=created_at),
        project=_project(row),
        category=REFLECTION,
        tags=row.texts("tags"),
        metadata={**row.object("metadata"), **about},
    )


def _conversation(path: Path, row: Row) -> ForeignConversation:
    """Convert a text that summarizes the state of a session."""
    id, text = row.id("id"), row.text("content")
    at_ms = to_ms(row.time(*_TIMES))
    title = text.strip().partition("\n")[0].lstrip("# ").strip()[:100]
    header = ConversationHeader(id, f"{path}#{id}", title=title, completeness="partial")
    turns = [Turn("0", Role.SUMMARY, text, at_ms)] if text.strip() else []
    return conversation_of(NAME, "conversations", Piece(header, turns), at_ms, project=_project(row))


def _dependency(row: Row) -> ForeignMemory:
    parts = row.text("source_project"), row.text("dependency_type"), row.text("target_project")
    return relation(
        f"project_dependencies/{fingerprint(*parts)}",
        *parts,
        row.time("created_at"),
        extra={"description": row.text("description")} if row.text("description") else {},
    )


importer = store_importer(
    NAME, "session-mgmt and session-buddy", read=read, find=find, names=(FILE, "*.duckdb")
)
