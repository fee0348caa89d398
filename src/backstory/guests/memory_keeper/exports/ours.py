"""Our own export format, version 1, as JSON: written with one record per line, read with every field checked.

docs/exports.md describes it for people. Files written today must stay readable: a new version gets its own number, and
this reader remains."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from ....core.merging import MemoryCopy
from ....domain.checkpoints import Checkpoint
from ....domain.records import Former, Memory, Session, Trust
from ....domain.when import iso
from .bundle import CheckpointCopy, FileCopy, LinkCopy, SessionCopy
from .fields import Fields

FORMAT = "backstory-export"
VERSION = 1
OPENING = f'{{"format": "{FORMAT}"'


def write(parts: Iterable[SessionCopy], about: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the file in pieces. `about` contains facts about the export itself."""
    yield f'{OPENING}, "version": {VERSION}'
    yield f',\n"metadata": {_line(about)}' if about else ""
    yield ',\n"sessions": ['
    for number, part in enumerate(parts):
        yield ",\n" if number else "\n"
        yield from _write_part(part)
    yield "\n]}\n"


def _write_part(part: SessionCopy) -> Iterator[str]:
    yield _line(_session_fields(part.session))[:-1]
    yield from _write_list("items", map(_item_fields, part.items))
    yield from _write_list("files", map(_file_fields, part.files))
    yield from _write_list("checkpoints", map(_checkpoint_fields, part.checkpoints))
    yield from _write_list("archived", map(_item_fields, part.archived))
    yield from _write_list("links", map(_link_fields, part.links))
    yield "}"


def _write_list(name: str, records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    yield f',\n"{name}": ['
    for number, record in enumerate(records):
        yield (",\n" if number else "\n") + _line(record)
    yield "]"


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)


def _session_fields(session: Session) -> dict[str, Any]:
    return {
        "id": session.id,
        "name": session.name,
        "description": session.description,
        "project": session.project,
        "channel": session.channel,
        "parent": session.parent,
        "createdAt": iso(session.created_at),
        "updatedAt": iso(session.updated_at),
    }


def _item_fields(item: MemoryCopy) -> dict[str, Any]:
    fields = _memory_fields(item.memory)
    return fields | {"history": [_former_fields(former) for former in item.history]}


def _memory_fields(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "key": memory.key,
        "value": memory.text,
        "category": memory.category,
        "priority": memory.priority.value,
        "channel": memory.channel,
        "tags": list(memory.tags),
        "metadata": dict(memory.metadata),
        "private": memory.private,
        "createdAt": iso(memory.created_at),
        "updatedAt": iso(memory.updated_at),
    }


def _former_fields(former: Former) -> dict[str, Any]:
    return {
        "value": former.text,
        "category": former.category,
        "priority": former.priority.value,
        "channel": former.channel,
        "metadata": dict(former.metadata),
        "savedAt": iso(former.saved_at),
        "private": former.private,
    }


def _file_fields(file: FileCopy) -> dict[str, Any]:
    """Return the fields of a file. Content is text if possible; other bytes are base64."""
    try:
        content = {"content": file.content.decode()}
    except UnicodeDecodeError:
        content = {"content": b64encode(file.content).decode(), "encoding": "base64"}
    return {
        "path": file.path,
        **content,
        "size": len(file.content),
        "hash": sha256(file.content).hexdigest(),
        "metadata": dict(file.metadata),
        "cachedAt": iso(file.cached_at),
    }


def _link_fields(link: LinkCopy) -> dict[str, Any]:
    return {
        "source": link.source,
        "target": link.target,
        "relationship": link.relationship,
        "metadata": dict(link.metadata),
        "createdAt": iso(link.created_at),
    }


def _checkpoint_fields(copy: CheckpointCopy) -> dict[str, Any]:
    checkpoint = copy.checkpoint
    return {
        "id": checkpoint.id,
        "name": checkpoint.name,
        "description": checkpoint.description,
        "gitBranch": checkpoint.git_branch,
        "gitStatus": checkpoint.git_status,
        "createdAt": iso(checkpoint.created_at),
        "items": [_memory_fields(memory) for memory in copy.memories],
        "files": [_file_fields(file) for file in copy.files],
    }


def read(file: Fields, surface: str) -> tuple[SessionCopy, ...]:
    if file.value("version") != VERSION:
        file.wrong("version", f"{file.value('version')!r} is not one this Backstory can read: {VERSION}.")
        return ()
    if not file.has("sessions"):
        file.wrong("sessions", "is missing.")
    sessions = list(file.objects("sessions"))
    parts = tuple(_read_part(fields, surface) for fields in sessions)
    items = {item.memory.id for part in parts for item in (*part.items, *part.archived)}
    for link in (link for fields in sessions for link in fields.objects("links")):
        for end in ("source", "target"):
            if link.has(end) and link.text(end) not in items:
                link.wrong(end, "is no item of the file.")
    return parts


