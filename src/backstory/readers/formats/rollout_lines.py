"""Codex's lines as records: since late 2025 an envelope around an item, before that the bare item."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from ...domain.lazy import lazy_pattern
from ...domain.usage import ModelCall
from .. import ToolCall
from .lines import decode_raw
from .touched import tool_call
from .usage import count_of, rest_of

REQUEST = "## My request for Codex:"
"""The separator that the editor extension puts between its context and the typed text."""


class RolloutPart(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None


class RolloutGit(msgspec.Struct, gc=False):
    branch: str | None = None


class TokenUsage(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_output_tokens: int | None = None

    def numbers(self) -> list[int]:
        """Return the counts that identify a running total of a thread."""
        return [
            count_of(self.input_tokens),
            count_of(self.cached_input_tokens),
            count_of(self.output_tokens),
            count_of(self.reasoning_output_tokens),
        ]


class TokenCount(msgspec.Struct, gc=False):
    """The tokens of a thread so far, and those of its last model call."""

    total_token_usage: TokenUsage | None = None
    last_token_usage: TokenUsage | None = None


class RolloutItem(msgspec.Struct, gc=False):
    """The used fields of all kinds of items and events, including `session_meta` and `turn_context`.

    `encrypted_content`, `base_instructions` and `replacement_history` are not decoded."""

    type: str = ""
    id: str | None = None
    role: str | None = None
    content: list[RolloutPart | str] | str | None = None
    summary: list[RolloutPart | str] | str | None = None
    name: str | None = None
    namespace: str | None = None
    call_id: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()
    input: msgspec.Raw = msgspec.Raw()
    action: msgspec.Raw = msgspec.Raw()
    output: msgspec.Raw = msgspec.Raw()
    message: msgspec.Raw = msgspec.Raw()
    text: str | None = None
    changes: dict[str, msgspec.Raw] | None = None
    success: bool | None = None
    stderr: str | None = None
    thread_name: str | None = None
    cwd: str | None = None
    model: str | None = None
    git: RolloutGit | None = None
    source: msgspec.Raw = msgspec.Raw()
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    content_item_kinds: list[str] | None = None
    turn_id: str | None = None
    info: msgspec.Raw = msgspec.Raw()


class RolloutEntry(RolloutItem, gc=False):
    timestamp: str | int | float | None = None
    payload: RolloutItem | None = None


class Rollout(msgspec.Struct, gc=False):
    """The oldest format: one object for the entire session."""

    session: msgspec.Raw = msgspec.Raw()
    items: list[msgspec.Raw] = []


class RolloutPrompt(msgspec.Struct, gc=False):
    """A line of history.jsonl."""

    session_id: str = ""
    ts: float | None = None
    text: str = ""


class Name(msgspec.Struct, gc=False):
    """A line of session_index.jsonl."""

    id: str = ""
    thread_name: str = ""


ENTRIES = msgspec.json.Decoder(RolloutEntry)
ROLLOUT = msgspec.json.Decoder(Rollout)
PROMPTS = msgspec.json.Decoder(RolloutPrompt)
NAMES = msgspec.json.Decoder(Name)
_ANY = msgspec.json.Decoder()
_TOKEN_COUNT = msgspec.json.Decoder(TokenCount)
_REPEATED = b'"payload":{"type":"exec_command_end"'
_WALL_TIME = lazy_pattern(r"^Wall time: (\d{1,9}(?:\.\d+)?) seconds", re.MULTILINE)
_EXIT_CODE = lazy_pattern(r"^(?:Process exited with code|Exit code:) (-?\d{1,10})\b", re.MULTILINE)
_MAX_SECONDS = 1e9
_HEAD_CHARS = 300
"""Maximum length of Codex's own lines above the output of a command."""


def is_content(line: bytes) -> bool:
    """Return False for command output that is repeated as a result."""
    return _REPEATED not in line[:160]


def token_count_of(item: RolloutItem) -> TokenCount | None:
    return decode_raw(item.info, _TOKEN_COUNT)


def model_call(thread: str, count: TokenCount, model: str, at_ms: int | None) -> ModelCall | None:
    """Return the last call of a thread's model.

    The totals are the key, because forks of a thread repeat them."""
    total, last = count.total_token_usage, count.last_token_usage
    if total is None or last is None:
        return None
    return ModelCall(
        "/".join(map(str, (thread, *total.numbers()))),
        model,
        at_ms,
        rest_of(last.input_tokens, last.cached_input_tokens, last.cache_write_input_tokens),
        count_of(last.output_tokens),
        count_of(last.cached_input_tokens),
        count_of(last.cache_write_input_tokens),
        reasoning=count_of(last.reasoning_output_tokens),
    )


