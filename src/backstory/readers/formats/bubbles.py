"""Bubbles, the boxes of Cursor's chat: one model message fills several of them.

The chat of 2024, also in Windsurf, has them in tabs of a workspace's database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .. import ConversationHeader, Piece, Role, ToolCall, Turn
from .databases import DatabaseProgress, document
from .noise import head_and_tail, without_payloads
from .paths import path_of
from .pieces import whole
from .results import with_result
from .touched import tool_call
from .values import Value, fields_of, fingerprint, items_of, records_of, text_of, time_ms

ASK = 1
TOOL = 15
CLOCKS = ("clientStartTime", "clientRpcSendTime", "clientSettleTime", "clientEndTime")
WALL_CLOCK_MS = 1e12  # smaller values are relative to the start of the program
ERRORS = ("modelVisibleErrorMessage", "clientVisibleErrorMessage", "message", "error")
CHAT_KEY = "workbench.panel.aichat.view.aichat.chatdata"
NO_SPEAKER = "bubble of unknown type"


class Bubble(NamedTuple):
    id: str
    role: Role
    text: str = ""
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    at_ms: int | None = None
    model: str = ""
    folder: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.text or self.thinking or self.calls)


def bubble_of(id: str, data: Mapping[str, Any], kind: object = None, tool: object = None) -> Bubble | None:
    """Convert a bubble; None if its speaker is unknown. `kind` and `tool` come from other records about it."""
    match data.get("type", kind):
        case 1 | "user":
            role = Role.USER
        case 2 | "ai":
            role = Role.ASSISTANT
        case _:
            return None
    text = text_of(data.get("text")) or text_of(data.get("rawText")) or rich_text(data.get("richText"))
    thinking = text_of(fields_of(data.get("thinking")).get("text"))
    is_marker = not text and not thinking and data.get("capabilityType") not in (None, 0, TOOL)
    return Bubble(
        id,
        role,
        without_payloads(text).strip(),
        thinking=without_payloads(thinking).strip(),
        calls=()
        if is_marker
        else (*_tool_calls(data.get("toolFormerData") or tool), *_file_calls(data, role)),
        at_ms=_time(data),
        model=text_of(fields_of(data.get("modelInfo")).get("modelName")) or text_of(data.get("modelType")),
        folder=_folder(data),
    )


def _tool_calls(value: object) -> Iterator[ToolCall]:
    tool = fields_of(value)
    if name := text_of(tool.get("name")):
        arguments = {**_inside(tool.get("rawArgs")), **_inside(tool.get("params"))}
        raw_arguments = text_of(tool.get("rawArgs")) or text_of(tool.get("params"))
        call = tool_call(name, arguments or raw_arguments, head_and_tail(_error(tool)))
        call = call._replace(id=text_of(tool.get("toolCallId")))
        text, code = _output(tool.get("result"))
        if not text and not call.error and tool.get("status") != "completed":
            yield call
        else:
            yield with_result(call, text or call.error, code)


def _output(result: object) -> tuple[str, int | None]:
    """Return the text of a result, and the exit code of a command, whose output is a field.

    Other results stay unchanged."""
    fields = _inside(result)
    code = fields.get("exitCodeV2", fields.get("exitCode"))
    text = text_of(fields.get("output")) or text_of(result)
    return text, code if isinstance(code, int) and not isinstance(code, bool) else None


def _inside(value: object) -> dict[str, Any]:
    """Return an object that is stored as JSON text or directly."""
    return fields_of(document(value) if isinstance(value, str) else value)


def _error(tool: Mapping[str, Any]) -> str:
    if not tool.get("error") and tool.get("status") not in ("error", "failed"):
        return ""
    for value in (tool.get("error"), tool.get("result")):
        inside = _inside(value)
        if message := next((text for key in ERRORS if (text := text_of(inside.get(key)))), ""):
            return message
        if message := text_of(value):
            return message
    return "failed"


def _file_calls(data: Mapping[str, Any], role: Role) -> Iterator[ToolCall]:
    """Yield files that accompany a bubble without a call: shown to the model, or rewritten by its code blocks."""
    reads = [path_of(path) for path in items_of(data.get("relevantFiles"))]
    for chosen in (data, fields_of(data.get("context"))):
        reads += [path_of(file.get("uri")) for file in records_of(chosen.get("fileSelections"))]
    blocks = [path_of(block.get("uri")) for block in records_of(data.get("codeBlocks"))]
    is_change = role is Role.ASSISTANT and data.get("unifiedMode") != ASK and data.get("type") != "ai"
    writes = _once(blocks if is_change else ())
    reads = [path for path in reads + ([] if is_change else blocks) if path not in writes]
    if reads or writes:
        yield ToolCall("", reads=_once(reads), writes=writes)


def _once(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for path in paths if path))


def _time(data: Mapping[str, Any]) -> int | None:
    if (created := time_ms(data.get("createdAt"))) is not None:
        return created
    timing = fields_of(data.get("timingInfo"))
    values = (timing.get(clock) for clock in CLOCKS)
    return next(
        (int(each) for each in values if isinstance(each, int | float) and each > WALL_CLOCK_MS), None
    )


def _folder(data: Mapping[str, Any]) -> str:
    named = (data.get("workspaceProjectDir"), *items_of(data.get("workspaceUris")))
    return next((path for each in named if (path := path_of(each))), "")


def rich_text(value: object) -> str:
    """Return the words in the state of Cursor's editor, which is JSON. Paragraphs become lines."""

    def words(node: Mapping[str, Any]) -> str:
        children = "".join(words(child) for child in records_of(node.get("children")))
        is_line = node.get("type") in ("paragraph", "linebreak")
        return text_of(node.get("text")) + children + ("\n" if is_line else "")

    return words(fields_of(_inside(value).get("root"))).strip()