def _read_part(fields: Fields, surface: str) -> SessionCopy:
    session = Session(
        id=fields.once("id", "sessions"),
        name=fields.text("name"),
        description=fields.text("description", ""),
        project=fields.text("project"),
        surface=surface,
        channel=fields.text("channel", "general"),
        parent=fields.text_or_none("parent"),
        created_at=fields.time("createdAt"),
        updated_at=fields.time("updatedAt"),
    )
    return SessionCopy(
        session,
        items=tuple(
            _read_item(each, session, keys=f"keys of {fields.place}") for each in fields.objects("items")
        ),
        files=_read_files(fields),
        checkpoints=tuple(_read_checkpoint(each, session) for each in fields.objects("checkpoints")),
        archived=tuple(_read_item(each, session) for each in fields.objects("archived")),
        links=tuple(map(_read_link, fields.objects("links"))),
    )


def _read_link(fields: Fields) -> LinkCopy:
    return LinkCopy(
        source=fields.text("source"),
        target=fields.text("target"),
        relationship=fields.text("relationship"),
        metadata=fields.mapping("metadata"),
        created_at=fields.time("createdAt"),
    )


def _read_item(fields: Fields, session: Session, keys: str = "") -> MemoryCopy:
    history = tuple(map(_read_former, fields.objects("history")))
    return MemoryCopy(read_memory(fields, session, keys=keys), history)


def read_memory(fields: Fields, session: Session, *, ids: str = "ids", keys: str = "") -> Memory:
    """Read a memory. Ids are unique within `ids`, and keys within `keys`; in the archive keys may repeat."""
    has_key = bool(keys) and fields.has("key")
    return Memory(
        id=fields.once("id", ids),
        key=fields.once("key", keys) if has_key else fields.text_or_none("key"),
        text=fields.text("value"),
        category=fields.text_or_none("category"),
        priority=fields.priority("priority"),
        channel=fields.text_or_none("channel"),
        tags=fields.texts("tags"),
        metadata=fields.mapping("metadata"),
        private=fields.flag("private"),
        project=session.project,
        surface=session.surface,
        session=session.id,
        trust=Trust.IMPORTED,
        created_at=fields.time("createdAt"),
        updated_at=fields.time("updatedAt"),
    )


def _read_former(fields: Fields) -> Former:
    return Former(
        text=fields.text("value"),
        category=fields.text_or_none("category"),
        priority=fields.priority("priority"),
        channel=fields.text_or_none("channel"),
        metadata=fields.mapping("metadata"),
        saved_at=fields.time("savedAt"),
        private=fields.flag("private"),
    )


def _read_files(fields: Fields) -> tuple[FileCopy, ...]:
    return tuple(_read_file(each, f"paths of {fields.place}") for each in fields.objects("files"))


def _read_file(fields: Fields, within: str) -> FileCopy:
    content = _read_content(fields)
    if fields.has("hash") and fields.text("hash") != sha256(content).hexdigest():
        fields.wrong("hash", "is not that of the content.")
    return FileCopy(
        path=fields.once("path", within),
        content=content,
        cached_at=fields.time("cachedAt"),
        metadata=fields.mapping("metadata"),
    )


def _read_content(fields: Fields) -> bytes:
    written, encoding = fields.text("content"), fields.text("encoding", "utf-8")
    if encoding == "utf-8":
        return written.encode()
    try:
        if encoding == "base64":
            return b64decode(written, validate=True)
    except ValueError:
        fields.wrong("content", "is not base64.")
        return b""
    fields.wrong("encoding", "must be base64 where it is given.")
    return b""


def read_checkpoint(fields: Fields, session: Session, branch: str, status: str, created: str) -> Checkpoint:
    """Read a checkpoint. Its contents are counted and hashed once they are in the store."""
    return Checkpoint(
        id=fields.once("id", "checkpoints"),
        name=fields.text("name"),
        description=fields.text("description", ""),
        session=session.id,
        project=session.project,
        surface=session.surface,
        root="",
        items=0,
        files=0,
        git_branch=fields.text_or_none(branch),
        git_status=fields.text_or_none(status),
        created_at=fields.time(created),
    )


def _read_checkpoint(fields: Fields, session: Session) -> CheckpointCopy:
    return CheckpointCopy(
        read_checkpoint(fields, session, "gitBranch", "gitStatus", "createdAt"),
        memories=tuple(
            read_memory(each, session, ids=f"ids of {fields.place}", keys=f"keys of {fields.place}")
            for each in fields.objects("items")
        ),
        files=_read_files(fields),
    )
