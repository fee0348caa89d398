"""GitHub Copilot: the sessions of its command line, and chats in VS Code."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import ConversationHeader, Cursor, Form, Piece, Places, Reader, Resume, Role, Source, ToolCall, Turn
from ..formats.blocks import arguments_of, blocks_of, functions_in, text_in
from ..formats.documents import read_document
from ..formats.files import open_regular
from ..formats.lines import OBJECTS, raw_records
from ..formats.logs import Log, OpenConversation, OpenTurn, Title
from ..formats.noise import without_blocks
from ..formats.paths import editor_directories, homes, workspace_folder
from ..formats.pieces import whole
from ..formats.touched import tool_call
from ..formats.values import fields_of, fingerprint, items_of, records_of, text_of, time_ms
from .changes import replay
from .chats import turns_of
from .usage import count_message, count_session
from .workspaces import Workspace, workspace_beside
from .writing import write_session

EDITORS = ("Code", "Code - Insiders", "VSCodium", "Code - OSS")
CHATS = ("workspaceStorage/*/chatSessions/*", "globalStorage/emptyWindowChatSessions/*")
EVENTS = "events.jsonl"
LOGS = (f"session-state/*/{EVENTS}", "session-state/*.jsonl", "history-session-state/*.jsonl")
OLD_SESSIONS = "history-session-state/*.json"
PASSED_OVER = ("hook.", "session.", "system.", "permission.", "assistant.turn_", "tool.", "abort")
"""Prefixes of event types that contain no dialogue."""
EDITOR = "str_replace_editor"
"""A tool whose argument `command` names the operation on a file."""
INJECTED = ("current_datetime", "system_reminder")


def find(places: Places) -> Iterator[Source]:
    named = places.roots.get("copilot", ())
    for user in dict.fromkeys([*editor_directories(places, *EDITORS), *named]):
        chats = {path for pattern in CHATS for path in user.glob(pattern)}
        for path in sorted(chats):
            # a chat that was continued as a log leaves its document in the same directory
            if path.suffix == ".jsonl" or (
                path.suffix == ".json" and path.with_suffix(".jsonl") not in chats
            ):
                yield Source(path, Form.DOCUMENT)
    for root in dict.fromkeys([*_homes(places), *named]):
        for pattern in LOGS:
            yield from map(_log, sorted(root.glob(pattern)))
        yield from (Source(path, Form.DOCUMENT) for path in sorted(root.glob(OLD_SESSIONS)))


def _log(path: Path) -> Source:
    workspace = workspace_beside(path) if path.name == EVENTS else Workspace()
    return Source(path, Form.LOG, workspace.directory, fingerprint(*workspace) if any(workspace) else "")


def _homes(places: Places) -> list[Path]:
    named = places.environment.get("COPILOT_HOME", "")
    return ([Path(named)] if named else []) + [home / ".copilot" for home in homes(places)]


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    if source.form is Form.LOG:
        yield from _read_log(source, cursor)
    elif source.path.parent.name == "history-session-state":
        yield _old_session(source)
    else:
        yield _chat(source)


def _chat(source: Source) -> Piece:
    """Read a chat of VS Code. It is read as a whole, because a log of changes may revert earlier lines."""
    skipped: Counter[str] = Counter()
    is_log = source.path.suffix == ".jsonl"
    chat = fields_of(replay(source.path, skipped) if is_log else read_document(source.path))
    turns = list(turns_of(chat, skipped))
    header = ConversationHeader(
        native_id=text_of(chat.get("sessionId")) or source.path.stem,
        source=str(source.path),
        title=text_of(chat.get("customTitle")),
        directory=workspace_folder(source.path.parents[1]).path,
        started_ms=time_ms(chat.get("creationDate")),
        ended_ms=time_ms(chat.get("lastMessageDate")),
    )
    return whole(header, turns, skipped)


def _read_log(source: Source, cursor: Cursor) -> Iterator[Piece]:
    path = source.path
    log = Log(str(path), cursor)
    workspace = workspace_beside(path) if path.name == EVENTS else Workspace()
    with open_regular(path) as stream:
        for offset, line, event in raw_records(stream, OBJECTS, log.skipped, log.offset):
            if log.goes_on(offset, line):
                yield from log.pieces()
            conversation = log.conversation(path.parent.name if path.name == EVENTS else path.stem)
            _know(conversation, workspace)
            _hear(log, conversation, event)
    yield from log.pieces(is_last=True)


def _know(conversation: OpenConversation, workspace: Workspace) -> None:
    conversation.directory = conversation.directory or workspace.directory
    conversation.branch = conversation.branch or workspace.branch
    conversation.entitle(workspace.summary, Title.GENERATED)
    conversation.entitle(workspace.name, Title.CHOSEN)


def _hear(log: Log, conversation: OpenConversation, event: dict[str, Any]) -> None:
    data, at_ms = fields_of(event.get("data")), time_ms(event.get("timestamp"))
    id = text_of(event.get("id")) or log.name(at_ms)
    conversation.happened(at_ms)
    match event.get("type"):
        case "session.start":
            context = fields_of(data.get("context"))
            conversation.directory = text_of(context.get("cwd")) or conversation.directory
            conversation.branch = text_of(context.get("branch")) or conversation.branch
            conversation.model = text_of(data.get("selectedModel"))
        case "session.model_change":
            conversation.model = text_of(data.get("newModel")) or conversation.model
        case "user.message":
            text = text_of(data.get("content")).strip()
            conversation.entitle_by_prompt(text)
            log.begin(conversation, id, Role.USER, at_ms).texts.append(text)
        case "assistant.message":
            _hear_answer(log.begin(conversation, id, Role.ASSISTANT, at_ms), data, at_ms)
            count_message(log, conversation, data, at_ms)
        case "tool.execution_start":
            if log.open is not None and not _is_asked(log, log.open, data):
                _hear_call(log.open, data, text_of(data.get("toolName")), at_ms)
            elif log.open is not None and at_ms is not None:
                log.open.asked_ms[text_of(data.get("toolCallId"))] = at_ms
        case "tool.execution_complete":
            is_error = data.get("success") is False
            output = functools.partial(_failure if is_error else _output, data)
            log.answer(
                conversation,
                text_of(data.get("toolCallId")),
                output,
                at_ms,
                is_error=is_error,
                exit_code=_exit_code(data),
            )
        case "session.compaction_complete":
            log.begin(conversation, id, Role.SUMMARY, at_ms).texts.append(text_of(data.get("summaryContent")))
        case "session.shutdown":
            count_session(log, conversation, data, at_ms)
            files = items_of(fields_of(data.get("codeChanges")).get("filesModified"))
            if written := tuple(path for path in files if isinstance(path, str)):
                log.begin(conversation, id, Role.SYSTEM, at_ms).calls.append(
                    ToolCall("session", writes=written)
                )
        case kind if not text_of(kind).startswith(PASSED_OVER):
            log.skipped["unknown event"] += 1


def _hear_answer(turn: OpenTurn, data: dict[str, Any], at_ms: int | None) -> None:
    turn.texts += filter(None, [text_of(data.get("content")).strip()])
    turn.thoughts += filter(None, [text_of(data.get("reasoningText")).strip()])
    turn.model = turn.conversation.model = text_of(data.get("model")) or turn.conversation.model
    for request in records_of(data.get("toolRequests")):
        _hear_call(turn, request, text_of(request.get("name")), at_ms)


def _is_asked(log: Log, turn: OpenTurn, data: dict[str, Any]) -> bool:
    """True if a message requested the call that starts here. Older versions record only the start."""
    id = text_of(data.get("toolCallId"))
    return id in turn.waiting or id in log.late


def _hear_call(turn: OpenTurn, request: dict[str, Any], name: str, at_ms: int | None) -> None:
    turn.call(text_of(request.get("toolCallId")), _call(name, arguments_of(request.get("arguments"))), at_ms)


def _call(name: str, arguments: Any, error: str = "") -> ToolCall:
    if name == EDITOR:
        arguments = dict(fields_of(arguments))
        name = text_of(arguments.pop("command", None)) or name
    return tool_call(name, arguments, error)


def _output(data: dict[str, Any]) -> str:
    """Return the longer of the model's result and the displayed one, which sometimes differ."""
    result = fields_of(data.get("result"))
    content, detailed = text_of(result.get("content")), text_of(result.get("detailedContent"))
    return max(content, detailed, key=len)


