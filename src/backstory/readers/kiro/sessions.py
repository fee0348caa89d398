"""A log of Kiro's command line, with a document in the same directory that contains the session's working directory.

Only prompts have a time. `Clear` does not delete anything: earlier messages are still read."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import ConversationKind, Cursor, Piece, Role
from ..formats.documents import read_beside
from ..formats.files import open_regular
from ..formats.lines import OBJECTS
from ..formats.logs import Log, OpenConversation, OpenTurn, Title
from ..formats.touched import tool_call
from ..formats.values import fields_of, fingerprint, records_of, text_of, time_ms
from .conversations import result_text

PASSED_OVER = ("Clear", "Compaction", "ResetTo")


def beside(path: Path) -> str:
    """Return a fingerprint of the fields that may change in the document next to a log."""
    facts = _beside(path)
    return fingerprint(text_of(facts.get("cwd")), text_of(facts.get("title"))) if facts else ""


def _beside(path: Path) -> dict[str, Any]:
    return fields_of(read_beside(path.with_suffix(".json")))


def read_log(path: Path, cursor: Cursor) -> Iterator[Piece]:
    log = Log(str(path), cursor)
    with open_regular(path) as stream:
        yield from log.read(stream, OBJECTS, _KiroSession(path, log).hear)


class _KiroSession:
    def __init__(self, path: Path, log: Log) -> None:
        self.id = path.stem
        self.log = log
        self.facts = _beside(path)
        state = fields_of(fields_of(self.facts.get("session_state")).get("rts_model_state"))
        self.model = text_of(fields_of(state.get("model_info")).get("model_id"))

    def hear(self, line: dict[str, Any]) -> None:
        data = fields_of(line.get("data"))
        content = list(records_of(data.get("content")))
        match line.get("kind"):
            case "Prompt":
                text = _text(content)
                if text.strip():
                    self._conversation().entitle_by_prompt(text)
                    role = Role.SYSTEM if self.facts.get("parent_session_id") else Role.USER
                    self._begin(data, role).texts.append(text)
            case "AssistantMessage":
                self._answer(data, content)
            case "ToolResults":
                for block in content:
                    result = fields_of(block.get("data"))
                    id, output = text_of(result.get("toolUseId")), functools.partial(_output, result)
                    is_error = result.get("status") == "error"
                    self.log.answer(self._conversation(), id, output, None, is_error=is_error)
            case kind if kind not in PASSED_OVER:
                self.log.skipped["unknown kind of line"] += 1

    def _answer(self, data: dict[str, Any], content: list[dict[str, Any]]) -> None:
        turn = self._begin(data, Role.ASSISTANT)
        turn.model = turn.conversation.model = self.model
        turn.texts += filter(None, [_text(content)])
        for block in content:
            inside = fields_of(block.get("data"))
            if block.get("kind") == "thinking":
                turn.thoughts += filter(None, [text_of(inside.get("text"))])
            elif block.get("kind") == "toolUse":
                call = tool_call(text_of(inside.get("name")), fields_of(inside.get("input")))
                turn.call(text_of(inside.get("toolUseId")), call)

    def _begin(self, data: dict[str, Any], role: Role) -> OpenTurn:
        at_ms = time_ms(fields_of(data.get("meta")).get("timestamp"))
        id = text_of(data.get("message_id")) or self.log.name(at_ms)
        return self.log.begin(self._conversation(), id, role, at_ms)

    def _conversation(self) -> OpenConversation:
        parent = text_of(self.facts.get("parent_session_id")) or None
        kind = ConversationKind.SUBAGENT if parent else ConversationKind.MAIN
        conversation = self.log.conversation(self.id, kind=kind, parent=parent)
        conversation.directory = text_of(self.facts.get("cwd"))
        conversation.entitle(text_of(self.facts.get("title")), Title.GENERATED)
        for name in ("created_at", "updated_at"):
            conversation.happened(time_ms(self.facts.get(name)))
        return conversation


def _text(content: list[dict[str, Any]]) -> str:
    texts = (text_of(block.get("data")) for block in content if block.get("kind") == "text")
    return "\n\n".join(filter(None, texts))


def _output(result: dict[str, Any]) -> str:
    return "\n".join(filter(None, map(result_text, records_of(result.get("content")))))
