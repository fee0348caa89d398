"""Windsurf's trajectories, decoded by observation: protobuf without a published schema.

A misread field would create a false memory. Everything must therefore fit: ids are UUIDs, times are plausible, texts
are text. A trajectory with anything else in these fields is rejected as a whole."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import NamedTuple

from ...domain.lazy import lazy_pattern
from .. import Role, ToolCall, Turn
from ..formats.blocks import arguments_of
from ..formats.noise import without_payloads
from ..formats.paths import locate
from ..formats.protobuf import ProtobufMessage, message_in, text_in
from ..formats.touched import tool_call

UUID = lazy_pattern(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
ASKED, ANSWERED = 14, 15
EARLIEST_S, LATEST_S = 1_600_000_000, 4_000_000_000


class TrajectorySummary(NamedTuple):
    id: str
    title: str
    folder: str
    times: tuple[int, ...]


def trajectory_in(value: object) -> tuple[str, tuple[Turn, ...]] | None:
    """The id and the turns of a trajectory; None if the value is not in the known format."""
    message = _decode(value)
    if message is None or not UUID.fullmatch(id := message.text(1)):
        return None
    steps = [message_in(raw) for raw in message.each(2)]
    if not all(step and step.integer(1) is not None for step in steps):
        return None
    turns = (_turn(str(number), step) for number, step in enumerate(steps) if step)
    return id, tuple(turn for turn in turns if turn)


def _decode(value: object) -> ProtobufMessage | None:
    if not isinstance(value, str):
        return None
    try:
        return message_in(base64.b64decode(value, validate=True))
    except (binascii.Error, ValueError):
        return None


def _turn(id: str, step: ProtobufMessage) -> Turn | None:
    at_ms = _time(step.message(5).message(1))
    if step.integer(1) == ASKED:
        text = _prompt(step)
        return Turn(id, Role.USER, text, at_ms) if text else None
    if step.integer(1) != ANSWERED:
        return None
    reply = step.message(20)
    text, thinking, calls = reply.text(8).strip(), reply.text(3).strip(), tuple(_calls(reply))
    if not (text or thinking or calls):
        return None
    return Turn(id, Role.ASSISTANT, without_payloads(text), at_ms, without_payloads(thinking), calls)


def _prompt(step: ProtobufMessage) -> str:
    """Return the prompt, which is a text or a message that contains the text."""
    inside = step.message(19)
    prompt = (
        inside.text(2)
        or inside.text(1)
        or next((text for raw in step.each(19) if (text := text_in(raw))), "")
    )
    return without_payloads(prompt.strip())


def _calls(reply: ProtobufMessage) -> Iterator[ToolCall]:
    for call in reply.messages(7):
        if name := call.text(2):
            yield tool_call(name, arguments_of(call.text(3)))


def _time(stamp: ProtobufMessage) -> int | None:
    seconds, nanoseconds = stamp.integer(1), stamp.integer(2) or 0
    if seconds is None or not EARLIEST_S < seconds < LATEST_S or nanoseconds >= 1_000_000_000:
        return None
    return seconds * 1000 + nanoseconds // 1_000_000


def summaries_in(value: object) -> list[TrajectorySummary]:
    """Return ids and titles of a workspace's trajectories."""
    summaries = []
    for field in (_decode(value) or ProtobufMessage()).fields:
        entry = message_in(field.value) if isinstance(field.value, bytes) else None
        if entry and UUID.fullmatch(id := entry.text(1)):
            about = entry.message(2)
            times = (_time(about.message(number)) for number in (3, 7))
            known = tuple(time for time in times if time is not None)
            summaries.append(TrajectorySummary(id, about.text(1).strip(), _folder(about), known))
    return summaries


def _folder(about: ProtobufMessage) -> str:
    for raw in about.each(9):
        inside = message_in(raw) or ProtobufMessage()
        texts = (text_in(raw), *(text_in(f.value) for f in inside.fields if isinstance(f.value, bytes)))
        for text in texts:
            if text.startswith("file:///"):
                return locate(text).path
    return ""
