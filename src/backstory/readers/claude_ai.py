"""Claude.ai: the export archive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from . import ConversationHeader, Cursor, Piece, Places, Reader, Role, Source, ToolCall, Turn
from .formats.blocks import Block, blocks_of, outputs_in, text_in, thinking_in, uses_in
from .formats.exports import conversations_in, find_exports
from .formats.pieces import in_order, whole
from .formats.values import records_of, text_of, time_ms

NAME = "claude-ai"


def find(places: Places) -> Iterator[Source]:
    return find_exports(places, NAME)


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    return in_order(_piece(source, each) for each in conversations_in(source.path))


def _piece(source: Source, conversation: dict[str, Any]) -> Piece:
    id = text_of(conversation.get("uuid"))
    skipped: Counter[str] = Counter()
    if not id:
        skipped["conversation without an id"] += 1
    header = ConversationHeader(
        id,
        f"{source.path}#{id}",
        title=text_of(conversation.get("name")),
        model=text_of(conversation.get("model")),
        started_ms=time_ms(conversation.get("created_at")),
        ended_ms=time_ms(conversation.get("updated_at")),
    )
    return whole(header, list(_turns(conversation, skipped)) if id else [], skipped, cursor=None)


def _turns(conversation: dict[str, Any], skipped: Counter[str]) -> Iterator[Turn]:
    for n, message in enumerate(records_of(conversation.get("chat_messages"))):
        match message.get("sender"):
            case "human":
                role = Role.USER
            case "assistant":
                role = Role.ASSISTANT
            case _:
                skipped["unknown sender"] += 1
                continue
        blocks = blocks_of(message.get("content"))
        yield Turn(
            text_of(message.get("uuid")) or str(n),
            role,
            text_in(blocks) or text_of(message.get("text")),
            time_ms(message.get("created_at")),
            thinking_in(blocks),
            (*_attached(message), *_used(blocks)),
        )


def _attached(message: dict[str, Any]) -> Iterator[ToolCall]:
    """Yield the names of files attached to a message. Their contents are not indexed."""
    files = [*records_of(message.get("attachments")), *records_of(message.get("files"))]
    if names := tuple(filter(None, (text_of(file.get("file_name")) for file in files))):
        yield ToolCall("attach", reads=names)


def _used(blocks: list[Block]) -> Iterator[ToolCall]:
    outputs = outputs_in(blocks)
    return (use.call(outputs) for use in uses_in(blocks))


reader = Reader(NAME, "Claude.ai (export)", find, read, is_export=True)
