"""Exports of MCP Memory Keeper itself, versions 0.4.0 and 0.5.0: one session, as its rows in SQLite."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, TypeVar

from ....core.merging import MemoryCopy
from ....domain.records import Memory, Session, Trust
from .bundle import CheckpointCopy, FileCopy, SessionCopy
from .fields import Fields
from .ours import read_checkpoint

Linked = TypeVar("Linked")

VERSIONS = ("0.4.0", "0.5.0")


def read(file: Fields, surface: str, project: str) -> tuple[SessionCopy, ...]:
    version = file.text("version")
    if version not in VERSIONS:
        file.wrong("version", f"{version!r} is not one this Backstory can read: {', '.join(VERSIONS)}.")
        return ()
    if not file.has("contextItems"):
        file.wrong("contextItems", "is missing.")
    session = _read_session(Fields(file.value("session"), "session", file.report), surface, project)
    items = [_read_item(each, session) for each in file.objects("contextItems")]
    memories = {memory.id: memory for memory in items}
    files = {each.once("id", "files"): _read_file(each, session) for each in file.objects("fileCache")}
    return (
        SessionCopy(
            session,
            items=tuple(map(MemoryCopy, items)),
            files=tuple(files.values()),
            checkpoints=_read_checkpoints(file, session, memories, files),
        ),
    )


def _read_session(fields: Fields, surface: str, project: str) -> Session:
    created_at = fields.time("created_at")
    return Session(
        id=fields.once("id", "sessions"),
        name=fields.text("name"),
        description=fields.text("description", ""),
        project=fields.text("working_directory", project),
        surface=surface,
        channel=fields.text("default_channel", "general"),
        parent=fields.text_or_none("parent_id"),
        created_at=created_at,
        updated_at=fields.time("updated_at", created_at),
    )


def _read_item(fields: Fields, session: Session) -> Memory:
    created_at = fields.time("created_at")
    return Memory(
        id=fields.once("id", "ids"),
        key=fields.once("key", "keys"),
        text=fields.text("value"),
        category=fields.text_or_none("category"),
        priority=fields.priority("priority"),
        channel=fields.text("channel", session.channel),
        metadata=_read_metadata(fields),
        private=_is_private(fields),
        project=session.project,
        surface=session.surface,
        session=session.id,
        trust=Trust.IMPORTED,
        created_at=created_at,
        updated_at=fields.time("updated_at", created_at),
    )


def _is_private(fields: Fields) -> bool:
    """Read a boolean, which SQLite stores as 0 or 1. An unclear value is a problem, never a public item."""
    value = fields.value("is_private")
    if value not in (None, 0, 1):
        fields.wrong("is_private", "must be 0 or 1.")
    return bool(value)


def _read_metadata(fields: Fields) -> dict[str, Any]:
    """Read an object, or its JSON in a text. Any other text is returned under the name `text`."""
    if not isinstance(fields.value("metadata"), str):
        return fields.mapping("metadata")
    text = fields.text("metadata")
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        return {"text": text}
    return Fields({"metadata": parsed}, fields.place, fields.report).mapping("metadata")


def _read_file(fields: Fields, session: Session) -> FileCopy:
    """Read a cached file. Its size and hash are ignored: they were sometimes wrong, and follow from the content."""
    path = fields.once("file_path", "paths")
    return FileCopy(
        # the form in which file_cache.py looks it up
        path=os.path.normpath(os.path.join(session.project, path)),
        content=fields.text("content").encode(),
        cached_at=fields.time("updated_at", fields.time("last_read", session.updated_at)),
        metadata={},
    )


def _read_checkpoints(
    file: Fields, session: Session, memories: Mapping[str, Memory], files: Mapping[str, FileCopy]
) -> tuple[CheckpointCopy, ...]:
    """Read checkpoints. In the original they are links to the current items, not copies."""
    linked = _links(file, "checkpointItems", "context_item_id", memories)
    cached = _links(file, "checkpointFiles", "file_cache_id", files)
    return tuple(
        CheckpointCopy(
            (checkpoint := read_checkpoint(fields, session, "git_branch", "git_status", "created_at")),
            memories=tuple(linked.get(checkpoint.id, ())),
            files=tuple(cached.get(checkpoint.id, ())),
        )
        for fields in file.objects("checkpoints")
    )


def _links(file: Fields, table: str, column: str, targets: Mapping[str, Linked]) -> dict[str, list[Linked]]:
    """Map checkpoint ids to the targets of their links."""
    links: dict[str, list[Linked]] = {}
    for fields in file.objects(table):
        target = fields.text(column)
        if target in targets:
            links.setdefault(fields.text("checkpoint_id"), []).append(targets[target])
        elif target:
            fields.wrong(column, f"{target[:80]!r} is not in the file.")
    return links