def _exit_code(data: dict[str, Any]) -> int | None:
    code = fields_of(fields_of(data.get("toolTelemetry")).get("metrics")).get("exit_code")
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def _failure(data: dict[str, Any]) -> str:
    error, result = fields_of(data.get("error")), fields_of(data.get("result"))
    return text_of(error.get("message")) or text_of(result.get("content")) or "failed"


def _old_session(source: Source) -> Piece:
    """Read one document with the messages as the model received them."""
    session = fields_of(read_document(source.path))
    turns = []
    skipped: Counter[str] = Counter()
    for n, message in enumerate(records_of(session.get("chatMessages"))):
        text = without_blocks(text_in(blocks_of(message.get("content"))), INJECTED)
        calls = tuple(_call(use.name, use.arguments) for use in functions_in(message.get("tool_calls")))
        match message.get("role"):
            case "user" | "assistant" as role:
                if text or calls:
                    turns.append(Turn(str(n), Role(role), text, calls=calls))
            case "system" | "tool":
                pass
            case _:
                skipped["unknown role"] += 1
    header = ConversationHeader(
        native_id=text_of(session.get("sessionId")) or source.path.stem,
        source=str(source.path),
        started_ms=time_ms(session.get("startTime")),
    )
    return whole(header, turns, skipped)


reader = Reader(
    "copilot",
    "GitHub Copilot",
    find,
    read,
    resume=Resume(("copilot", "--resume", "{id}"), "*session-state/*"),
    write=write_session,
    prompt_words=("copilot", "-i", "{prompt}"),
)
