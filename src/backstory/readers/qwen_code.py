"""Qwen Code: one log per session. Its lines have Claude Code's fields around Gemini's parts; all branches are read."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..domain.usage import ModelCall
from . import Cursor, Form, NativeSession, Piece, Places, Reader, Resume, Role, SessionDraft, Source
from .formats.files import open_regular
from .formats.lines import OBJECTS
from .formats.logs import Log, OpenConversation, OpenTurn, Title
from .formats.noise import head_and_tail, is_injected
from .formats.paths import homes, project_slug
from .formats.times import iso_ms
from .formats.touched import tool_call
from .formats.usage import count_of, rest_of
from .formats.values import fields_of, records_of, text_of, time_ms

HOOK = ("<qwen:",)
"""Prefixes of parts that the user's programs had Qwen Code add."""
VERSION = "0.24.4"
"""The version of the program with which the lines of a new session were tested."""
TYPED = (None, "", "mid_turn_user_message")


def find(places: Places) -> Iterator[Source]:
    roots = [home / ".qwen" for home in homes(places)]
    if named := places.environment.get("QWEN_HOME", ""):
        roots.insert(0, Path(named))
    for root in dict.fromkeys([*roots, *places.roots.get("qwen-code", ())]):
        for path in sorted(root.glob("projects/*/chats/*.jsonl")):
            yield Source(path, Form.LOG)


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    log = Log(str(source.path), cursor)
    with open_regular(source.path) as stream:
        yield from log.read(stream, OBJECTS, _QwenSession(source.path, log).hear)


class _QwenSession:
    """The state of reading one log."""

    def __init__(self, path: Path, log: Log) -> None:
        self.id = path.stem
        self.log = log

    def hear(self, line: dict[str, Any]) -> None:
        payload, parts = fields_of(line.get("systemPayload")), _parts(line)
        match line.get("type"):
            case "user":
                self._ask(line, payload, parts)
            case "assistant":
                self._answer(line, parts)
            case "tool_result":
                self._hear_results(line, parts)
            case "system" if line.get("subtype") == "custom_title":
                is_chosen = payload.get("titleSource") == "manual"
                rank = Title.CHOSEN if is_chosen else Title.GENERATED
                self._conversation(line).entitle(text_of(payload.get("customTitle")), rank)

    def _ask(self, line: dict[str, Any], payload: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        texts = [
            text for part in parts if (text := text_of(part.get("text"))) and not is_injected(text, HOOK)
        ]
        text = text_of(payload.get("displayText")) or "\n\n".join(texts)
        if not text.strip():
            return
        if line.get("subtype") in TYPED:
            self._conversation(line).entitle_by_prompt(text)
            self._begin(line, Role.USER).texts.append(text)
        else:
            self._begin(line, Role.SYSTEM).texts.append(head_and_tail(text))

    def _answer(self, line: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        """Add a line to an answer. The lines of one answer share their id."""
        turn = self.log.open
        if turn is None or turn.key != (key := text_of(line.get("uuid"))) or not key:
            turn = self._begin(line, Role.ASSISTANT, text_of(line.get("uuid")))
        turn.model = turn.conversation.model = text_of(line.get("model")) or turn.conversation.model
        if used := fields_of(line.get("usageMetadata")):
            turn.conversation.spend(_model_call(turn, used))
        for part in parts:
            if text := text_of(part.get("text")):
                (turn.thoughts if part.get("thought") is True else turn.texts).append(text)
            if call := fields_of(part.get("functionCall")):
                turn.call(
                    text_of(call.get("id")), tool_call(text_of(call.get("name")), fields_of(call.get("args")))
                )

    def _hear_results(self, line: dict[str, Any], parts: list[dict[str, Any]]) -> None:
        at_ms = time_ms(line.get("timestamp"))
        result = fields_of(line.get("toolCallResult"))
        has_failed = result.get("status") == "error"
        for part in parts:
            response = fields_of(part.get("functionResponse"))
            output = fields_of(response.get("response"))
            error = text_of(output.get("error")) or (_display(result) if has_failed else "")
            text = functools.partial(str, error or text_of(output.get("output")) or _display(result))
            conversation = self._conversation(line)
            self.log.answer(conversation, text_of(response.get("id")), text, at_ms, is_error=bool(error))

    def _begin(self, line: dict[str, Any], role: Role, key: str = "") -> OpenTurn:
        at_ms = time_ms(line.get("timestamp"))
        id = text_of(line.get("uuid")) or self.log.name(at_ms)
        return self.log.begin(self._conversation(line), id, role, at_ms, key)

    def _conversation(self, line: dict[str, Any]) -> OpenConversation:
        conversation = self.log.conversation(self.id)
        conversation.happened(time_ms(line.get("timestamp")))
        conversation.directory = conversation.directory or text_of(line.get("cwd"))
        conversation.branch = text_of(line.get("gitBranch")) or conversation.branch
        return conversation


def _model_call(turn: OpenTurn, used: dict[str, Any]) -> ModelCall:
    cached, thoughts = count_of(used.get("cachedContentTokenCount")), count_of(used.get("thoughtsTokenCount"))
    return ModelCall(
        f"{turn.conversation.native_id}/{turn.id}",
        turn.model,
        turn.at_ms,
        rest_of(used.get("promptTokenCount"), cached),
        count_of(used.get("candidatesTokenCount")) + thoughts,
        cached,
        reasoning=thoughts,
        turn=turn.id,
    )


def _parts(line: dict[str, Any]) -> list[dict[str, Any]]:
    return list(records_of(fields_of(line.get("message")).get("parts")))


def _display(result: dict[str, Any]) -> str:
    return (
        text_of(result.get("resultDisplay"))
        or text_of(fields_of(result.get("error")).get("message"))
        or ("failed" if result.get("status") == "error" else "")
    )


def write_session(draft: SessionDraft, places: Places) -> NativeSession:
    named = places.environment.get("QWEN_HOME", "")
    root = Path(named) if named else places.home / ".qwen"
    id, parent = draft.uuid(), None
    lines = []
    for turn, at_ms in zip(draft.turns, draft.times(), strict=True):
        role = "user" if turn.role is Role.USER else "model"
        line = {
            "uuid": draft.uuid(),
            "parentUuid": parent,
            "sessionId": id,
            "timestamp": iso_ms(at_ms),
            "type": turn.role.value,
            "cwd": draft.directory,
            "version": VERSION,
            "message": {"role": role, "parts": [{"text": turn.text}]},
        }
        parent = line["uuid"]
        lines.append(json.dumps(line, ensure_ascii=False))
    path = root / "projects" / project_slug(draft.directory) / "chats" / f"{id}.jsonl"
    words = ("qwen", "--resume", id, *(["-i", draft.prompt] if draft.prompt else []))
    return NativeSession(id, {path: "\n".join([*lines, ""])}, words)


reader = Reader(
    "qwen-code",
    "Qwen Code",
    find,
    read,
    resume=Resume(("qwen", "--resume", "{id}")),
    write=write_session,
    prompt_words=("qwen", "-i", "{prompt}"),
)
