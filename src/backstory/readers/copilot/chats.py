"""A VS Code chat: requests, each with a prompt and the parts of its answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from ...domain.lazy import lazy_pattern
from .. import Role, ToolCall, Turn
from ..formats.blocks import ToolOutput, Use, arguments_of
from ..formats.noise import head_and_tail
from ..formats.paths import locate
from ..formats.values import fields_of, items_of, records_of, text_of, time_ms

EDITS = ("textEditGroup", "notebookEditGroup")
PASSED_OVER = lazy_pattern(
    r"progress\w*|undoStop|confirmation|prepareToolInvocation|codeblockUri|references?|usedContext|warning|command\w*"
    r"|elicitation\w*|extensions|pullRequest|multiDiffData|mcpServersStarting|markdownVuln|treeData|todoList|hook"
)
"""Kinds of parts that contain no dialogue."""
GAP = lazy_pattern(r"\n{3,}")


def turns_of(chat: dict[str, Any], skipped: Counter[str]) -> Iterator[Turn]:
    """Yield prompts and answers. VS Code records the time of the prompt, and sometimes of the complete answer."""
    for n, request in enumerate(records_of(chat.get("requests"))):
        id = text_of(request.get("requestId")) or str(n)
        message = request.get("message")
        prompt = text_of(message) or text_of(fields_of(message).get("text"))
        if prompt.strip():
            yield Turn(id, Role.USER, prompt.strip(), time_ms(request.get("timestamp")))
        answer = _answer(f"{id}/answer", request, skipped)
        if not answer.is_empty:
            yield answer


def _answer(id: str, request: dict[str, Any], skipped: Counter[str]) -> Turn:
    texts: list[str] = []
    thought: list[str] = []
    invoked: list[dict[str, Any]] = []
    edited: list[str] = []
    for part in _parts(request.get("response")):
        match part.get("kind"):
            case None | "markdownContent":
                texts.append(_markdown(part.get("value", part.get("content"))))
            case "thinking":
                thought.append(_markdown(part.get("value")))
            case "inlineReference":
                texts.append(_reference(part))
            case "toolInvocationSerialized" | "toolInvocation":
                invoked.append(part)
                texts.append("\n\n")
            case kind if kind in EDITS:
                edited.append(_path(part.get("uri")))
                texts.append("\n\n")
            case kind if not PASSED_OVER.fullmatch(str(kind)):
                skipped["unknown part of an answer"] += 1
    return Turn(
        id,
        Role.ASSISTANT,
        GAP.sub("\n\n", "".join(texts)).strip(),
        time_ms(fields_of(request.get("modelState")).get("completedAt")),
        "\n\n".join(filter(None, thought)),
        (*_calls(request, invoked), *_edits(edited), *_failure(request)),
        text_of(request.get("modelId")),
    )


def _parts(response: object) -> Iterator[dict[str, Any]]:
    for part in [response] if isinstance(response, str | dict) else items_of(response):
        yield {"value": part} if isinstance(part, str) else fields_of(part)


def _markdown(value: object) -> str:
    """Join the text of a string, an object, or a list of them."""
    if isinstance(value, list):
        return "\n".join(map(_markdown, value))
    return text_of(value) or text_of(fields_of(value).get("value"))


def _reference(part: dict[str, Any]) -> str:
    """Return the name that the answer shows in the middle of a sentence."""
    target = fields_of(part.get("inlineReference"))
    name = text_of(part.get("name")) or text_of(target.get("name"))
    return name or _path(target.get("uri") or target).replace("\\", "/").rpartition("/")[2]


def _path(uri: object) -> str:
    fields = fields_of(uri)
    if path := text_of(fields.get("fsPath")):
        return path
    return locate(text_of(fields.get("external")) or text_of(fields.get("path")) or text_of(uri)).path


def _calls(request: dict[str, Any], invoked: list[dict[str, Any]]) -> list[ToolCall]:
    """Return the tool calls.

    The model's rounds contain the arguments; the displayed parts contain failures, and calls without a round."""
    outputs = dict(_outputs(invoked))
    rounds = records_of(fields_of(fields_of(request.get("result")).get("metadata")).get("toolCallRounds"))
    requests = [call for round in rounds for call in records_of(round.get("toolCalls"))]
    if requests:
        uses = [
            Use(text_of(call.get("id")), text_of(call.get("name")), arguments_of(call.get("arguments")))
            for call in requests
        ]
    else:
        uses = [
            Use(text_of(part.get("toolCallId")), text_of(part.get("toolId")), _visible_arguments(part))
            for part in invoked
        ]
    return [use.call(outputs) for use in uses]


def _visible_arguments(part: dict[str, Any]) -> dict[str, Any]:
    """Return the displayed arguments: a command line, or the sentence that announced the call."""
    terminal = fields_of(part.get("toolSpecificData"))
    line = fields_of(terminal.get("commandLine"))
    command = (
        text_of(line.get("toolEdited")) or text_of(line.get("original")) or text_of(terminal.get("command"))
    )
    if command:
        return {"command": command}
    message = _markdown(part.get("pastTenseMessage")) or _markdown(part.get("invocationMessage"))
    return {"message": message} if message else {}


def _outputs(invoked: Iterable[dict[str, Any]]) -> Iterator[tuple[str, ToolOutput]]:
    """Yield the displayed results, which are not all results."""
    for part in invoked:
        details = fields_of(part.get("resultDetails"))
        has_failed = details.get("isError") is True
        if text := _markdown(details.get("output")) or _parts_text(details.get("output")):
            yield text_of(part.get("toolCallId")), ToolOutput(text, has_failed)
        elif has_failed:
            yield text_of(part.get("toolCallId")), ToolOutput("error", has_failed)


def _parts_text(output: object) -> str:
    """Join the texts of the parts that a server's tool returned."""
    parts = (part for part in records_of(output) if part.get("isText") is not False)
    return "\n".join(filter(None, (text_of(part.get("value")) for part in parts)))


def _edits(paths: Iterable[str]) -> Iterator[ToolCall]:
    if written := tuple(dict.fromkeys(filter(None, paths))):
        yield ToolCall("edit", writes=written)


def _failure(request: dict[str, Any]) -> Iterator[ToolCall]:
    details = fields_of(fields_of(request.get("result")).get("errorDetails"))
    if error := text_of(details.get("message")):
        yield ToolCall("answer", error=head_and_tail(error))
