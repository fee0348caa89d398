"""The wire format: memories, messages and conversations as JSON objects, and digests that identify versions.

Projects are sent as identities; see `identities`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from ...domain.devices import WireRecord
from ...domain.records import Conversation, Former, Memory, Message, Priority, Trace, Trust
from ...domain.statements import MessageSaying, Saying, Speaker, StatementKind
from ...domain.when import from_ms, to_ms

_TIMES = ("created_at", "updated_at")
_STAYING = ("id", "project", "source", "is_gone", "directory", "rules")
"""Fields of a conversation that are of the machine that read it, or derived."""
REDACTED = "[redacted: "


def digest(value: Any) -> str:
    # Sorted, since machines must agree on a digest whatever order their fields have.
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()


def memory_fields(memory: Memory) -> WireRecord:
    """All fields but id and project."""
    fields = memory._asdict() | {name: to_ms(getattr(memory, name)) for name in _TIMES}
    fields |= {"tags": list(memory.tags), "metadata": dict(memory.metadata)}
    return {name: value for name, value in fields.items() if name not in ("id", "project")}


def read_memory(id: str, project: str, record: Mapping[str, Any]) -> Memory:
    fields = {name: record[name] for name in Memory._fields if name in record}
    return Memory(
        **fields
        | {
            "id": id,
            "project": project,
            "created_at": from_ms(record["created_at"]),
            "updated_at": from_ms(record["updated_at"]),
            "priority": Priority(record["priority"]),
            "trust": Trust(record["trust"]),
            "tags": tuple(record["tags"]),
        }
    )


def former_of(memory: Memory) -> Former:
    """The fields of a version that a history shows."""
    return Former(
        memory.text,
        memory.category,
        memory.priority,
        memory.channel,
        memory.metadata,
        memory.updated_at,
        memory.private,
    )


def with_former(memory: Memory, former: Former) -> Memory:
    """An earlier version of a memory; fields that the history does not store have their current values."""
    return memory._replace(
        text=former.text,
        # The summary belongs to the current text.
        summary="",
        category=former.category,
        priority=former.priority,
        channel=former.channel,
        metadata=former.metadata,
        updated_at=former.saved_at,
        private=former.private,
    )


def former_digest(former: Former) -> str:
    fields = former._asdict() | {"saved_at": to_ms(former.saved_at), "metadata": dict(former.metadata)}
    return digest(fields)


def rest_digest(memory: Memory) -> str:
    """A digest of the fields that a history does not show. A better summary does not count as a change."""
    return digest(
        [memory.key, memory.tags, memory.session, memory.surface, memory.trust, to_ms(memory.created_at)]
    )


def conversation_fields(conversation: Conversation) -> WireRecord:
    fields = conversation._asdict() | {name: to_ms(getattr(conversation, name)) for name in _TIMES}
    return {name: value for name, value in fields.items() if name not in ("id", "project")}


def header_digest(conversation: Conversation) -> str:
    fields = conversation_fields(conversation)
    return digest({name: value for name, value in fields.items() if name not in _STAYING})


def header_rank(conversation: Conversation) -> tuple[int, int, str]:
    """The rank of a description: of two descriptions of one conversation, every device takes the greater."""
    return conversation.standing, to_ms(conversation.updated_at), header_digest(conversation)


def read_conversation(id: str, project: str, record: Mapping[str, Any]) -> Conversation:
    fields = {name: record[name] for name in Conversation._fields if name in record}
    times = {name: from_ms(record[name]) for name in _TIMES}
    own = {"id": id, "project": project, "trust": Trust(record["trust"]), "is_gone": bool(record["is_gone"])}
    return Conversation(**fields | times | own)


def message_fields(
    message: Message, traces: Sequence[Trace], sayings: Sequence[MessageSaying], project: str
) -> WireRecord:
    """Paths of files below the project are written relative to it."""
    fields = message._asdict() | {"created_at": to_ms(message.created_at)}
    for name in ("conversation", "project", "surface"):
        del fields[name]
    for name, usual in (("speaker", ""), ("trust", Trust.OWN)):
        if fields[name] == usual:
            del fields[name]
    if traces:
        fields["traces"] = [[trace.kind, *_relative(trace.value, project)] for trace in traces]
    if sayings:
        fields["sayings"] = [list(each.saying) for each in sayings]
    return fields


def read_message(record: Mapping[str, Any], conversation: Conversation) -> Message:
    return Message(
        id=record["id"],
        conversation=conversation.id,
        seq=record["seq"],
        role=record["role"],
        text=record["text"],
        project=conversation.project,
        surface=conversation.surface,
        created_at=from_ms(record["created_at"]),
        speaker=record.get("speaker", ""),
        trust=Trust(record.get("trust", Trust.OWN)),
    )


def read_traces(record: Mapping[str, Any], project: str) -> list[Trace]:
    return [
        Trace(record["id"], kind, f"{project}/{value}" if below else value)
        for kind, value, *below in record.get("traces", ())
    ]


def read_sayings(record: Mapping[str, Any]) -> list[MessageSaying]:
    return [
        MessageSaying(record["id"], Saying(StatementKind(kind), text, Speaker(speaker), *others))
        for kind, text, speaker, *others in record.get("sayings", ())
    ]


def message_rank(message: Message) -> tuple[int, int, str, str, int, int]:
    """The rank of a text: of two texts of one message, every device takes the greater. Redacted text wins, then longer text."""
    text = message.text
    # Redacted first: a secret that one machine removed must not come back from another.
    return text.count(REDACTED), len(text), text, message.role, message.seq, to_ms(message.created_at)


def _relative(value: str, project: str) -> tuple[str] | tuple[str, int]:
    # Projects lie elsewhere on the other machine, which may be one with Windows.
    for separator in ("/", "\\"):
        start = project.rstrip("/\\") + separator
        if project and value.startswith(start):
            return value.removeprefix(start).replace("\\", "/"), 1
    return (value,)