def value_of(raw: msgspec.Raw) -> Any:
    return decode_raw(raw, _ANY)


def text_of(raw: msgspec.Raw) -> str:
    value = value_of(raw)
    return value if isinstance(value, str) else ""


def texts_of(content: list[RolloutPart | str] | str | None) -> list[str]:
    if isinstance(content, str):
        return [content]
    texts = (part if isinstance(part, str) else part.text for part in content or ())
    return [text for text in texts if text]


def spawner_of(source: msgspec.Raw) -> str | None:
    """Return the thread that started this one as a subagent, "" if it is not recorded; None for any other thread."""
    value = value_of(source)
    if not isinstance(value, dict) or "subagent" not in value:
        return None
    spawn = value["subagent"].get("thread_spawn") if isinstance(value["subagent"], dict) else None
    return str(spawn.get("parent_thread_id") or "") if isinstance(spawn, dict) else ""


def request_in(text: str) -> str:
    return text.rpartition(REQUEST)[2].strip()


def call_of(item: RolloutItem) -> ToolCall:
    """Convert a tool call. `arguments` is JSON inside a text, `input` is the text itself, and `action` an object."""
    arguments = value_of(item.arguments)
    if isinstance(arguments, str):
        arguments = _inner(arguments)
    if arguments is None:
        arguments = value_of(item.input) or value_of(item.action)
    return tool_call(_tool_name(item), arguments)


def _tool_name(item: RolloutItem) -> str:
    """Return the tool's name, preceded by its server, which newer versions record separately."""
    name = item.name or item.type.removesuffix("_call")
    server = (item.namespace or "").rstrip("_")
    return f"{server}__{name}" if server.startswith("mcp__") and not name.startswith(server) else name


def _inner(text: str) -> Any:
    """Parse JSON inside a text; return the text itself if it is not JSON."""
    try:
        return _ANY.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


class RolloutOutput(NamedTuple):
    text: str
    is_error: bool
    exit_code: int | None = None
    duration_ms: int | None = None


def output_of(output: msgspec.Raw) -> RolloutOutput:
    """Return a tool's result, and whether it failed. Each version records the exit code differently."""
    value = value_of(output)
    if isinstance(value, str) and value.startswith("{"):
        value = _inner(value)
    if isinstance(value, str):
        return _headed(value)
    if isinstance(value, list):
        return _headed(_text_in(value))
    if not isinstance(value, dict):
        return RolloutOutput("", False)
    content = value.get("output") or value.get("content")
    text = content if isinstance(content, str) else _text_in(content)
    metadata = value.get("metadata")
    details = metadata if isinstance(metadata, dict) else {}
    code, seconds = details.get("exit_code"), details.get("duration_seconds")
    headed = _headed(text)
    if bool(code) or value.get("success") is False:
        headed = headed._replace(text=text or f"exit code {code}", is_error=True)
    return headed._replace(
        exit_code=code if isinstance(code, int) else headed.exit_code,
        duration_ms=_milliseconds(seconds) or headed.duration_ms,
    )


def _milliseconds(seconds: object) -> int | None:
    if isinstance(seconds, int | float) and 0 <= seconds < _MAX_SECONDS:
        return int(seconds * 1000)
    return None


def _text_in(content: object) -> str:
    """Join the texts of a list of parts, as tools of servers return them."""
    parts = content if isinstance(content, list) else ()
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def _headed(text: str) -> RolloutOutput:
    """Return an output with the exit code and duration from its first lines."""
    head = text[:_HEAD_CHARS]
    code, seconds = _EXIT_CODE.search(head), _WALL_TIME.search(head)
    return RolloutOutput(
        text,
        _is_failure(text),
        int(code[1]) if code else None,
        int(float(seconds[1]) * 1000) if seconds else None,
    )


def _is_failure(text: str) -> bool:
    head = text[:300]
    for sign in ("Process exited with code ", "Exit code: ", "exited with code "):
        _, separator, rest = head.partition(sign)
        if separator:
            return not rest.startswith("0")
    return head.startswith(("apply_patch verification failed", "failed ", "error:", "Error:"))
