"""Cursor's bubbles, the boxes of its chat: one model message fills several of them. The chat of 2024, in
Windsurf too, has them in tabs of a workspace's database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .. import ConversationHeader, Piece, Role, ToolCall, Turn
from .databases import DatabaseProgress, document
from .noise import head_and_tail, without_payloads
from .paths import path_of
from .pieces import whole
from .touched import tool_call
from .values import Value, fields_of, fingerprint, items_of, records_of, text_of, time_ms

ASK = 1
TOOL = 15
CLOCKS = ("clientStartTime", "clientRpcSendTime", "clientSettleTime", "clientEndTime")
WALL_CLOCK_MS = 1e12  # smaller values count from the start of the program
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


def bubble_of(id: str, told: Mapping[str, Any], kind: object = None, tool: object = None) -> Bubble | None:
    """What a bubble says; None if nobody knows who says it. `kind` and `tool` are what other places tell of it."""
    match told.get("type", kind):
        case 1 | "user":
            role = Role.USER
        case 2 | "ai":
            role = Role.ASSISTANT
        case _:
            return None
    text = text_of(told.get("text")) or text_of(told.get("rawText")) or rich_text(told.get("richText"))
    thinking = text_of(fields_of(told.get("thinking")).get("text"))
    is_marker = not text and not thinking and told.get("capabilityType") not in (None, 0, TOOL)
    return Bubble(
        id,
        role,
        without_payloads(text).strip(),
        thinking=without_payloads(thinking).strip(),
        calls=()
        if is_marker
        else (*_tool_calls(told.get("toolFormerData") or tool), *_file_calls(told, role)),
        at_ms=_time(told),
        model=text_of(fields_of(told.get("modelInfo")).get("modelName")) or text_of(told.get("modelType")),
        folder=_folder(told),
    )


def _tool_calls(value: object) -> Iterator[ToolCall]:
    tool = fields_of(value)
    if name := text_of(tool.get("name")):
        arguments = {**_inside(tool.get("rawArgs")), **_inside(tool.get("params"))}
        told = text_of(tool.get("rawArgs")) or text_of(tool.get("params"))
        yield tool_call(name, arguments or told, head_and_tail(_error(tool)))


def _inside(value: object) -> dict[str, Any]:
    """JSON that is kept as text, or as it is."""
    return fields_of(document(value) if isinstance(value, str) else value)


def _error(tool: Mapping[str, Any]) -> str:
    if not tool.get("error") and tool.get("status") not in ("error", "failed"):
        return ""
    for value in (tool.get("error"), tool.get("result")):
        inside = _inside(value)
        if said := next((text for key in ERRORS if (text := text_of(inside.get(key)))), ""):
            return said
        if said := text_of(value):
            return said
    return "failed"


def _file_calls(told: Mapping[str, Any], role: Role) -> Iterator[ToolCall]:
    """Files that come with a bubble without a call: shown to the model, or rewritten by its code blocks."""
    reads = [path_of(path) for path in items_of(told.get("relevantFiles"))]
    for chosen in (told, fields_of(told.get("context"))):
        reads += [path_of(file.get("uri")) for file in records_of(chosen.get("fileSelections"))]
    blocks = [path_of(block.get("uri")) for block in records_of(told.get("codeBlocks"))]
    is_change = role is Role.ASSISTANT and told.get("unifiedMode") != ASK and told.get("type") != "ai"
    writes = _once(blocks if is_change else ())
    reads = [path for path in reads + ([] if is_change else blocks) if path not in writes]
    if reads or writes:
        yield ToolCall("", reads=_once(reads), writes=writes)


def _once(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path for path in paths if path))


def _time(told: Mapping[str, Any]) -> int | None:
    if (created := time_ms(told.get("createdAt"))) is not None:
        return created
    timing = fields_of(told.get("timingInfo"))
    values = (timing.get(clock) for clock in CLOCKS)
    return next(
        (int(each) for each in values if isinstance(each, int | float) and each > WALL_CLOCK_MS), None
    )


def _folder(told: Mapping[str, Any]) -> str:
    named = (told.get("workspaceProjectDir"), *items_of(told.get("workspaceUris")))
    return next((path for each in named if (path := path_of(each))), "")


def rich_text(value: object) -> str:
    """The words in the state of Cursor's editor, which is JSON; paragraphs become lines."""

    def words(node: Mapping[str, Any]) -> str:
        children = "".join(words(child) for child in records_of(node.get("children")))
        is_line = node.get("type") in ("paragraph", "linebreak")
        return text_of(node.get("text")) + children + ("\n" if is_line else "")

    return words(fields_of(_inside(value).get("root"))).strip()


def turns_of(bubbles: Iterable[Bubble], model: str = "") -> list[Turn]:
    """The turns of a conversation. A model thinks, then speaks, then calls; what breaks this order is its next
    message."""
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
    """One conversation for each tab that was spoken in and has changed. Its only time is that of the last question."""
    for tab in records_of(fields_of(document(value)).get("tabs")):
        id = text_of(tab.get("tabId"))
        if not id or not progress.is_new(id, fingerprint(repr(tab))):
            continue
        skipped: Counter[str] = Counter()
        told = [
            bubble_of(text_of(bubble.get("id")) or str(number), bubble)
            for number, bubble in enumerate(records_of(tab.get("bubbles")))
        ]
        if missing := told.count(None):
            skipped[NO_SPEAKER] = missing
        turns = turns_of(bubble for bubble in told if bubble)
        if turns:
            header = ConversationHeader(
                id,
                f"{source}/{id}",
                title=text_of(tab.get("chatTitle")),
                directory=directory,
                ended_ms=time_ms(tab.get("lastSendTime")),
            )
            yield whole(header, turns, skipped, cursor=None)
