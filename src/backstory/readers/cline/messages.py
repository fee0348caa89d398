"""The messages that Cline and its descendants exchanged with the model: the actual speakers, and the tools used.

In older versions the model writes tool calls as XML, and results come back as text in the user's name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from ...domain.lazy import lazy_pattern
from .. import Role, ToolCall, Turn
from ..formats.blocks import (
    Block,
    ToolOutput,
    Use,
    blocks_of,
    outputs_in,
    text_in,
    texts_in,
    thinking_in,
    uses_in,
)
from ..formats.noise import head_and_tail, without_blocks
from ..formats.results import with_result
from ..formats.touched import is_writing
from ..formats.values import fields_of, items_of, text_of, time_ms

INJECTED = ("environment_details", "SYSTEM_NOTICE")
TYPED = lazy_pattern(r"<(task|feedback|user_message|answer)>")
TYPED_WITHIN = 400
"""Number of characters within which the tag of typed text occurs. Further on it is part of a file that was read."""
SPEECH_ARGUMENTS = {
    "attempt_completion": "result",
    "ask_followup_question": "question",
    "plan_mode_respond": "response",
}
"""Tools whose argument is the assistant's own text."""
TOOLS = [
    "read_file", "write_to_file", "replace_in_file", "apply_diff", "insert_content", "search_and_replace",
    "edit_file", "execute_command", "search_files", "list_files", "list_code_definition_names", "browser_action",
    "use_mcp_tool", "access_mcp_resource", "new_task", "switch_mode", "fetch_instructions",
]  # fmt: skip
ARGUMENTS = [
    "path", "command", "diff", "content", "result", "question", "response", "regex", "tool_name", "arguments",
    "message", "url",
]  # fmt: skip
XML_TOOL = lazy_pattern(rf"<({'|'.join([*TOOLS, *SPEECH_ARGUMENTS])})>(.*?)(?:</\1>|\Z)", re.DOTALL)
XML_PATH = lazy_pattern(r"<path>([^<]*)</path>")
XML_THINKING = lazy_pattern(r"<thinking>(.*?)</thinking>", re.DOTALL)
ECHO = lazy_pattern(r"\[(\w+)(?: for [^\n]*?)?\] Result:")
FAILED = lazy_pattern(r"<error>(.*?)(?:</error>|\Z)", re.DOTALL)
PLACE = lazy_pattern(r"# Current Work(?:ing|space) Directory \((.+?)\) Files")


def turns_of(messages: list[dict[str, Any]], skipped: Counter[str]) -> Iterator[Turn]:
    contents = [blocks_of(message.get("content")) for message in messages]
    outputs = {id: output for blocks in contents for id, output in outputs_in(blocks).items()}
    is_tagged = any(
        _user_texts(blocks) for message, blocks in zip(messages, contents, strict=True) if _is_user(message)
    )
    for n, (message, blocks) in enumerate(zip(messages, contents, strict=True)):
        id = text_of(message.get("id")) or str(n)
        if _is_user(message):
            turn = _user_turn(id, message, blocks, is_tagged)
        elif message.get("role") == "assistant":
            results = contents[n + 1] if n + 1 < len(contents) else []
            turn = _answer(id, message, blocks, outputs, results)
        else:
            skipped["unknown role"] += 1
            continue
        if not turn.is_empty:
            yield turn


def directory_in(messages: Iterable[dict[str, Any]]) -> str:
    """Return the directory in which the task began, according to its first message."""
    for message in messages:
        for text in texts_in(blocks_of(message.get("content"))):
            if match := PLACE.search(text):
                return match[1]
    return ""


