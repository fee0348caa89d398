"""Claude Code's lines as records, and the actual speaker of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ...domain.usage import ModelCall
from .. import ToolCall
from ..formats.lines import decode_raw
from ..formats.noise import CLAUDE, without_blocks
from ..formats.touched import tool_call
from ..formats.usage import count_of


class Block(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw()
    tool_use_id: str | None = None
    is_error: bool | None = None
    content: msgspec.Raw = msgspec.Raw()


Content = str | list[Block | str] | None


class CacheCreation(msgspec.Struct, gc=False):
    ephemeral_1h_input_tokens: int | None = None


class LineUsage(msgspec.Struct, gc=False):
    """Token counts of the entire message so far.

    Each of its lines repeats them, and `output_tokens` grows from line to line."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_creation: CacheCreation | None = None


class LineMessage(msgspec.Struct, gc=False):
    id: str | None = None
    model: str | None = None
    content: Content = None
    usage: msgspec.Raw = msgspec.Raw()


class ProgressMessage(msgspec.Struct, gc=False):
    id: str | None = None
    model: str | None = None
    usage: msgspec.Raw = msgspec.Raw()


class ProgressLine(msgspec.Struct, gc=False, rename="camel"):
    type: str = ""
    uuid: str = ""
    request_id: str | None = None
    timestamp: str | int | float | None = None
    message: ProgressMessage | None = None


class Progress(msgspec.Struct, gc=False, rename="camel"):
    """A line of a subagent, repeated in the log of the session that started it."""

    agent_id: str | None = None
    message: ProgressLine | None = None


class Attachment(msgspec.Struct, gc=False):
    type: str = ""
    prompt: msgspec.Raw = msgspec.Raw()


class EntryOrigin(msgspec.Struct, gc=False, rename="camel"):
    """The line from which a line of a fork was copied."""

    session_id: str | None = None
    message_uuid: str | None = None


class LogLine(msgspec.Struct, gc=False, rename="camel"):
    """The fields in use.

    Unused ones are not decoded: `toolUseResult`, which repeats a tool's output, is a third of all bytes."""

    type: str = ""
    uuid: str = ""
    parent_uuid: str | None = None
    session_id: str | None = None
    agent_id: str | None = None
    timestamp: str | int | float | None = None
    cwd: str | None = None
    git_branch: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    message: LineMessage | str | None = None
    subtype: str | None = None
    content: msgspec.Raw = msgspec.Raw()
    attachment: Attachment | None = None
    summary: str | None = None
    leaf_uuid: str | None = None
    ai_title: str | None = None
    custom_title: str | None = None
    forked_from: EntryOrigin | None = None
    pr_url: str | None = None
    request_id: str | None = None
    data: msgspec.Raw = msgspec.Raw()


class QueuedPrompt(msgspec.Struct, gc=False, rename="camel"):
    """A line of history.jsonl."""

    display: str = ""
    pasted_contents: dict[str, Any] | None = None
    timestamp: str | int | float | None = None
    project: str | None = None
    session_id: str | None = None


LINES = msgspec.json.Decoder(LogLine)
PROMPTS = msgspec.json.Decoder(QueuedPrompt)
_CONTENT: msgspec.json.Decoder[Content] = msgspec.json.Decoder(Content)
_ANY = msgspec.json.Decoder()
_USAGE = msgspec.json.Decoder(LineUsage)
_PROGRESS = msgspec.json.Decoder(Progress)
AGENT = "agent-"
"""Prefix of the names of subagents' logs."""
WARM_UP = "Warmup"
LONGEST_NOTICE = 200
NOTHING = "(no content)"
"""Placeholder for an empty answer, or for a command without output."""
_INJECTED_BLOCKS = (
    "system-reminder",
    "user-prompt-submit-hook",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
)
_CONTENT_TYPES = frozenset({b"user", b"assi", b"syst", b"summ", b"ai-t", b"cust", b"atta", b"pr-l", b"prog"})


def is_content(line: bytes) -> bool:
    """Return False for a line whose first key shows that it is only state: checkpoints, queues, modes."""
    return not line.startswith(b'{"type":"') or line[9:13] in _CONTENT_TYPES


