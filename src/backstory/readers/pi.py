"""Pi, and OpenClaw, which is built on it: one log per session, a tree of which all branches are read."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ..domain.usage import ModelCall
from . import ConversationKind, Cursor, Form, Piece, Places, Reader, Resume, Role, Source, ToolCall
from .formats.files import open_regular
from .formats.lines import decode_raw, to_ms
from .formats.logs import Log, OpenConversation, OpenTurn, Title
from .formats.noise import head_and_tail
from .formats.paths import homes
from .formats.results import with_result
from .formats.touched import tool_call
from .formats.usage import cost_of, count_of


class _Block(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: Any = None


_Content = str | list[_Block | str] | None


class _Usage(msgspec.Struct, gc=False, rename="camel"):
    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    cost: dict[str, Any] | None = None


class _Message(msgspec.Struct, gc=False, rename="camel"):
    role: str = ""
    content: _Content = None
    model: str | None = None
    tool_call_id: str | None = None
    is_error: bool | None = None
    command: str | None = None
    output: str | None = None
    exit_code: int | None = None
    usage: msgspec.Raw = msgspec.Raw()
    summary: str | None = None


class _Entry(msgspec.Struct, gc=False, rename="camel"):
    type: str = ""
    id: str | None = None
    timestamp: str | int | float | None = None
    cwd: str | None = None
    parent_session: str | None = None
    model_id: str | None = None
    name: str | None = None
    summary: str | None = None
    content: _Content = None
    message: _Message | None = None


_ENTRIES = msgspec.json.Decoder(_Entry)
_USAGE = msgspec.json.Decoder(_Usage)


def find(places: Places) -> Iterator[Source]:
    for directory in dict.fromkeys(_directories(places)):
        for path in sorted(directory.rglob("*.jsonl")):
            if ".checkpoint." not in path.name:  # skip OpenClaw's copies of a session that continues
                yield Source(path, Form.LOG)


def _directories(places: Places) -> Iterator[Path]:
    yield from places.roots.get("pi", ())
    if named := places.environment.get("PI_CODING_AGENT_DIR", ""):
        yield Path(named, "sessions")
    for home in homes(places):
        yield home / ".pi/agent/sessions"
        yield from sorted(home.glob(".openclaw/agents/*/sessions"))


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    log = Log(str(source.path), cursor)
    with open_regular(source.path) as stream:
        yield from log.read(stream, _ENTRIES, _PiSession(source.path, log).hear)


class _PiSession:
    """The state of reading one log."""

    def __init__(self, path: Path, log: Log) -> None:
        self.log = log
        self.memory: dict[str, Any] = log.memory.setdefault("session", {"id": _id_in(path.stem)})

    def hear(self, entry: _Entry) -> None:
        match entry.type:
            case "session":
                self._hear_header(entry)
            case "message" if entry.message is not None:
                self._hear_message(entry, entry.message)
            case "model_change":
                self.memory["model"] = entry.model_id or ""
            case "session_info":
                self._conversation().entitle(entry.name or "", Title.CHOSEN)
            case "compaction" | "branch_summary" if entry.summary:
                self._begin(entry, Role.SUMMARY).texts.append(entry.summary)
            case "custom_message":
                self._inject(entry, entry.content)

    def _hear_header(self, entry: _Entry) -> None:
        self.memory["id"] = entry.id or self.memory["id"]
        self.memory["directory"] = entry.cwd or ""
        if entry.parent_session:
            self.memory["parent"] = _id_in(Path(entry.parent_session.replace("\\", "/")).stem)

    def _hear_message(self, entry: _Entry, message: _Message) -> None:
        match message.role:
            case "user":
                if text := _text(message.content).strip():
                    self._conversation().entitle_by_prompt(text)
                    self._begin(entry, Role.USER).texts.append(text)
            case "assistant":
                self._hear_answer(entry, message)
            case "toolResult":
                at_ms = to_ms(entry.timestamp)
                conversation = self._conversation()
                conversation.happened(at_ms)
                output = functools.partial(_text, message.content)
                self.log.answer(
                    conversation, message.tool_call_id or "", output, at_ms, is_error=bool(message.is_error)
                )
            case "bashExecution" if message.command:
                turn = self._begin(entry, Role.USER)
                turn.texts.append(f"!{message.command}")
                error = head_and_tail(message.output or "failed") if message.exit_code else ""
                call = ToolCall("bash", command=message.command, error=error)
                turn.calls.append(with_result(call, message.output or "", message.exit_code))
            case "compactionSummary" | "branchSummary" if message.summary:
                self._begin(entry, Role.SUMMARY).texts.append(message.summary)
            case _:
                self._inject(entry, message.content)

    def _hear_answer(self, entry: _Entry, message: _Message) -> None:
        turn = self._begin(entry, Role.ASSISTANT)
        turn.model = turn.conversation.model = message.model or self.memory.get("model", "")
        for block in _blocks(message.content):
            if block.type == "text" and block.text:
                turn.texts.append(block.text)
            elif block.type == "thinking" and block.thinking:
                turn.thoughts.append(block.thinking)
            elif block.type == "toolCall":
                turn.call(block.id or "", tool_call(block.name or "", block.arguments))
        if (used := decode_raw(message.usage, _USAGE)) is not None:
            turn.conversation.spend(
                ModelCall(
                    f"{turn.conversation.native_id}/{turn.id}",
                    turn.model,
                    turn.at_ms,
                    count_of(used.input),
                    count_of(used.output),
                    count_of(used.cache_read),
                    count_of(used.cache_write),
                    cost_usd=cost_of((used.cost or {}).get("total")),
                    turn=turn.id,
                )
            )

    def _inject(self, entry: _Entry, content: _Content) -> None:
        if text := _text(content).strip():
            self._begin(entry, Role.SYSTEM).texts.append(head_and_tail(text))

    def _begin(self, entry: _Entry, role: Role) -> OpenTurn:
        at_ms = to_ms(entry.timestamp)
        conversation = self._conversation()
        conversation.happened(at_ms)
        return self.log.begin(conversation, entry.id or self.log.name(at_ms), role, at_ms)

    def _conversation(self) -> OpenConversation:
        parent = self.memory.get("parent")
        conversation = self.log.conversation(
            self.memory["id"], kind=ConversationKind.FORK if parent else ConversationKind.MAIN, parent=parent
        )
        conversation.directory = self.memory.get("directory", "")
        return conversation


def _id_in(stem: str) -> str:
    """Return the id in a file name of the form `<time>_<id>`."""
    return stem.rpartition("_")[2]


def _blocks(content: _Content) -> Iterator[_Block]:
    if isinstance(content, str):
        yield _Block("text", content)
    for block in content or ():
        if isinstance(block, _Block):
            yield block


def _text(content: _Content) -> str:
    return "\n".join(block.text for block in _blocks(content) if block.text)


reader = Reader("pi", "Pi", find, read, resume=Resume(("pi", "--session", "{id}"), "*/agent/sessions/*"))
