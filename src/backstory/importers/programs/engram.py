"""engram: observations of coding sessions in SQLite, in its JSON export, or in chunks committed to a repository.

A record replaces earlier ones with the same topic key; newer versions of engram also store the earlier text."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...domain.errors import Unreadable
from ...domain.records import Former, Priority
from ...readers import Places
from ...readers.formats.files import read_regular
from ...readers.formats.paths import homes
from ...readers.formats.values import fields_of, items_of
from ..archives import Prompt, prompt_log
from ..contents import ForeignMemory, ForeignSession, Record, UnplacedRecords, category_of, relation
from ..stores import Importer, existing_path
from ..stores import locate as locate_named
from ..tables import Row, Tables, by, rows_of, sqlite_tables

NAME = "engram"
_ASSISTANTS = ("claude-code", "codex", "gemini-cli", "opencode")
_EXPORTED = {"sessions": "sessions", "observations": "observations", "user_prompts": "prompts"}
_STATED_RELATIONS = ("supersedes", "conflicts_with", "scoped")
MAX_STORE_BYTES = 1 << 29
"""Maximum number of bytes that a chunk may unpack to."""


def find(places: Places) -> Iterator[Path]:
    named = places.environment.get("ENGRAM_DATA_DIR", "")
    for folder in [Path(named)] if named else [home / ".engram" for home in homes(places)]:
        yield folder / "engram.db"
    for project in places.projects:
        if (project / ".engram" / "chunks").is_dir():
            yield project / ".engram"


def locate(path: Path) -> Path:
    path = existing_path(path)
    if path.is_dir() and not (path / "engram.db").exists():
        for folder in (path, path / ".engram"):
            if (folder / "chunks").is_dir():
                return folder
    return locate_named(path, ("engram.db", "*.db"))


def folder(path: Path) -> Path:
    """Return the project of records that name none: the folder that contains `.engram`."""
    inner = path if path.is_dir() else path.parent
    return inner.parent if inner.name == ".engram" else inner


def read(path: Path) -> Iterator[Record]:
    if path.is_dir():
        yield from _records(_merged([_chunk(file) for file in sorted((path / "chunks").glob("*.gz"))]), path)
    elif path.suffix.lower() == ".json":
        yield from _records(_merged([_document(_bytes(path), path)]), path)
    else:
        with sqlite_tables(path, "observations.topic_key", "sessions") as tables:
            yield from _records(tables, path)


def _bytes(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror or error}.") from error


def _chunk(path: Path) -> Mapping[str, Any]:
    try:
        with gzip.open(path) as stream:
            raw = stream.read(MAX_STORE_BYTES + 1)
    except (OSError, EOFError) as error:
        raise Unreadable(f"{path} cannot be unpacked: {error}.") from error
    if len(raw) > MAX_STORE_BYTES:
        raise Unreadable(f"{path} is too large when unpacked.")
    return _document(raw, path)


def _document(raw: bytes, path: Path) -> Mapping[str, Any]:
    try:
        body = fields_of(json.loads(raw))
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{path} is not JSON: {error}.") from error
    if "observations" not in body:
        raise Unreadable(f"{path} is not an export of engram: it has no observations.")
    return body


def _merged(documents: list[Mapping[str, Any]]) -> Tables:
    """Merge several chunks. If a record occurs more than once, the last one wins."""

    def tables(table: str) -> Iterator[Row]:
        name = _EXPORTED.get(table, table)
        rows = [row for document in documents for row in rows_of(items_of(document.get(name)))]
        return iter({row.text("sync_id") or row.id("id"): row for row in rows}.values())

    return tables


def _records(tables: Tables, path: Path) -> Iterator[Record]:
    sessions = {row.id("id"): row for row in tables("sessions")}
    yield from (_session(row) for row in sessions.values())
    versions = by(tables("observation_versions"), "observation_sync_id")
    observations = {row.text("sync_id"): row for row in tables("observations")}
    for row in tables("observations"):
        yield _observation(row, sessions, versions.get(row.text("sync_id"), []))
    yield from _relations(tables, observations, sessions)
    yield from _prompts(tables, sessions, path)


def _session(row: Row) -> ForeignSession:
    started_at = row.time("started_at")
    return ForeignSession(
        place=f"sessions/{row.id('id')}",
        name=row.text("project") or "engram session",
        created_at=started_at,
        updated_at=row.time("ended_at", default=started_at),
        project=row.text("directory") or row.text("project"),
        description=row.text("summary"),
    )


def _project(row: Row, sessions: Mapping[str, Row]) -> str:
    """Return the directory of the session, if it belongs to the same project."""
    session = sessions.get(row.id("session_id"), Row({}))
    is_same = row.text("project") in ("", session.text("project"))
    return session.text("directory") if is_same and session.text("directory") else row.text("project")


def _observation(row: Row, sessions: Mapping[str, Row], versions: list[Row]) -> ForeignMemory:
    created_at = row.time("created_at")
    kind, session = row.text("type"), row.id("session_id")
    # older versions only number their rows; session and time distinguish rows of two machines
    place = row.text("sync_id") or f"{session}/{row.id('id')}/{row.text('created_at')}"
    about = {name: row.text(name) for name in ("title", "tool_name", "scope") if row.text(name)}
    return ForeignMemory(
        kind="observations",
        place=f"observations/{place}",
        text=_text(row),
        created_at=created_at,
        updated_at=row.time("updated_at", default=created_at),
        project=_project(row, sessions),
        session=f"sessions/{session}" if session else None,
        key=row.text("topic_key") or None,
        category=category_of(kind),
        metadata={"type": kind, **about},
        history=tuple(
            Former(
                _text(version),
                category_of(version.text("type")),
                Priority.NORMAL,
                None,
                {},
                version.time("captured_at", default=created_at),
            )
            for version in sorted(versions, key=lambda version: version.number("revision_count"))
            if _text(version) != _text(row)
        ),
        is_deleted="deleted_at" in row,
    )


def _text(row: Row) -> str:
    title, content = row.text("title"), row.text("content")
    return content if not title or content.startswith(title) else f"{title}\n{content}"


def _relations(
    tables: Tables, observations: Mapping[str, Row], sessions: Mapping[str, Row]
) -> Iterator[Record]:
    unsure = 0
    for row in tables("memory_relations"):
        ends = [observations.get(row.text(name)) for name in ("source_id", "target_id")]
        subject, object = (None if end is None else end.text("title") for end in ends)
        if row.text("relation") not in _STATED_RELATIONS or not subject or not object or ends[0] is None:
            unsure += 1
            continue
        yield relation(
            f"memory_relations/{row.text('sync_id') or row.id('id')}",
            subject,
            row.text("relation"),
            object,
            row.time("updated_at", "created_at"),
            extra={"reason": row.text("reason")} if row.text("reason") else {},
            project=_project(ends[0], sessions),
        )
    if unsure:
        yield UnplacedRecords("similarities", "recomputed by meaning", unsure)


def _prompts(tables: Tables, sessions: Mapping[str, Row], path: Path) -> Iterator[Record]:
    for id, rows in by(tables("user_prompts"), "session_id").items():
        prompts = [
            Prompt(
                row.text("sync_id") or row.id("id"),
                row.text("content"),
                row.time("created_at"),
            )
            for row in rows
        ]
        project = _project(rows[0], sessions)
        yield prompt_log(NAME, id, prompts, source=f"{path}#{id}", project=project, assistants=_ASSISTANTS)


importer = Importer(NAME, "engram", read, locate, find, folder, realm=lambda path: "")
