"""Claude Code's lines as records, and who really spoke in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from .. import ToolCall
from ..formats.lines import decode_raw
from ..formats.noise import CLAUDE, without_blocks
from ..formats.touched import tool_call


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


class LineMessage(msgspec.Struct, gc=False):
    id: str | None = None
    model: str | None = None
    content: Content = None


class Attachment(msgspec.Struct, gc=False):
    type: str = ""
    prompt: msgspec.Raw = msgspec.Raw()


class EntryOrigin(msgspec.Struct, gc=False, rename="camel"):
    """The line that a line of a fork was copied from."""

    session_id: str | None = None
    message_uuid: str | None = None


class LogLine(msgspec.Struct, gc=False, rename="camel"):
    """Only what is used: `toolUseResult` alone, which repeats a tool's output, is a third of all bytes."""

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
AGENT = "agent-"
"""How the names of subagents' logs begin."""
WARM_UP = "Warmup"
LONGEST_NOTICE = 200
NOTHING = "(no content)"
"""What stands for an answer, or for what a command printed, without words."""
_INJECTED_BLOCKS = (
    "system-reminder",
    "user-prompt-submit-hook",
    "ide_opened_file",
    "ide_selection",
    "ide_diagnostics",
)
_TOLD = frozenset({b"user", b"assi", b"syst", b"summ", b"ai-t", b"cust", b"atta", b"pr-l"})


def is_content(line: bytes) -> bool:
    """False for a line that by its first key is nothing but state: checkpoints, queues, modes."""
    return not line.startswith(b'{"type":"') or line[9:13] in _TOLD


def blocks_of(message: LineMessage | str | None) -> Iterator[Block]:
    """The content as blocks, whichever way it was written."""
    content = message.content if isinstance(message, LineMessage) else message
    if isinstance(content, str):
        yield Block("text", content)
    elif content:
        for block in content:
            yield Block("text", block) if isinstance(block, str) else block


def text_of(raw: msgspec.Raw) -> str:
    """The text of content that was left undecoded: a text, or blocks."""
    content = decode_raw(raw, _CONTENT)
    return "\n".join(block.text for block in blocks_of(LineMessage(content=content)) if block.text)


def call_of(block: Block) -> ToolCall:
    return tool_call(block.name or "", decode_raw(block.input, _ANY))


class Utterance(msgspec.Struct, gc=False):
    """What a user line says: by a person, or by the harness in their name."""

    text: str
    is_human: bool
    command: str = ""


def utterance_of(texts: Sequence[str]) -> Utterance:
    """What a person said, if anything; else what the harness put there."""
    parts = [said for text in texts if (said := _utterance_of(text)).text]
    if len(parts) == 1:
        return parts[0]
    told = [said for said in parts if said.is_human] or parts
    command = next((said.command for said in told if said.command), "")
    return Utterance("\n\n".join(said.text for said in told), any(said.is_human for said in told), command)


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
            return Utterance("", is_human=False)  # a compaction tells what hooks told the one who compacts
    return Utterance(text, is_human=not (text.startswith(CLAUDE) or text == WARM_UP))


def with_pastes(prompt: QueuedPrompt) -> str:
    """A prompt as typed, with what was pasted in the place of its marker."""
    text = prompt.display
    for number, pasted in (prompt.pasted_contents or {}).items():
        content = pasted.get("content") if isinstance(pasted, dict) else None
        if isinstance(content, str) and (start := text.find(f"[Pasted text #{number}")) >= 0:
            end = text.find("]", start)
            text = text[:start] + content + text[end + 1 :] if end >= 0 else text
    return text.strip()


def _between(text: str, tag: str) -> str:
    """What stands in the first `<tag>…</tag>`."""
    _, opening, rest = text.partition(f"<{tag}>")
    inner, closing, _ = rest.partition(f"</{tag}>")
    return inner.strip() if opening and closing else ""
