"""Gemini CLI: one file per session below a directory per project, and a log of prompts in the same directory.

A `.jsonl` is read as a whole: its lines may also revert and replace earlier lines."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from ..domain.lazy import lazy_pattern
from ..domain.usage import ModelCall
from . import (
    ConversationHeader,
    ConversationKind,
    Cursor,
    Form,
    NativeSession,
    Piece,
    Places,
    Reader,
    Resume,
    Role,
    SessionDraft,
    Source,
    ToolCall,
    Turn,
    WitnessRank,
)
from .formats.documents import read_beside, read_document
from .formats.files import open_regular, read_text
from .formats.lines import OBJECTS, read_records
from .formats.noise import head_and_tail, without_blocks
from .formats.paths import homes, unmounted
from .formats.pieces import END, whole
from .formats.results import with_result
from .formats.times import iso_ms
from .formats.touched import tool_call
from .formats.usage import count_of, rest_of
from .formats.values import fields_of, items_of, records_of, text_of, time_ms

LOG = "logs.json"
ENDED = ("success", "error", "cancelled")
INJECTED = ("/", "?", "<session_context>")
"""Prefixes of texts that the CLI itself does not attribute to the user."""
HOOK = "hook_context"
"""The element around text that the user's programs, such as this one, had the CLI add."""
REFERENCED = lazy_pattern(r"--- Content from referenced files ---.*?(?:--- End of content ---|\Z)", re.DOTALL)
"""Contents of files mentioned in a prompt. They replace the mention if the typed text is not recorded."""
WRITTEN = lazy_pattern(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.\d+")
"""The id of a message in a session that Backstory wrote: the session's id, and a number."""
SERVER = lazy_pattern(r"\((.+) MCP Server\)$")


def find(places: Places) -> Iterator[Source]:
    for _, folders in project_folders(places):
        for folder, directory in folders:
            for path in _files(folder):
                yield Source(path, Form.DOCUMENT, directory)


def project_folders(places: Places) -> Iterator[tuple[Path, list[tuple[Path, str]]]]:
    """Yield each home of Gemini CLI with its project folders and their directories, "" if the directory is unknown."""
    hashes = {
        _sha256(path): path for known in places.projects for path in (str(known), unmounted(str(known)))
    }
    for root in _roots(places):
        slugs = _slugs(root)
        yield (
            root,
            [
                (folder, _root_of(folder) or slugs.get(folder.name) or hashes.get(folder.name, ""))
                for folder in sorted(root.glob("tmp/*/"))
            ],
        )


def _roots(places: Places) -> list[Path]:
    named = places.environment.get("GEMINI_CLI_HOME", "")
    usual = [home / ".gemini" for home in ([Path(named)] if named else []) + list(homes(places))]
    return list(dict.fromkeys([*usual, *places.roots.get("gemini-cli", ())]))


def _files(project: Path) -> Iterator[Path]:
    chats = project / "chats"
    logs = {*chats.glob("session-*.jsonl"), *chats.glob("*/*.jsonl")}
    documents = {*chats.glob("session-*.json"), *chats.glob("*/*.json")}
    # an old document that was continued as a log stays in the same directory
    yield from sorted(logs | {path for path in documents if path.with_suffix(".jsonl") not in logs})
    if (log := project / LOG).is_file():
        yield log


def _root_of(project: Path) -> str:
    try:
        return read_text(project / ".project_root").strip()
    except OSError:
        return ""


def _slugs(root: Path) -> dict[str, str]:
    document = fields_of(read_beside(root / "projects.json"))
    paths = fields_of(document.get("projects", document))
    return {slug: path for path, slug in paths.items() if isinstance(slug, str)}


def _sha256(path: str) -> str:
    return hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()


class GeminiSession(NamedTuple):
    header: dict[str, Any]
    messages: dict[str, dict[str, Any]]
    """Messages by id, or by position."""
    skipped: Counter[str]


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    if source.path.name == LOG:
        yield from _prompts(source)
        return
    session = _replay(source.path) if source.path.suffix == ".jsonl" else _read_whole(source.path)
    is_subagent = bool(_parent(source.path)) or session.header.get("kind") == "subagent"
    read_turns = (_turn(id, message, session.skipped) for id, message in session.messages.items())
    turns = [turn for turn in read_turns if turn is not None]
    header = _header(source, session.header, is_subagent)
    written = (match[1] for id in session.messages if (match := WRITTEN.fullmatch(id)))
    usage = [_model_call(header.native_id, id, message) for id, message in session.messages.items()]
    calls = [call for call in usage if call is not None]
    yield whole(header._replace(written_as=next(written, "")), turns, session.skipped, usage=calls)


def _read_whole(path: Path) -> GeminiSession:
    document = fields_of(read_document(path))
    return GeminiSession(document, _by_id(document.get("messages")), Counter())


def _replay(path: Path) -> GeminiSession:
    """Replay all lines: a repeated message replaces the former one, and a rewind drops the rest."""
    header: dict[str, Any] = {}
    messages: dict[str, dict[str, Any]] = {}
    skipped: Counter[str] = Counter()
    with open_regular(path) as stream:
        for at, record in read_records(stream, OBJECTS, skipped):
            if "$rewindTo" in record:
                messages = _until(messages, text_of(record["$rewindTo"]))
            elif "$set" in record:
                changes = dict(fields_of(record["$set"]))
                if "messages" in changes:
                    messages = _by_id(changes.pop("messages"))
                header |= changes
            elif "type" in record:
                messages[text_of(record.get("id")) or f"@{at}"] = record
            elif "sessionId" in record:
                header |= record
            else:
                skipped["unknown record"] += 1
    return GeminiSession(header, messages, skipped)


def _until(messages: dict[str, dict[str, Any]], id: str) -> dict[str, dict[str, Any]]:
    """Return the messages before the one with this id; none if it does not exist."""
    return dict(takewhile(lambda message: message[0] != id, messages.items())) if id in messages else {}


def _by_id(messages: object) -> dict[str, dict[str, Any]]:
    return {text_of(m.get("id")) or f"#{n}": m for n, m in enumerate(records_of(messages))}


def _header(source: Source, header: dict[str, Any], is_subagent: bool) -> ConversationHeader:
    return ConversationHeader(
        native_id=text_of(header.get("sessionId")) or source.path.stem,
        source=str(source.path),
        title=text_of(header.get("summary")),
        directory=source.directory,
        kind=ConversationKind.SUBAGENT if is_subagent else ConversationKind.MAIN,
        parent=_parent(source.path) or None,
        started_ms=time_ms(header.get("startTime")),
        ended_ms=time_ms(header.get("lastUpdated")),
    )


def _parent(path: Path) -> str:
    """Return the session whose directory contains a subagent's file."""
    return path.parent.name if path.parents[1].name == "chats" else ""


def _turn(id: str, message: dict[str, Any], skipped: Counter[str]) -> Turn | None:
    at_ms = time_ms(message.get("timestamp"))
    text, thought = _texts(message.get("content"))
    match message.get("type"):
        case "user":
            display = _texts(message.get("displayContent"))[0] or REFERENCED.sub("", text).strip()
            typed = without_blocks(display, (HOOK,))
            is_human = not typed.startswith(INJECTED)
            turn = Turn(id, Role.USER, typed, at_ms) if is_human else _injected(id, typed, at_ms)
        case "gemini":
            thoughts = [thought, *map(_thought, records_of(message.get("thoughts")))]
            calls = tuple(map(_call, records_of(message.get("toolCalls"))))
            thinking = "\n\n".join(filter(None, thoughts))
            turn = Turn(id, Role.ASSISTANT, text, at_ms, thinking, calls, text_of(message.get("model")))
        case "info" | "warning" | "error":
            turn = _injected(id, text, at_ms)
        case _:
            skipped["unknown message type"] += 1
            return None
    return None if turn.is_empty else turn


def _model_call(session: str, id: str, message: dict[str, Any]) -> ModelCall | None:
    tokens = fields_of(message.get("tokens"))
    if not tokens or message.get("type") != "gemini":
        return None
    thoughts = count_of(tokens.get("thoughts"))
    return ModelCall(
        f"{session}/{id}",
        text_of(message.get("model")),
        time_ms(message.get("timestamp")),
        rest_of(tokens.get("input"), tokens.get("cached")),
        count_of(tokens.get("output")) + thoughts,
        count_of(tokens.get("cached")),
        reasoning=thoughts,
        turn=id,
    )


def _injected(id: str, text: str, at_ms: int | None) -> Turn:
    return Turn(id, Role.SYSTEM, head_and_tail(text), at_ms)


def _texts(content: object) -> tuple[str, str]:
    """Return the text of a string or a list of parts, and the thoughts in it."""
    texts: list[str] = []
    thought: list[str] = []
    for part in [content] if isinstance(content, str | dict) else items_of(content):
        if isinstance(part, str):
            texts.append(part)
        else:
            fields = fields_of(part)
            (thought if fields.get("thought") is True else texts).append(text_of(fields.get("text")))
    return "\n".join(filter(None, texts)).strip(), "\n".join(filter(None, thought)).strip()


def _thought(thought: dict[str, Any]) -> str:
    return ": ".join(filter(None, (text_of(thought.get("subject")), text_of(thought.get("description")))))


def _call(call: dict[str, Any]) -> ToolCall:
    error = _output(call) or "error" if call.get("status") == "error" else ""
    tool = tool_call(_tool_name(call), fields_of(call.get("args")), head_and_tail(error))
    tool = tool._replace(id=text_of(call.get("id")))
    if call.get("status") not in ENDED and not call.get("result"):
        return tool
    return with_result(tool, error or _output(call), is_error=call.get("status") == "cancelled")


def _tool_name(call: dict[str, Any]) -> str:
    """Return the tool's name, preceded by its server, which older versions record only in the display name."""
    name, server = text_of(call.get("name")), SERVER.search(text_of(call.get("displayName")))
    return f"mcp_{server[1]}_{name}" if server and not name.startswith("mcp_") else name


def _output(call: dict[str, Any]) -> str:
    for result in records_of(call.get("result")):
        response = fields_of(fields_of(result.get("functionResponse")).get("response"))
        if text := text_of(response.get("error")) or text_of(response.get("output")):
            return text
    return text_of(call.get("resultDisplay"))


def _prompts(source: Source) -> Iterator[Piece]:
    """Yield the prompts of each session, for sessions whose own file is gone."""
    sessions: dict[str, list[Turn]] = {}
    for entry in records_of(read_document(source.path)):
        session, text = text_of(entry.get("sessionId")), text_of(entry.get("message")).strip()
        if session and text and entry.get("type") == "user" and not text.startswith(INJECTED):
            turns = sessions.setdefault(session, [])
            id = f"log-{entry.get('messageId', len(turns))}"
            turns.append(Turn(id, Role.USER, text, time_ms(entry.get("timestamp"))))
    for n, (session, turns) in enumerate(sessions.items(), 1):
        header = ConversationHeader(
            native_id=session,
            source=f"{source.path}#{session}",
            directory=source.directory,
            kind=ConversationKind.PROMPT_LOG,
            completeness="partial",
            standing=WitnessRank.PROMPTS,
        )
        yield whole(header, turns, cursor=END if n == len(sessions) else None)


def write_session(draft: SessionDraft, places: Places) -> NativeSession:
    """Return a file in Backstory's folder that Gemini CLI copies to its own.

    Gemini CLI deletes sessions older than 30 days, and all times are therefore of today. Our file remains, and can be
    imported again."""
    id, times = draft.uuid(), draft.times()
    messages = [
        {
            "id": f"{id}.{place}",  # the session gets a different id on import, the messages do not
            "timestamp": iso_ms(at_ms),
            "type": "user" if turn.role is Role.USER else "gemini",
            "content": [{"text": turn.text}] if turn.role is Role.USER else turn.text,
        }
        for place, (turn, at_ms) in enumerate(zip(draft.turns, times, strict=True))
    ]
    session = {
        "sessionId": id,
        "projectHash": _sha256(draft.directory),
        "startTime": iso_ms(times[0]),
        "lastUpdated": iso_ms(times[-1]),
        "messages": messages,
    }
    path = draft.folder / f"gemini-{id}.json"
    words = ("gemini", "--session-file", str(path), *(["-i", draft.prompt] if draft.prompt else []))
    return NativeSession(id, {path: json.dumps(session, ensure_ascii=False, indent=1)}, words)


reader = Reader(
    "gemini-cli",
    "Gemini CLI",
    find,
    read,
    by_projects=True,
    resume=Resume(("gemini", "--resume", "{id}")),
    write=write_session,
    prompt_words=("gemini", "-i", "{prompt}"),
)