def _is_user(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "user"


def _user_texts(blocks: Iterable[Block]) -> list[str]:
    """Return the texts marked as typed by the person."""
    typed = []
    texts = [without_blocks(text, INJECTED) for text in texts_in(blocks)]
    for before, text in pairwise(["", *texts]):
        end = 0
        for match in TYPED.finditer(text, 0, TYPED_WITHIN):
            if match.start() >= end and not _is_result(before, text[: match.start()]):
                typed_text, closing, _ = text[match.end() :].partition(f"</{match[1]}>")
                typed += [typed_text.strip()] if closing else []
                end = match.end() + len(typed_text)
    return typed


def _is_result(before: str, preface: str) -> bool:
    """True if the text after the preface is the result of a tool, which may quote anything, including other
    histories."""
    echo = ECHO.match(preface) or (ECHO.fullmatch(before) if not preface else None)
    return echo is not None and echo[1] not in SPEECH_ARGUMENTS and "feedback" not in preface


def _user_turn(id: str, message: Mapping[str, Any], blocks: list[Block], is_tagged: bool) -> Turn:
    """Convert a user message.

    If the conversation marks typed text, all other text in the user's name is the harness's."""
    is_summary = fields_of(message.get("metadata")).get("kind") == "compaction_summary"
    texts = _user_texts(blocks)
    if is_summary or not is_tagged:
        plain = (without_blocks(text, INJECTED) for text in texts_in(blocks))
        texts = [text for text in plain if text and not ECHO.match(text)]
    attached = tuple(text_of(block.get("path")) for block in blocks if block.get("type") == "file")
    calls = (ToolCall("attach", reads=attached),) if any(attached) else ()
    role = Role.SUMMARY if is_summary else Role.USER
    return Turn(id, role, "\n\n".join(texts), time_ms(message.get("ts")), calls=calls)


def _answer(
    id: str,
    message: Mapping[str, Any],
    blocks: list[Block],
    outputs: Mapping[str, ToolOutput],
    results: list[Block],
) -> Turn:
    text = text_in(blocks)
    thoughts = [thinking_in(blocks), *(thought.strip() for thought in XML_THINKING.findall(text))]
    written = XML_THINKING.sub("", text)
    uses = [*_written_uses(written), *uses_in(blocks)]
    texts = [XML_TOOL.sub("", written).strip()]
    texts += [
        text_of(fields_of(use.arguments).get(SPEECH_ARGUMENTS[use.name])).strip()
        for use in uses
        if use.name in SPEECH_ARGUMENTS
    ]
    calls = [_call(use, outputs) for use in uses if use.name not in SPEECH_ARGUMENTS]
    info = fields_of(message.get("modelInfo"))
    return Turn(
        id,
        Role.ASSISTANT,
        "\n\n".join(filter(None, texts)),
        time_ms(message.get("ts")),
        "\n\n".join(filter(None, thoughts)),
        tuple(_with_echoes(calls, results)),
        text_of(info.get("modelId")) or text_of(info.get("id")),
    )


def _written_uses(text: str) -> Iterator[Use]:
    for name, body in XML_TOOL.findall(text):
        if "<args>" in body:
            arguments: dict[str, Any] = {"files": [path.strip() for path in XML_PATH.findall(body)]}
        else:
            arguments = {key: value for key in ARGUMENTS if (value := _written_value(body, key))}
        yield Use("", name, arguments)


def _written_value(body: str, key: str) -> str:
    return body.partition(f"<{key}>")[2].partition(f"</{key}>")[0].strip()


def _call(use: Use, outputs: Mapping[str, ToolOutput]) -> ToolCall:
    arguments = fields_of(use.arguments)
    commands = [
        text_of(c) or text_of(fields_of(c).get("command")) for c in items_of(arguments.get("commands"))
    ]
    if commands:
        use = use._replace(arguments={"command": "\n".join(filter(None, commands))})
    call = use.call(outputs)
    named = items_of(arguments.get("files"))
    paths = (
        tuple(filter(None, (text_of(f) or text_of(fields_of(f).get("path")) for f in named))) or call.reads
    )
    if use.name == "apply_diff" or (is_writing(use.name) and not call.writes):
        return call._replace(reads=(), writes=paths)
    return call._replace(reads=paths)


def _with_echoes(calls: Iterable[ToolCall], results: Iterable[Block]) -> Iterator[ToolCall]:
    """Add results that came back as text. They are in the order of the calls with the same name."""
    echoes = list(_echoes(texts_in(results)))
    for call in calls:
        echo = next(((name, body) for name, body in echoes if name == call.name), None)
        if echo is not None:
            echoes.remove(echo)
            if failed := FAILED.search(echo[1][:TYPED_WITHIN]):
                call = call._replace(error=head_and_tail(failed[1].strip()))
            call = with_result(call, echo[1])
        yield call


def _echoes(texts: list[str]) -> Iterator[tuple[str, str]]:
    """The name of the tool and the result, of each text that repeats a result."""
    for text, following in pairwise([*texts, ""]):
        if match := ECHO.match(text):
            yield match[1], text[match.end() :].strip() or following
