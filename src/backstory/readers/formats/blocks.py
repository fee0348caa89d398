"""Messages made of blocks, as Anthropic's API has them, and calls of functions, as OpenAI's has them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .. import ToolCall
from .noise import head_and_tail
from .touched import tool_call
from .values import fields_of, items_of, records_of, text_of

Block = dict[str, Any]


def blocks_of(content: object) -> list[Block]:
    """A text, a list of blocks or a list of texts, as blocks."""
    parts = [content] if isinstance(content, str) else items_of(content)
    return [{"type": "text", "text": part} if isinstance(part, str) else fields_of(part) for part in parts]


def texts_in(blocks: Iterable[Block]) -> list[str]:
    texts = (text_of(block.get("text")).strip() for block in blocks if block.get("type") == "text")
    return [text for text in texts if text]


def text_in(blocks: Iterable[Block]) -> str:
    return "\n\n".join(texts_in(blocks))


def thinking_in(blocks: Iterable[Block]) -> str:
    """What is thought in clear; a block may hold a signature only."""
    thought = (
        text_of(b.get("thinking")) or text_of(b.get("text")) for b in blocks if b.get("type") == "thinking"
    )
    return "\n\n".join(filter(None, (text.strip() for text in thought)))


class Use(NamedTuple):
    """A tool that the model asked for."""

    id: str
    name: str
    arguments: Any

    def with_errors(self, errors: Mapping[str, str]) -> ToolCall:
        error = errors.get(self.id, "") if self.id else ""
        return tool_call(self.name, self.arguments, head_and_tail(error))


def uses_in(blocks: Iterable[Block]) -> list[Use]:
    return [
        Use(text_of(block.get("id")), text_of(block.get("name")), block.get("input"))
        for block in blocks
        if block.get("type") == "tool_use"
    ]


def errors_in(blocks: Iterable[Block]) -> dict[str, str]:
    """What the tools that failed said, by the id of their use."""
    errors = {}
    for block in blocks:
        run = fields_of(block.get("run"))
        if block.get("type") == "tool_result" and (
            block.get("is_error") is True or run.get("status") == "error"
        ):
            id = text_of(block.get("tool_use_id")) or text_of(block.get("toolUseID"))
            error = run.get("error")
            said = (
                text_of(error)
                or text_of(fields_of(error).get("message"))
                or text_in(blocks_of(block.get("content")))
            )
            errors[id] = said or "error"
    return errors


def functions_in(calls: object) -> list[Use]:
    """`[{"id", "function": {"name", "arguments": "<JSON>"}}]`"""
    found = []
    for call in records_of(calls):
        function = fields_of(call.get("function"))
        found.append(
            Use(
                text_of(call.get("id")),
                text_of(function.get("name")),
                arguments_of(function.get("arguments")),
            )
        )
    return found


def arguments_of(told: object) -> Any:
    """Arguments that may be JSON in a text; a text that is none stays as it is."""
    if not isinstance(told, str):
        return told
    try:
        value = json.loads(told)
    except (ValueError, RecursionError):
        return told
    return value if isinstance(value, dict) else told