def blocks_of(message: LineMessage | str | None) -> Iterator[Block]:
    """Return the content as blocks, in whichever form it was written."""
    content = message.content if isinstance(message, LineMessage) else message
    if isinstance(content, str):
        yield Block("text", content)
    elif content:
        for block in content:
            yield Block("text", block) if isinstance(block, str) else block


def text_of(raw: msgspec.Raw) -> str:
    """Return the text of undecoded content, which is a text or blocks."""
    content = decode_raw(raw, _CONTENT)
    return "\n".join(block.text for block in blocks_of(LineMessage(content=content)) if block.text)


def progress_in(line: LogLine) -> Progress | None:
    """Return the answer of a subagent's model; None for any other progress."""
    progress = decode_raw(line.data, _PROGRESS) if b'"usage"' in bytes(line.data) else None
    is_answer = progress is not None and progress.message is not None and progress.message.type == "assistant"
    return progress if is_answer else None


def model_call(
    line: LogLine | ProgressLine, message: LineMessage | ProgressMessage, at_ms: int | None
) -> ModelCall | None:
    """Return the token counts of a line, or None if it has none."""
    usage = decode_raw(message.usage, _USAGE)
    if usage is None:
        return None
    one_hour = usage.cache_creation.ephemeral_1h_input_tokens if usage.cache_creation else 0
    return ModelCall(
        f"{message.id or line.uuid}/{line.request_id or ''}",
        message.model or "",
        at_ms,
        count_of(usage.input_tokens),
        count_of(usage.output_tokens),
        count_of(usage.cache_read_input_tokens),
        count_of(usage.cache_creation_input_tokens),
        count_of(one_hour),
    )


def call_of(block: Block) -> ToolCall:
    return tool_call(block.name or "", decode_raw(block.input, _ANY))


class Utterance(msgspec.Struct, gc=False):
    """The text of a user line, by a person or by the harness in the person's name."""

    text: str
    is_human: bool
    command: str = ""


def utterance_of(texts: Sequence[str]) -> Utterance:
    """Return the person's text if there is any, otherwise the harness's."""
    parts = [part for text in texts if (part := _utterance_of(text)).text]
    if len(parts) == 1:
        return parts[0]
    chosen = [part for part in parts if part.is_human] or parts
    command = next((part.command for part in chosen if part.command), "")
    return Utterance(
        "\n\n".join(part.text for part in chosen), any(part.is_human for part in chosen), command
    )


def _utterance_of(text: str) -> Utterance:
    if any(f"<{tag}>" in text for tag in _INJECTED_BLOCKS):
        text = without_blocks(text, _INJECTED_BLOCKS)
    text = text.strip()
    if text.startswith("<"):
        if command := _between(text, "command-name"):
            arguments = _between(text, "command-args")
            return Utterance(f"/{command.lstrip('/')} {arguments}".rstrip(), is_human=True)
        if command := _between(text, "bash-input"):
            return Utterance(f"!{command}", is_human=True, command=command)
    if text.startswith("<local-command-stdout>"):
        printed = _between(text, "local-command-stdout")
        if printed in ("", NOTHING) or "ompact" in text[:LONGEST_NOTICE]:
            # a compaction repeats the output of hooks for the summarizing model
            return Utterance("", is_human=False)
    return Utterance(text, is_human=not (text.startswith(CLAUDE) or text == WARM_UP))


def with_pastes(prompt: QueuedPrompt) -> str:
    """Return a prompt as typed, with pasted text in place of its marker."""
    text = prompt.display
    for number, pasted in (prompt.pasted_contents or {}).items():
        content = pasted.get("content") if isinstance(pasted, dict) else None
        if isinstance(content, str) and (start := text.find(f"[Pasted text #{number}")) >= 0:
            end = text.find("]", start)
            text = text[:start] + content + text[end + 1 :] if end >= 0 else text
    return text.strip()


def _between(text: str, tag: str) -> str:
    """Return the text inside the first `<tag>…</tag>`."""
    _, opening, rest = text.partition(f"<{tag}>")
    inner, closing, _ = rest.partition(f"</{tag}>")
    return inner.strip() if opening and closing else ""
