"""An Antigravity transcript: one step per line. The result of a tool is a separate step that does not name its call."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ...domain.lazy import lazy_pattern
from .. import ConversationHeader, Piece, Role, Source, ToolCall, Turn
from ..formats.blocks import arguments_of
from ..formats.documents import parse
from ..formats.files import open_regular
from ..formats.lines import OBJECTS, read_records
from ..formats.noise import head_and_tail, without_blocks
from ..formats.pieces import whole
from ..formats.touched import tool_call
from ..formats.values import fields_of, records_of, text_of, time_ms

REQUEST = lazy_pattern(r"<USER_REQUEST>(.*?)(?:</USER_REQUEST>|\Z)", re.DOTALL)
INJECTED = ("ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE", "EPHEMERAL_MESSAGE")
METADATA = lazy_pattern(r"<ADDITIONAL_METADATA>(\{.*?\})</ADDITIONAL_METADATA>", re.DOTALL)
SUMMARIES = ("CHECKPOINT",)


def read_transcript(source: Source, id: str) -> Iterator[Piece]:
    skipped: Counter[str] = Counter()
    with open_regular(source.path) as stream:
        steps = [step for _, step in read_records(stream, OBJECTS, skipped)]
    turns: list[Turn] = []
    for n, step in enumerate(steps):
        if turn := _turn(n, step):
            turns.append(turn)
        elif step.get("status") == "ERROR" and turns and turns[-1].calls:
            turns[-1] = _failed(turns[-1], text_of(step.get("content")))
    directory = source.directory or next(filter(None, map(_directory, steps)), "")
    if turns:
        yield whole(ConversationHeader(id, str(source.path), directory=directory), turns, skipped)


def _turn(n: int, step: dict[str, Any]) -> Turn | None:
    """Convert a step to a turn; None if it is the result of a tool."""
    id, at_ms, content = (
        str(step.get("step_index", n)),
        time_ms(step.get("created_at")),
        text_of(step.get("content")),
    )
    match step.get("source"), step.get("type"):
        case "USER_EXPLICIT" | "USER", _:
            return Turn(id, Role.USER, _request(content), at_ms)
        case "MODEL", None | "PLANNER_RESPONSE":
            calls = tuple(map(_call, records_of(step.get("tool_calls"))))
            return Turn(
                id, Role.ASSISTANT, content.strip(), at_ms, text_of(step.get("thinking")).strip(), calls
            )
        case "SYSTEM", kind if kind not in INJECTED and (text := without_blocks(content, INJECTED)):
            role = Role.SUMMARY if kind in SUMMARIES else Role.SYSTEM
            return Turn(id, role, head_and_tail(text), at_ms)
    return None


def _request(content: str) -> str:
    requests = REQUEST.findall(content) or [content]
    return without_blocks("\n\n".join(request.strip() for request in requests), INJECTED)


def _call(call: dict[str, Any]) -> ToolCall:
    """Convert a tool call. Each argument is JSON inside a text."""
    arguments = fields_of(arguments_of(call.get("args")))
    return tool_call(text_of(call.get("name")), {key: _plain(value) for key, value in arguments.items()})


def _plain(value: object) -> object:
    try:
        return parse(value.encode()) if isinstance(value, str) and value[:1] in '"[{' else value
    except ValueError:
        return value


def _failed(turn: Turn, error: str) -> Turn:
    last = turn.calls[-1]._replace(error=head_and_tail(error or "failed"))
    return turn._replace(calls=(*turn.calls[:-1], last))


def _directory(step: dict[str, Any]) -> str:
    match = METADATA.search(text_of(step.get("content")))
    try:
        return text_of(fields_of(parse(match[1].encode())).get("cwd")) if match else ""
    except ValueError:
        return ""