def turns_of(bubbles: Iterable[Bubble], model: str = "") -> list[Turn]:
    """Return the turns of a conversation.

    A model thinks, then speaks, then calls tools. A bubble that breaks this order begins its next message."""
    turns: list[Turn] = []
    for bubble in bubbles:
        if bubble.is_empty:
            continue
        last = turns[-1] if turns else None
        if last and bubble.role is Role.ASSISTANT is last.role and _goes_on(last, bubble):
            turns[-1] = last._replace(
                text=f"{last.text}\n\n{bubble.text}".strip(),
                thinking=f"{last.thinking}\n\n{bubble.thinking}".strip(),
                calls=last.calls + bubble.calls,
                at_ms=bubble.at_ms if last.at_ms is None else last.at_ms,
            )
            continue
        said_by = bubble.model or model if bubble.role is Role.ASSISTANT else ""
        turns.append(
            Turn(bubble.id, bubble.role, bubble.text, bubble.at_ms, bubble.thinking, bubble.calls, said_by)
        )
    return turns


def _goes_on(turn: Turn, bubble: Bubble) -> bool:
    if bubble.thinking:
        return not (turn.text or turn.calls)
    return not (bubble.text and any(call.name for call in turn.calls))


def read_tabs(value: Value, source: str, directory: str, progress: DatabaseProgress) -> Iterator[Piece]:
    """Yield one conversation per tab that contains messages and has changed.

    Its only time is that of the last question."""
    for tab in records_of(fields_of(document(value)).get("tabs")):
        id = text_of(tab.get("tabId"))
        if not id or not progress.is_new(id, fingerprint(repr(tab))):
            continue
        skipped: Counter[str] = Counter()
        bubbles = [
            bubble_of(text_of(bubble.get("id")) or str(number), bubble)
            for number, bubble in enumerate(records_of(tab.get("bubbles")))
        ]
        if missing := bubbles.count(None):
            skipped[NO_SPEAKER] = missing
        turns = turns_of(bubble for bubble in bubbles if bubble)
        if turns:
            header = ConversationHeader(
                id,
                f"{source}/{id}",
                title=text_of(tab.get("chatTitle")),
                directory=directory,
                ended_ms=time_ms(tab.get("lastSendTime")),
            )
            yield whole(header, turns, skipped, cursor=None)
