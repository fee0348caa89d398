"""ChatGPT: the export archive. Only the branch of each conversation that was shown last is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from . import ConversationHeader, Cursor, Piece, Places, Reader, Role, Source, ToolCall, Turn
from .formats.exports import conversations_in, find_exports
from .formats.pieces import in_order, whole
from .formats.touched import tool_call
from .formats.values import fields_of, items_of, text_of, time_ms

NAME = "chatgpt"
UNNAMED = ("New chat", "New Chat")
THOUGHT = ("thoughts", "reasoning_recap")
SILENT = ("user_editable_context", "model_editable_context", "system_error", "execution_output")


def find(places: Places) -> Iterator[Source]:
    return find_exports(places, NAME)


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    return in_order(_piece(source, each) for each in conversations_in(source.path))


def _piece(source: Source, conversation: dict[str, Any]) -> Piece:
    id = text_of(conversation.get("conversation_id")) or text_of(conversation.get("id"))
    skipped: Counter[str] = Counter()
    if not id:
        skipped["conversation without an id"] += 1
    title = text_of(conversation.get("title"))
    header = ConversationHeader(
        id,
        f"{source.path}#{id}",
        title="" if title in UNNAMED else title,
        started_ms=time_ms(conversation.get("create_time")),
        ended_ms=time_ms(conversation.get("update_time")),
    )
    turns = [turn for node, message in _branch(conversation) if (turn := _turn(node, message))] if id else []
    return whole(header, turns, skipped, cursor=None)


def _branch(conversation: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the messages from the first to the one that was shown last."""
    mapping = fields_of(conversation.get("mapping"))
    node = text_of(conversation.get("current_node")) or next(reversed(mapping), "")
    branch: dict[str, dict[str, Any]] = {}
    while node in mapping and node not in branch:  # stops at a cycle
        fields = fields_of(mapping[node])
        branch[node] = fields_of(fields.get("message"))
        node = text_of(fields.get("parent"))
    return list(reversed(branch.items()))


def _turn(node: str, message: dict[str, Any]) -> Turn | None:
    content, metadata = fields_of(message.get("content")), fields_of(message.get("metadata"))
    kind = text_of(content.get("content_type"))
    if metadata.get("is_visually_hidden_from_conversation") is True or kind in SILENT:
        return None
    id, at_ms = text_of(message.get("id")) or node, time_ms(message.get("create_time"))
    match text_of(fields_of(message.get("author")).get("role")):
        case "user":
            return Turn(id, Role.USER, _text(content), at_ms)
        case "assistant":
            return _answer(id, message, content, at_ms)
    return None  # tool results and system prompts


def _answer(id: str, message: dict[str, Any], content: dict[str, Any], at_ms: int | None) -> Turn:
    model = text_of(fields_of(message.get("metadata")).get("model_slug"))
    if content.get("content_type") in THOUGHT:
        return Turn(id, Role.ASSISTANT, "", at_ms, _thoughts(content), model=model)
    recipient = text_of(message.get("recipient")) or "all"
    if recipient != "all":
        calls: tuple[ToolCall, ...] = (tool_call(recipient, _text(content)),)
        return Turn(id, Role.ASSISTANT, "", at_ms, calls=calls, model=model)
    return Turn(id, Role.ASSISTANT, _text(content), at_ms, model=model)


def _text(content: dict[str, Any]) -> str:
    """Join texts, code and transcribed speech. Pictures contain no text."""
    parts = [content.get("text"), content.get("result"), *items_of(content.get("parts"))]
    texts = (text_of(part) or text_of(fields_of(part).get("text")) for part in parts)
    return "\n\n".join(filter(None, (text.strip() for text in texts)))


def _thoughts(content: dict[str, Any]) -> str:
    thoughts = (fields_of(thought) for thought in items_of(content.get("thoughts")))
    texts = [text_of(thought.get("content")) or text_of(thought.get("summary")) for thought in thoughts]
    return "\n\n".join(filter(None, [*texts, text_of(content.get("content"))]))


reader = Reader(NAME, "ChatGPT (export)", find, read, is_export=True)
