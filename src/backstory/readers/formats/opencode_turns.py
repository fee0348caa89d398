"""Convert an OpenCode message to a turn: with separate parts or, since its second version, with its content inside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...domain.usage import ModelCall
from .. import Role, ToolCall, Turn
from .blocks import arguments_of, blocks_of, text_in
from .noise import head_and_tail, without_payloads
from .paths import path_of
from .results import with_result
from .touched import tool_call
from .usage import cost_of, count_of
from .values import fields_of, items_of, records_of, text_of, time_ms

Record = dict[str, Any]
Exchange = tuple[Record, list[Record]]
"""A message and its parts."""
ENDED = ("completed", "error")


def turn_of(exchange: Exchange) -> Turn | None:
    """Convert a message with its parts, in the order of their ids, which is chronological."""
    message, unsorted = exchange
    parts = sorted(unsorted, key=lambda part: text_of(part.get("id")))
    texts = [part for part in parts if part.get("type") == "text" and not part.get("ignored")]
    typed = [part for part in texts if not part.get("synthetic")]
    calls = tuple(call for part in parts if (call := _call(part)))
    thinking = _join(part for part in parts if part.get("type") == "reasoning")
    if message.get("role") == "assistant":
        role = Role.SUMMARY if message.get("summary") is True else Role.ASSISTANT
        text = _join(texts)
    elif message.get("role") == "user":
        role = Role.USER if typed else Role.SYSTEM
        text = _join(typed or texts)
    else:
        return None
    if not (text or thinking or calls):
        return None
    at_ms = time_ms(fields_of(message.get("time")).get("created"))
    model = text_of(message.get("modelID")) if message.get("role") == "assistant" else ""
    return Turn(text_of(message.get("id")), role, text, at_ms, thinking, calls, model)


def _join(parts: Iterable[Record]) -> str:
    texts = (without_payloads(text_of(part.get("text"))).strip() for part in parts)
    return "\n\n".join(filter(None, texts))


def _call(part: Record) -> ToolCall | None:
    match part.get("type"):
        case "tool":
            state = fields_of(part.get("state"))
            call = tool_call(text_of(part.get("tool")), state.get("input"), _error(state))
            call = call._replace(id=text_of(part.get("callID")))
            if state.get("status") not in ENDED:
                return call
            text = text_of(state.get("output")) or text_of(state.get("error"))
            return with_result(call, text, _exit_code(state), duration_ms=_duration_ms(state))
        case "patch":
            return ToolCall("", writes=tuple(map(text_of, items_of(part.get("files")))))
        case "file":
            path = path_of(fields_of(part.get("source")).get("path")) or path_of(part.get("url"))
            return ToolCall("", reads=(path,)) if path else None
    return None


def _error(state: Mapping[str, Any]) -> str:
    """Return the error of a failed tool, or the output of a command that ended with an error."""
    if state.get("status") == "error":
        return head_and_tail(text_of(state.get("error")) or "failed")
    if _exit_code(state):
        return head_and_tail(text_of(state.get("output")) or "failed")
    return ""


def _exit_code(state: Mapping[str, Any]) -> int | None:
    code = fields_of(state.get("metadata")).get("exit")
    return code if isinstance(code, int) else None


def _duration_ms(state: Mapping[str, Any]) -> int | None:
    times = fields_of(state.get("time"))
    start, end = time_ms(times.get("start")), time_ms(times.get("end"))
    return None if start is None or end is None else max(end - start, 0)


def model_call(message: Record) -> ModelCall | None:
    """Return the token counts of an answer, which are the sums of its steps. Its own cost counts reasoning twice."""
    tokens = fields_of(message.get("tokens"))
    if not tokens or "assistant" not in (message.get("role"), message.get("type")):
        return None
    cache, model, id = (
        fields_of(tokens.get("cache")),
        fields_of(message.get("model")),
        text_of(message.get("id")),
    )
    return ModelCall(
        id,
        text_of(message.get("modelID")) or text_of(model.get("id")) or text_of(model.get("modelID")),
        time_ms(fields_of(message.get("time")).get("created")),
        count_of(tokens.get("input")),
        count_of(tokens.get("output")),
        count_of(cache.get("read")),
        count_of(cache.get("write")),
        reasoning=count_of(tokens.get("reasoning")),
        cost_usd=cost_of(message.get("cost")),
        turn=id,
    )


def message_turn(message: Record) -> Turn | None:
    """Convert a message of the second version."""
    id, at_ms = text_of(message.get("id")), time_ms(fields_of(message.get("time")).get("created"))
    text = without_payloads(text_of(message.get("text"))).strip()
    match message.get("type"):
        case "user":
            files = (path_of(file.get("uri")) for file in records_of(message.get("files")))
            reads = tuple(filter(None, files))
            turn = Turn(id, Role.USER, text, at_ms, calls=(ToolCall("", reads=reads),) if reads else ())
        case "assistant":
            turn = _answer(id, message, at_ms)
        case "synthetic" | "system":
            turn = Turn(id, Role.SYSTEM, head_and_tail(text), at_ms)
        case "shell":
            command = text_of(message.get("command"))
            turn = Turn(id, Role.USER, f"!{command}", at_ms, calls=(ToolCall("bash", command=command),))
        case "compaction":
            turn = Turn(id, Role.SUMMARY, text_of(message.get("summary")).strip(), at_ms)
        case _:
            return None  # a change of the agent or the model
    return None if turn.is_empty else turn


def _answer(id: str, message: Record, at_ms: int | None) -> Turn:
    content = list(records_of(message.get("content")))
    texts = [part for part in content if part.get("type") == "text" and not part.get("ignored")]
    model = fields_of(message.get("model"))
    return Turn(
        id,
        Role.ASSISTANT,
        _join(texts),
        at_ms,
        _join(part for part in content if part.get("type") == "reasoning"),
        tuple(_tool(part) for part in content if part.get("type") == "tool"),
        text_of(model.get("id")) or text_of(model.get("modelID")),
    )


def _tool(part: Record) -> ToolCall:
    state = fields_of(part.get("state"))
    error = fields_of(state.get("error"))
    message = (
        text_of(error.get("message")) or text_of(fields_of(error.get("data")).get("message")) or "failed"
    )
    failure = head_and_tail(message) if state.get("status") == "error" else ""
    call = tool_call(text_of(part.get("name")), arguments_of(state.get("input")), failure)
    call = call._replace(id=text_of(part.get("callID")) or text_of(part.get("id")))
    if state.get("status") not in ENDED:
        return call
    text = text_in(blocks_of(state.get("content"))) or text_of(state.get("output"))
    return with_result(call, text or call.error, _exit_code(state), duration_ms=_duration_ms(state))
