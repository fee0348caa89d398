"""Goose: a database of sessions and messages; before 1.10 one log per session."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..domain.usage import ModelCall
from . import (
    ConversationHeader,
    ConversationKind,
    Cursor,
    Form,
    Piece,
    Places,
    Reader,
    Resume,
    Role,
    Source,
    ToolCall,
    Turn,
    WitnessRank,
)
from .formats.blocks import Block, ToolOutput, Use, blocks_of, text_in, thinking_in
from .formats.databases import NOT_JSON, DatabaseProgress, columns, document, listed, read_database
from .formats.files import open_regular
from .formats.lines import OBJECTS, read_records
from .formats.paths import application_data, data_home
from .formats.pieces import whole
from .formats.usage import count_of
from .formats.values import fields_of, fingerprint, records_of, text_of, time_ms

Record = dict[str, Any]
FIELDS = (
    "id", "name", "description", "user_set_name", "session_type", "working_dir", "created_at", "updated_at",
    "accumulated_input_tokens", "accumulated_output_tokens", "model_config_json",
)  # fmt: skip


def find(places: Places) -> Iterator[Source]:
    roots = [data_home(places) / "goose", *places.roots.get("goose", ())]
    roots += [directory / "Block" / "goose" / "data" for directory in application_data(places)]
    if named := places.environment.get("GOOSE_PATH_ROOT", ""):
        roots.append(Path(named) / "data")
    for root in dict.fromkeys(roots):
        if (path := root / "sessions" / "sessions.db").is_file():
            yield Source(path, Form.DATABASE)
        for path in sorted(root.glob("sessions/*.jsonl")):
            yield Source(path, Form.DOCUMENT)


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    if source.form is Form.DATABASE:
        return read_database(source.path, cursor, _read_sessions)
    return _read_log(source.path)


def _read_sessions(connection: sqlite3.Connection, path: Path, progress: DatabaseProgress) -> Iterator[Piece]:
    known = columns(connection, "messages")
    if not {"id", "session_id", "role", "content_json"} <= known:
        return
    at = "created_timestamp" if "created_timestamp" in known else "NULL"
    own = "message_id" if "message_id" in known else "NULL"
    progress.is_complete = "id" in columns(connection, "sessions")
    for session in listed(connection, "sessions", FIELDS):
        id = text_of(session["id"])
        newest = connection.execute(
            "SELECT COUNT(*), MAX(id), SUM(LENGTH(content_json)) FROM messages WHERE session_id = ?", (id,)
        ).fetchone()
        if not id or not progress.is_new(id, fingerprint(*session.values(), *newest)):
            continue
        rows = connection.execute(
            f"SELECT id, {own}, role, content_json, {at} FROM messages WHERE session_id = ? ORDER BY id",
            (id,),
        )
        skipped: Counter[str] = Counter()
        messages = [_message(*row) for row in rows]
        skipped[NOT_JSON] += sum(message is None for message in messages)
        header = _header(session, f"{path}#sessions/{id}")
        turns = _turns([each for each in messages if each])
        usage = [] if (used := _session_usage(session)) is None else [used]
        piece = whole(header, turns, +skipped, cursor=None, usage=usage)
        if piece.turns:
            yield piece


def _message(row: int, id: Any, role: Any, content: Any, at: Any) -> Record | None:
    blocks = document(content)
    if not isinstance(blocks, list):
        return None
    return {"id": text_of(id) or str(row), "role": role, "content": blocks, "created": at}


def _read_log(path: Path) -> Iterator[Piece]:
    """Read a log: the session on the first line, then its messages. If there is a database, it has imported the log."""
    skipped: Counter[str] = Counter()
    with open_regular(path) as stream:
        records = [record for _, record in read_records(stream, OBJECTS, skipped)]
    session = {"id": path.stem, **next((record for record in records if "role" not in record), {})}
    messages = [
        {"id": str(n), **record}
        for n, record in enumerate(records)
        if "role" in record and "content" in record
    ]
    header = _header(session, str(path))._replace(native_id=path.stem, standing=WitnessRank.REPLAY)
    yield whole(header, _turns(messages), skipped)


def _header(session: Record, source: str) -> ConversationHeader:
    name, described = text_of(session.get("name")), text_of(session.get("description"))
    is_subagent = session.get("session_type") == "sub_agent"
    return ConversationHeader(
        text_of(session.get("id")),
        source,
        title=(name if session.get("user_set_name") else "") or described or name,
        directory=text_of(session.get("working_dir")),
        kind=ConversationKind.SUBAGENT if is_subagent else ConversationKind.MAIN,
        started_ms=time_ms(session.get("created_at")),
        ended_ms=time_ms(session.get("updated_at")),
    )


def _turns(messages: list[Record]) -> list[Turn]:
    contents = [blocks_of(message.get("content")) for message in messages]
    outputs = dict(output for blocks in contents for output in _outputs(blocks))
    return [
        Turn(
            text_of(message.get("id")),
            Role.ASSISTANT if message.get("role") == "assistant" else Role.USER,
            text_in(blocks),
            time_ms(message.get("created")),
            thinking_in(blocks),
            tuple(_calls(blocks, outputs)),
        )
        for message, blocks in zip(messages, contents, strict=True)
    ]


def _calls(blocks: list[Block], outputs: dict[str, ToolOutput]) -> Iterator[ToolCall]:
    for block in blocks:
        if block.get("type") == "toolRequest":
            call = fields_of(fields_of(block.get("toolCall")).get("value"))
            name, arguments = text_of(call.get("name")), fields_of(call.get("arguments"))
            yield Use(text_of(block.get("id")), name, arguments).call(outputs)


def _outputs(blocks: list[Block]) -> Iterator[tuple[str, ToolOutput]]:
    """Yield the results of tools by the id of their request."""
    for block in blocks:
        if block.get("type") == "toolResponse":
            result = fields_of(block.get("toolResult"))
            value = fields_of(result.get("value"))
            parts = list(records_of(value.get("content") or result.get("value")))
            has_failed = result.get("status") == "error" or value.get("isError") is True
            message = text_of(result.get("error")) if has_failed else ""
            text = message or text_in(parts) or ("failed" if has_failed else "")
            yield text_of(block.get("id")), ToolOutput(text, has_failed)


def _session_usage(session: Record) -> ModelCall | None:
    """Return the tokens of the entire session. Goose records no finer figures, and nothing about caches."""
    used, output = (
        count_of(session.get("accumulated_input_tokens")),
        count_of(session.get("accumulated_output_tokens")),
    )
    if not used and not output:
        return None
    id, config = text_of(session.get("id")), fields_of(document(session.get("model_config_json")))
    at_ms = time_ms(session.get("updated_at"))
    return ModelCall(id, text_of(config.get("model_name")), at_ms, used, output, is_partial=True)


reader = Reader(
    "goose", "Goose", find, read, resume=Resume(("goose", "session", "--resume", "--session-id", "{id}"))
)
