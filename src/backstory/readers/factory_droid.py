"""Factory Droid: one log per session, below a directory per project."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import Cursor, Form, Piece, Places, Reader, Resume, Role, Source
from .formats.blocks import Block, ToolOutput, blocks_of, output_of, texts_in, thinking_in, uses_in
from .formats.documents import read_beside
from .formats.files import open_regular
from .formats.lines import OBJECTS
from .formats.logs import Log, OpenConversation, OpenTurn, Title
from .formats.noise import head_and_tail, without_blocks
from .formats.paths import homes
from .formats.values import fields_of, text_of, time_ms

INJECTED = ("system-reminder",)
FAILED = "Error: "
"""Prefix of a failed tool's result. Older versions have no other sign of failure."""


def find(places: Places) -> Iterator[Source]:
    roots = [home / ".factory" for home in homes(places)]
    for root in dict.fromkeys([*roots, *places.roots.get("factory-droid", ())]):
        for path in sorted(root.glob("sessions/**/*.jsonl")):
            yield Source(path, Form.LOG)


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    log = Log(str(source.path), cursor)
    with open_regular(source.path) as stream:
        yield from log.read(stream, OBJECTS, _DroidSession(source.path, log).hear)


class _DroidSession:
    """The state of reading one log."""

    def __init__(self, path: Path, log: Log) -> None:
        self.log = log
        self.memory: dict[str, Any] = log.memory.setdefault("session", {"id": path.stem})
        settings = fields_of(read_beside(path.with_name(f"{path.stem}.settings.json")))
        self.model = text_of(settings.get("model"))

    def hear(self, record: dict[str, Any]) -> None:
        match record.get("type"):
            case "session_start":
                self._hear_start(record)
            case "message":
                self._hear_message(record, fields_of(record.get("message")))
            case "compaction_state":
                if summary := text_of(record.get("summaryText")).strip():
                    self._begin(record, Role.SUMMARY, [summary])

    def _hear_start(self, record: dict[str, Any]) -> None:
        self.memory["id"] = text_of(record.get("id")) or self.memory["id"]
        self.memory["directory"] = text_of(record.get("cwd"))
        conversation = self._conversation()
        conversation.entitle(
            text_of(record.get("sessionTitle")) or text_of(record.get("title")), Title.GENERATED
        )

    def _hear_message(self, record: dict[str, Any], message: dict[str, Any]) -> None:
        blocks = blocks_of(message.get("content"))
        at_ms = time_ms(record.get("timestamp"))
        conversation = self._conversation()
        conversation.happened(at_ms)
        for block in blocks:
            if block.get("type") == "tool_result":
                output = _output(block)
                text = functools.partial(str, output.text)
                id = text_of(block.get("tool_use_id"))
                self.log.answer(conversation, id, text, at_ms, is_error=output.is_error)
        match message.get("role"):
            case "user":
                self._ask(record, texts_in(blocks))
            case "assistant":
                self._answer(record, blocks)
            case _:
                self.log.skipped["unknown role"] += 1

    def _ask(self, record: dict[str, Any], texts: list[str]) -> None:
        """Record the typed text without injected blocks; if there is none, record the injected text."""
        typed = [request for text in texts if (request := without_blocks(text, INJECTED))]
        if typed:
            self._conversation().entitle_by_prompt("\n\n".join(typed))
            self._begin(record, Role.USER, typed)
        elif texts:
            self._begin(record, Role.SYSTEM, [head_and_tail("\n\n".join(texts))])

    def _answer(self, record: dict[str, Any], blocks: list[Block]) -> None:
        turn = self._begin(record, Role.ASSISTANT, texts_in(blocks))
        turn.model = turn.conversation.model = self.model
        turn.thoughts += filter(None, [thinking_in(blocks)])
        for use in uses_in(blocks):
            turn.call(use.id, use.call())

    def _begin(self, record: dict[str, Any], role: Role, texts: list[str]) -> OpenTurn:
        at_ms = time_ms(record.get("timestamp"))
        id = text_of(record.get("id")) or self.log.name(at_ms)
        turn = self.log.begin(self._conversation(), id, role, at_ms)
        turn.texts += texts
        return turn

    def _conversation(self) -> OpenConversation:
        conversation = self.log.conversation(self.memory["id"])
        conversation.directory = self.memory.get("directory", "")
        return conversation


def _output(block: Block) -> ToolOutput:
    output = output_of(block)
    return output if output.is_error else output._replace(is_error=output.text.startswith(FAILED))


reader = Reader("factory-droid", "Factory Droid", find, read, resume=Resume(("droid", "--resume", "{id}")))
