"""The former database of Kiro's command line: one document per conversation, with its directory as the key."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import ConversationHeader, Piece, Role, Turn
from ..formats.blocks import ToolOutput, Use
from ..formats.databases import NOT_JSON, DatabaseProgress, columns, document
from ..formats.pieces import whole
from ..formats.values import fields_of, fingerprint, records_of, text_of, time_ms


def read_conversations(
    connection: sqlite3.Connection, path: Path, progress: DatabaseProgress
) -> Iterator[Piece]:
    if not {"key", "conversation_id", "value"} <= columns(connection, "conversations_v2"):
        return
    rows = connection.execute(
        "SELECT key, conversation_id, value FROM conversations_v2 ORDER BY conversation_id"
    )
    progress.is_complete = True
    for directory, id, value in rows.fetchall():
        if not progress.is_new(str(id), fingerprint(directory, value)):
            continue
        data = document(value)
        if not isinstance(data, dict):
            progress.skipped[NOT_JSON] += 1
            continue
        skipped: Counter[str] = Counter()
        header = ConversationHeader(str(id), f"{path}#conversations_v2/{id}", directory=text_of(directory))
        piece = whole(header, list(_turns(data, skipped)), skipped, cursor=None)
        if piece.turns:
            yield piece


def _turns(data: dict[str, Any], skipped: Counter[str]) -> Iterator[Turn]:
    exchanges = list(records_of(data.get("history")))
    outputs = dict(output for exchange in exchanges for output in _outputs(fields_of(exchange.get("user"))))
    for n, exchange in enumerate(exchanges):
        user, assistant = fields_of(exchange.get("user")), fields_of(exchange.get("assistant"))
        prompt = fields_of(fields_of(user.get("content")).get("Prompt"))
        at_ms = time_ms(user.get("timestamp"))
        yield Turn(f"{n}/user", Role.USER, text_of(prompt.get("prompt")), at_ms)
        match assistant:
            case {"Response": response}:
                yield _answer(n, fields_of(response), outputs)
            case {"ToolUse": use}:
                yield _answer(n, fields_of(use), outputs)
            case {}:
                if assistant:
                    skipped["unknown kind of answer"] += 1


def _outputs(user: dict[str, Any]) -> Iterator[tuple[str, ToolOutput]]:
    """Yield the results of tools, which are in the place of the next prompt."""
    results = fields_of(fields_of(user.get("content")).get("ToolUseResults"))
    for result in records_of(results.get("tool_use_results")):
        parts = [result_text(part) for part in records_of(result.get("content"))]
        has_failed = text_of(result.get("status")).lower() == "error"
        text = "\n".join(filter(None, parts)) or ("failed" if has_failed else "")
        yield text_of(result.get("tool_use_id")), ToolOutput(text, has_failed)


def result_text(part: dict[str, Any]) -> str:
    """Return the text of a part of a result: a text, or the output of a command."""
    value = part.get("Text") or part.get("Json") or part.get("data")
    printed = fields_of(value)
    streams = (text_of(printed.get(name)) for name in ("stdout", "stderr"))
    return text_of(value) or "\n".join(filter(None, streams)) or (json.dumps(value) if value else "")


def _answer(n: int, data: dict[str, Any], outputs: dict[str, ToolOutput]) -> Turn:
    calls = tuple(
        Use(text_of(use.get("id")), text_of(use.get("name")), fields_of(use.get("args"))).call(outputs)
        for use in records_of(data.get("tool_uses"))
    )
    return Turn(
        text_of(data.get("message_id")) or f"{n}/answer",
        Role.ASSISTANT,
        text_of(data.get("content")),
        calls=calls,
    )
