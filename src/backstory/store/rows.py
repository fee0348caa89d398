"""Records ↔ rows of the entry table."""

from __future__ import annotations

import json
from typing import Any

from ..domain.filters import Kind
from ..domain.records import Conversation, Entry, Former, Memory, Message, Priority, Trust, heading
from ..domain.when import from_ms, to_ms
from .statements import Row

COLUMNS = (
    "id", "kind", "text", "heading", "thread", "seq", "role", "speaker", "project", "surface", "private",
    "created_at", "updated_at", "summary", "key", "category", "priority", "channel", "tags", "metadata", "trust",
)  # fmt: skip

FORMER_COLUMNS = ("text", "category", "priority", "channel", "metadata", "saved_at", "private")

CONVERSATION_COLUMNS = (
    "id", "title", "project", "surface", "created_at", "updated_at", "kind", "parent", "native_id", "source",
    "directory", "branch", "model", "completeness", "standing", "subject", "is_gone", "trust",
)  # fmt: skip


def entry_row(entry: Entry) -> list[Any]:
    """Values in the order of COLUMNS."""
    return _message_row(entry) if isinstance(entry, Message) else _memory_row(entry)


def _memory_row(m: Memory) -> list[Any]:
    return [
        m.id, Kind.MEMORY.value, m.text, heading(m), m.session, 0, "", "", m.project, m.surface, int(m.private),
        to_ms(m.created_at), to_ms(m.updated_at), m.summary, m.key, m.category, m.priority.value, m.channel,
        json.dumps(m.tags), json.dumps(dict(m.metadata)), m.trust.value,
    ]  # fmt: skip


def _message_row(m: Message) -> list[Any]:
    at = to_ms(m.created_at)
    return [
        m.id, Kind.MESSAGE.value, m.text, heading(m), m.conversation, m.seq, m.role, m.speaker, m.project,
        m.surface, 0, at, at, "", None, None, None, None, None, None, m.trust.value,
    ]  # fmt: skip


def read_entry(row: Row) -> Entry:
    """The record of a row selected with COLUMNS."""
    values = dict(zip(COLUMNS, row, strict=True))
    return _read_message(values) if values["kind"] == Kind.MESSAGE else _read_memory(values)


def _read_memory(v: dict[str, Any]) -> Memory:
    return Memory(
        id=v["id"], text=v["text"], project=v["project"], surface=v["surface"], summary=v["summary"],
        created_at=from_ms(v["created_at"]), updated_at=from_ms(v["updated_at"]), key=v["key"],
        category=v["category"], priority=Priority(v["priority"]), channel=v["channel"],
        tags=tuple(json.loads(v["tags"])), session=v["thread"], private=bool(v["private"]),
        metadata=json.loads(v["metadata"]), trust=Trust(v["trust"]),
    )  # fmt: skip


def _read_message(v: dict[str, Any]) -> Message:
    return Message(
        id=v["id"], conversation=v["thread"], seq=v["seq"], role=v["role"], speaker=v["speaker"], text=v["text"],
        project=v["project"], surface=v["surface"], created_at=from_ms(v["created_at"]), trust=Trust(v["trust"]),
    )  # fmt: skip


def conversation_row(c: Conversation) -> list[Any]:
    """Values in the order of CONVERSATION_COLUMNS."""
    values = c._asdict() | {"is_gone": int(c.is_gone), "trust": c.trust.value}
    values |= {"created_at": to_ms(c.created_at), "updated_at": to_ms(c.updated_at)}
    return [values[column] for column in CONVERSATION_COLUMNS]


def read_conversation(row: Row) -> Conversation:
    """The record of a row selected with CONVERSATION_COLUMNS."""
    values = dict(zip(CONVERSATION_COLUMNS, row, strict=True))
    values |= {name: from_ms(values[name]) for name in ("created_at", "updated_at")}
    return Conversation(**values | {"is_gone": bool(values["is_gone"]), "trust": Trust(values["trust"])})


def read_former(row: Row) -> Former:
    """The record of a row selected with FORMER_COLUMNS."""
    text, category, priority, channel, metadata, saved_at, private = row
    return Former(
        text, category, Priority(priority), channel, json.loads(metadata), from_ms(saved_at), bool(private)
    )
