"""Messages made of blocks, as in Anthropic's API, and function calls, as in OpenAI's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from .. import ToolCall
from .noise import head_and_tail
from .results import with_result
from .touched import tool_call
from .values import fields_of, items_of, records_of, text_of

Block = dict[str, Any]


def blocks_of(content: object) -> list[Block]:
    """Convert a text, a list of blocks or a list of texts to blocks."""
    parts = [content] if isinstance(content, str) else items_of(content)
    return [{"type": "text", "text": part} if isinstance(part, str) else fields_of(part) for part in parts]


def texts_in(blocks: Iterable[Block]) -> list[str]:
    texts = (text_of(block.get("text")).strip() for block in blocks if block.get("type") == "text")
    return [text for text in texts if text]


def text_in(blocks: Iterable[Block]) -> str:
    return "\n\n".join(texts_in(blocks))


def thinking_in(blocks: Iterable[Block]) -> str:
    """Return the readable thoughts. A block may contain only a signature."""
    thought = (
        text_of(b.get("thinking")) or text_of(b.get("text")) for b in blocks if b.get("type") == "thinking"
    )
    return "\n\n".join(filter(None, (text.strip() for text in thought)))


class ToolOutput(NamedTuple):
    text: str
    is_error: bool = False
    exit_code: int | None = None

    def added_to(self, call: ToolCall) -> ToolCall:
        if self.is_error:
            call = call._replace(error=head_and_tail(self.text or "error"))
        return with_result(call, self.text, self.exit_code, is_error=self.is_error)


NO_OUTPUTS: Mapping[str, ToolOutput] = MappingProxyType({})


class Use(NamedTuple):
    """A tool call that the model requested."""

    id: str
    name: str
    arguments: Any

    def call(self, outputs: Mapping[str, ToolOutput] = NO_OUTPUTS) -> ToolCall:
        """Return the call, with its result if `outputs` contains it."""
        output = outputs.get(self.id) if self.id else None
        return self.answered(output)

    def answered(self, output: ToolOutput | None) -> ToolCall:
        call = tool_call(self.name, self.arguments)._replace(id=self.id)
        return call if output is None else output.added_to(call)


def uses_in(blocks: Iterable[Block]) -> list[Use]:
    return [
        Use(text_of(block.get("id")), text_of(block.get("name")), block.get("input"))
        for block in blocks
        if block.get("type") == "tool_use"
    ]


def outputs_in(blocks: Iterable[Block]) -> dict[str, ToolOutput]:
    """Return the results of tools by the id of their use."""
    return {
        text_of(block.get("tool_use_id")) or text_of(block.get("toolUseID")): output_of(block)
        for block in blocks
        if block.get("type") == "tool_result" and _has_ended(fields_of(block.get("run")))
    }


def _has_ended(run: Mapping[str, Any]) -> bool:
    """Return False for a tool that still runs, as recorded by Amp."""
    return not run or run.get("status") in ("done", "error", "cancelled") or "result" in run


def output_of(block: Block) -> ToolOutput:
    """Return the output in a `tool_result`. Amp stores it in `run`."""
    run = fields_of(block.get("run"))
    error, result = run.get("error"), run.get("result")
    code = fields_of(result).get("exitCode")
    is_error = block.get("is_error") is True or run.get("status") == "error"
    message = text_of(error) or text_of(fields_of(error).get("message")) if is_error else ""
    text = (
        message
        or text_in(blocks_of(block.get("content")))
        or _run_text(result)
        or text_of(block.get("result"))
    )
    exit_code = code if isinstance(code, int) and not isinstance(code, bool) else None
    return ToolOutput(text or ("error" if is_error else ""), is_error, exit_code)


def _run_text(result: object) -> str:
    """Return a text, the output of a command in an object, or anything else as JSON."""
    text = text_of(result) or text_of(fields_of(result).get("output"))
    return text or (json.dumps(result, ensure_ascii=False) if result else "")


def functions_in(calls: object) -> list[Use]:
    """Parse `[{"id", "function": {"name", "arguments": "<JSON>"}}]`."""
    functions = []
    for call in records_of(calls):
        function = fields_of(call.get("function"))
        functions.append(
            Use(
                text_of(call.get("id")),
                text_of(function.get("name")),
                arguments_of(function.get("arguments")),
            )
        )
    return functions


def arguments_of(arguments: object) -> Any:
    """Parse arguments that may be JSON inside a text. Other text is returned unchanged."""
    if not isinstance(arguments, str):
        return arguments
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return value if isinstance(value, dict) else arguments
