"""The turns of a conversation: parsed from JSON or plain text, measured and cut."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...domain.errors import InvalidInput
from ...domain.fences import outside_fences
from ...domain.lazy import lazy_pattern

USER, ASSISTANT, SYSTEM, TOOL = "user", "assistant", "system", "tool"
SPEAKERS = {
    "user": USER,
    "human": USER,
    "assistant": ASSISTANT,
    "ai": ASSISTANT,
    "bot": ASSISTANT,
    "model": ASSISTANT,
    "claude": ASSISTANT,
    "chatgpt": ASSISTANT,
    "copilot": ASSISTANT,
    "gemini": ASSISTANT,
    "system": SYSTEM,
    "developer": SYSTEM,
    "tool": TOOL,
}
_NAME = f"(?P<name>{'|'.join(SPEAKERS)})"
_SPEAKER = lazy_pattern(
    r"(?:#{1,6} +)?(?P<bold>\*\*|__|)(?P<capital>(?-i:(?=[A-Z])))?"
    + _NAME
    + r"(?:(?P=bold)[:\uff1a]|[:\uff1a](?P=bold))(?:(?=\s|$)|(?(capital)(?=[^\W\d_])|(?!)))[ \t]?",
    re.IGNORECASE,
)
"""`User: a`, and also `User:a` with a capital letter: `user:a` is usually not a speaker."""
SPEAKER_HEADING = lazy_pattern(
    r"(?:#{1,6} +|(?=\*\*|__))(?P<bold>\*\*|__|)(?:\d+[.)] +)?" + _NAME + r"(?P=bold)\s*$", re.IGNORECASE
)
"""A heading or a line in bold that contains only a speaker: `## User`, `### 2. assistant`."""


class SessionTurn(NamedTuple):
    """One side's contribution. `rest` contains all fields except the role, unchanged; usually only `content`."""

    role: str
    rest: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The content for people: the texts of content blocks, JSON for anything else."""
        content = self.rest.get("content")
        if content is None:
            return ""
        if isinstance(content, str):
            return content
        texts = (
            [block.get("text") for block in content if isinstance(block, dict)]
            if isinstance(content, list)
            else []
        )
        strings = [text for text in texts if isinstance(text, str)]
        return "\n\n".join(strings) if strings else to_json(content)

    @property
    def is_plain(self) -> bool:
        """True if the turn has only a role and a text."""
        return set(self.rest) == {"content"} and isinstance(self.rest["content"], str)

    @property
    def size(self) -> int:
        """Size in bytes."""
        content = self.rest["content"] if self.is_plain else to_json(self.rest)
        return len(content.encode(errors="replace"))

    def as_json(self) -> dict[str, Any]:
        return {"role": self.role, **self.rest}


def to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def from_json(text: str) -> Any:
    """Parse JSON. Raises ValueError, also for NaN and excessive nesting."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        value = json.loads(text, parse_constant=refuse)
        if "\\ud" not in text.lower():
            return value
        # JavaScript may write half of a surrogate pair, which no store accepts: replace it by U+FFFD, as on the wire
        sound = to_json(value).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return json.loads(sound)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def turn_of(value: object) -> SessionTurn | None:
    """Convert a JSON value to a turn; None if it has no role."""
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        return None
    return SessionTurn(value["role"], {key: each for key, each in value.items() if key != "role"})


def turns_of(values: object) -> list[SessionTurn] | None:
    """Convert all values to turns; None if one of them is not a turn."""
    if not isinstance(values, list):
        return None
    turns = [turn for turn in map(turn_of, values) if turn is not None]
    return turns if len(turns) == len(values) else None


def read_conversation(conversation: str | Sequence[Any], largest: int) -> list[SessionTurn]:
    """Parse plain text, or messages as JSON, into turns."""
    if conversation == "":
        raise InvalidInput("Conversation cannot be empty", field="conversation")
    text = conversation if isinstance(conversation, str) else to_json(conversation)
    if len(text) > largest or len(text.encode()) > largest:
        raise InvalidInput(
            f"Conversation is larger than {largest >> 20} MB",
            hint="Nothing was saved. Store it in parts.",
            field="conversation",
        )
    if isinstance(conversation, str):
        return split_plain(conversation)
    turns = []
    for number, value in enumerate(conversation):
        turn = turn_of(value)
        if turn is None:
            raise InvalidInput(f"conversation[{number}] has no role that is text.", field="conversation")
        turns.append(turn)
    return turns


def plain_turn(role: str, text: str) -> SessionTurn:
    return SessionTurn(role, {"content": text})


def split_plain(text: str, speaker: re.Pattern[str] = _SPEAKER) -> list[SessionTurn]:
    """Split plain text at lines that begin with a speaker, `User:` or `**AI:**`, outside code fences.

    Text before the first speaker belongs to the user if nobody else speaks, otherwise to the system."""
    lines = text.split("\n")
    starts = [(number, match) for number in outside_fences(lines) if (match := speaker.match(lines[number]))]
    if not starts:
        return [plain_turn(USER, text)]
    before = "\n".join(lines[: starts[0][0]])
    turns = [plain_turn(SYSTEM, before.strip("\r\n"))] if before.strip() else []
    for place, (number, match) in enumerate(starts):
        end = starts[place + 1][0] if place + 1 < len(starts) else len(lines)
        spoken = "\n".join([lines[number][match.end() :], *lines[number + 1 : end]])
        turns.append(plain_turn(SPEAKERS[match["name"].lower()], spoken.strip("\r\n")))
    return turns


def size_of(conversation: str | Sequence[Any], turns: Sequence[SessionTurn]) -> int:
    """Return the size of a conversation in bytes: of the original text, or of the contents of messages."""
    return len(conversation.encode()) if isinstance(conversation, str) else sum(turn.size for turn in turns)


def first_part(
    conversation: str | Sequence[Any], turns: Sequence[SessionTurn], most: int
) -> list[SessionTurn]:
    """Return the turns that fit into `most` bytes. The last one is cut at a character."""
    if isinstance(conversation, str):
        return split_plain(conversation.encode()[:most].decode(errors="ignore"))
    part: list[SessionTurn] = []
    for turn in turns:
        if turn.size > most:
            text = turn.rest["content"] if turn.is_plain else to_json(turn.rest)
            part.append(plain_turn(turn.role, text.encode(errors="replace")[:most].decode(errors="ignore")))
            break
        part.append(turn)
        most -= turn.size
    return part
