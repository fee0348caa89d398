"""MCP Memory Keeper: its SQLite file, versions 0.10 to 0.14, or an export of one session.

It has no history, but its change log (since 0.11) contains overwritten and deleted values. An item is identified by its
session and key, because saving a key again assigns another id."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from ...domain.categories import JOURNAL
from ...domain.errors import Unreadable
from ...domain.records import Former
from ...importers.contents import (
    ForeignCheckpoint,
    ForeignFile,
    ForeignLink,
    ForeignMemory,
    ForeignSession,
    Record,
    UnplacedRecords,
    relation,
)
from ...importers.stores import store_importer
from ...importers.tables import Row, Tables, by, rows_of, sqlite_tables
from ...readers import Places
from ...readers.formats.documents import read_document
from ...readers.formats.paths import homes
from ...readers.formats.values import fields_of

_FOUND_ANEW = "found anew in the texts"
_SETTINGS = "a setting of Memory Keeper"
_UNPLACED = {
    "entities": ("graph entities", _FOUND_ANEW),
    "relations": ("graph relations", _FOUND_ANEW),
    "compressed_context": ("compressed contexts", "a digest of items that were deleted: see --with-deleted"),
    "agent_tasks": ("agent tasks", "work in progress of Memory Keeper"),
    "agent_results": ("agent results", "work in progress of Memory Keeper"),
    "context_watchers": ("watchers", _SETTINGS),
    "retention_policies": ("retention policies", _SETTINGS),
    "feature_flags": ("feature flags", _SETTINGS),
}
_EXPORTED = {
    "context_items": "contextItems",
    "file_cache": "fileCache",
    "checkpoints": "checkpoints",
    "checkpoint_items": "checkpointItems",
    "checkpoint_files": "checkpointFiles",
}


def find(places: Places) -> Iterator[Path]:
    for home in homes(places):
        for folder in ("mcp-data", ".mcp-data"):
            yield home / folder / "memory-keeper" / "context.db"


def read(path: Path) -> Iterator[Record]:
    if path.suffix.lower() == ".json":
        yield from _records(_exported(path))
        return
    with sqlite_tables(path, "sessions", "context_items.session_id") as tables:
        yield from _records(tables)


def _exported(path: Path) -> Tables:
    try:
        file = fields_of(read_document(path))
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror or error}.") from error
    if "session" not in file or "contextItems" not in file:
        raise Unreadable(f"{path} is no export of Memory Keeper: it has no session with contextItems.")
    lists = {table: file.get(name) for table, name in _EXPORTED.items()} | {"sessions": [file["session"]]}
    return lambda table: rows_of(lists.get(table))


def _records(tables: Tables) -> Iterator[Record]:
    sessions = {row.id("id"): row for row in tables("sessions")}
    yield from (_session(row) for row in sessions.values())
    directories = {id: row.text("working_directory") for id, row in sessions.items()}
    yield from _items(tables, directories)
    yield from (_journal_entry(row, directories) for row in tables("journal_entries"))
    yield from _observations(tables, directories)
    yield from _relations(tables, directories)
    files = {row.id("id"): _file(row) for row in tables("file_cache")}
    yield from files.values()
    yield from _checkpoints(tables, files)
    for table, (kind, reason) in _UNPLACED.items():
        if count := sum(1 for _ in tables(table)):
            yield UnplacedRecords(kind, reason, count)


def _session(row: Row) -> ForeignSession:
    created_at = row.time("created_at")
    return ForeignSession(
        place=_session_place(row.id("id")),
        name=row.text("name") or "Unnamed session",
        created_at=created_at,
        updated_at=row.time("updated_at", default=created_at),
        project=row.text("working_directory"),
        channel=row.text("default_channel") or "general",
        description=row.text("description"),
        parent=_session_place(row.id("parent_id")) if row.id("parent_id") else None,
    )


def _session_place(id: str) -> str:
    return f"sessions/{id}"


class _Life(NamedTuple):
    """The values of a key in a session between two deletions: the rows of the change log."""

    id: str
    """Item id in the last row."""
    changes: list[Row]
    is_deleted: bool

    @property
    def formers(self) -> tuple[Former, ...]:
        """Return every value that was replaced by another one."""
        first = self.changes[0]
        values = [change for change in self.changes if change.text("operation") != "DELETE"]
        replaced = [
            _former(before, "new")
            for before, after in pairwise(values)
            if before.text("new_value") != after.text("new_value")
        ]
        if first.text("operation") == "UPDATE" and first.text("old_value") not in (
            "",
            first.text("new_value"),
        ):
            replaced.insert(0, _former(first, "old"))  # the item was created before the change log existed
        return tuple(replaced)


def _items(tables: Tables, directories: Mapping[str, str]) -> Iterator[ForeignMemory]:
    logged = _lives(tables("context_changes"))
    for row in tables("context_items"):
        owner = row.id("session_id"), row.text("key")
        lives = logged.pop(owner, [])
        formers = lives.pop().formers if lives and not lives[-1].is_deleted else ()
        yield from (_deleted(owner, life, directories, _item_place(*owner, life.id)) for life in lives)
        yield _item(row, formers, directories)
    for owner, lives in logged.items():
        *earlier, last = lives
        yield from (_deleted(owner, life, directories, _item_place(*owner, life.id)) for life in earlier)
        yield _deleted(owner, last, directories, _item_place(*owner))


def _lives(changes: Iterable[Row]) -> dict[tuple[str, str], list[_Life]]:
    by_key: dict[tuple[str, str], list[_Life]] = {}
    for change in sorted(changes, key=lambda row: row.number("sequence_id")):
        lives = by_key.setdefault((change.id("session_id"), change.text("key")), [])
        is_deleted = change.text("operation") == "DELETE"
        if lives and not lives[-1].is_deleted:
            lives[-1] = _Life(change.id("item_id"), [*lives[-1].changes, change], is_deleted)
        else:
            lives.append(_Life(change.id("item_id"), [change], is_deleted))
    return by_key


def _item_place(session: str, key: str, *life: str) -> str:
    return json.dumps(["context_items", session, key, *life], ensure_ascii=False)


def _item(row: Row, formers: tuple[Former, ...], directories: Mapping[str, str]) -> ForeignMemory:
    session, created_at = row.id("session_id"), row.time("created_at")
    return ForeignMemory(
        kind="items",
        place=_item_place(session, row.text("key")),
        text=row.text("value"),
        created_at=formers[0].saved_at if formers else created_at,
        updated_at=row.time("updated_at", default=created_at),
        project=directories.get(session, ""),
        session=_session_place(session),
        key=row.text("key"),
        category=row.text("category") or None,
        priority=row.priority("priority"),
        channel=row.text("channel") or "general",
        metadata=row.object("metadata"),
        private=bool(row.number("is_private")),
        history=tuple(former._replace(private=bool(row.number("is_private"))) for former in formers),
    )


def _former(change: Row, which: str) -> Former:
    """Return the new or the old value of a change."""
    return Former(
        text=change.text(f"{which}_value"),
        category=change.text("category") or None,
        priority=change.priority("priority"),
        channel=change.text("channel") or "general",
        metadata=change.object(f"{which}_metadata"),
        saved_at=change.time("created_at"),
    )


def _deleted(
    owner: tuple[str, str], life: _Life, directories: Mapping[str, str], place: str
) -> ForeignMemory:
    """Return the last value of a deleted item. The log does not record whether it was private."""
    session, key = owner
    last = life.changes[-1]
    return ForeignMemory(
        kind="items",
        place=place,
        text=last.text("old_value", "new_value"),
        created_at=life.changes[0].time("created_at"),
        updated_at=last.time("created_at"),
        project=directories.get(session, ""),
        session=_session_place(session),
        key=key,
        category=last.text("category") or None,
        priority=last.priority("priority"),
        channel=last.text("channel") or "general",
        metadata=last.object("old_metadata"),
        history=life.formers,
        is_deleted=True,
    )


def _journal_entry(row: Row, directories: Mapping[str, str]) -> ForeignMemory:
    created_at = row.time("created_at")
    return ForeignMemory(
        kind="journal entries",
        place=f"journal_entries/{row.id('id')}",
        text=row.text("entry"),
        created_at=created_at,
        updated_at=created_at,
        project=directories.get(row.id("session_id"), ""),
        session=_session_place(row.id("session_id")),
        category=JOURNAL,
        channel="general",
        tags=row.texts("tags"),
        metadata={"mood": row.text("mood")} if row.text("mood") else {},
    )


def _observations(tables: Tables, directories: Mapping[str, str]) -> Iterator[ForeignMemory]:
    entities = {row.id("id"): row for row in tables("entities")}
    for row in tables("observations"):
        entity = entities.get(row.id("entity_id"), Row({}))
        created_at = row.time("timestamp")
        yield ForeignMemory(
            kind="observations",
            place=f"observations/{row.id('id')}",
            text=": ".join(filter(None, (entity.text("name"), row.text("observation")))),
            created_at=created_at,
            updated_at=created_at,
            project=directories.get(entity.id("session_id"), ""),
            session=_session_place(entity.id("session_id")) if entity.id("session_id") else None,
            category="observation",
            channel="general",
        )


def _relations(tables: Tables, directories: Mapping[str, str]) -> Iterator[ForeignLink | ForeignMemory]:
    """Yield links between items, or a sentence if one of the keys no longer exists."""
    owners: dict[str, list[str]] = {}
    for row in tables("context_items"):
        owners.setdefault(row.text("key"), []).append(row.id("session_id"))
    for row in tables("context_relationships"):
        session, keys = row.id("session_id"), (row.text("from_key"), row.text("to_key"))
        if not all(key in owners for key in keys):
            yield _relation(row, directories)
            continue
        source, target = (
            _item_place(session if session in owners[key] else owners[key][0], key) for key in keys
        )
        yield ForeignLink(
            place=f"links/{row.id('id')}",
            source=source,
            target=target,
            relationship=row.text("relationship_type"),
            created_at=row.time("created_at"),
            metadata=row.object("metadata"),
        )


def _relation(row: Row, directories: Mapping[str, str]) -> ForeignMemory:
    session = row.id("session_id")
    return relation(
        f"context_relationships/{row.id('id')}",
        row.text("from_key"),
        row.text("relationship_type"),
        row.text("to_key"),
        row.time("created_at"),
        extra=row.object("metadata"),
        project=directories.get(session, ""),
        session=_session_place(session),
        channel="general",
    )


def _file(row: Row) -> ForeignFile:
    """Read a cached file. Its size and hash are ignored: they were sometimes wrong, and follow from the content."""
    return ForeignFile(
        place=f"file_cache/{row.id('session_id')}/{row.text('file_path')}",
        session=_session_place(row.id("session_id")),
        path=row.text("file_path"),
        content=row.text("content"),
        cached_at=row.time("updated_at", "last_read"),
    )


def _checkpoints(tables: Tables, files: Mapping[str, ForeignFile]) -> Iterator[ForeignCheckpoint]:
    """Read checkpoints. In the original they are links to the current items, not copies."""
    items = {
        row.id("id"): _item_place(row.id("session_id"), row.text("key")) for row in tables("context_items")
    }
    linked, cached = (by(tables(f"checkpoint_{what}"), "checkpoint_id") for what in ("items", "files"))
    for row in tables("checkpoints"):
        links = (link.id("context_item_id") for link in linked.get(row.id("id"), ()))
        cache_ids = (link.id("file_cache_id") for link in cached.get(row.id("id"), ()))
        yield ForeignCheckpoint(
            place=f"checkpoints/{row.id('id')}",
            session=_session_place(row.id("session_id")),
            name=row.text("name"),
            description=row.text("description"),
            created_at=row.time("created_at"),
            git_branch=row.text("git_branch") or None,
            git_status=row.text("git_status") or None,
            memories=tuple(items[id] for id in links if id in items),
            files=tuple(files[id] for id in cache_ids if id in files),
        )


importer = store_importer(
    "memory-keeper",
    "MCP Memory Keeper",
    read=read,
    find=find,
    names=("context.db", "*.db"),
)
