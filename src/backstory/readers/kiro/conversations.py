"""The database that Kiro's command line had before: one document for each conversation, with its directory as the key."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import ConversationHeader, Piece, Role, Turn
from ..formats.databases import NOT_JSON, DatabaseProgress, columns, document
from ..formats.pieces import whole
from ..formats.touched import tool_call
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
        told = document(value)
        if not isinstance(told, dict):
            progress.skipped[NOT_JSON] += 1
            continue
        skipped: Counter[str] = Counter()
        header = ConversationHeader(str(id), f"{path}#conversations_v2/{id}", directory=text_of(directory))
        piece = whole(header, list(_turns(told, skipped)), skipped, cursor=None)
        if piece.turns:
            yield piece


def _turns(told: dict[str, Any], skipped: Counter[str]) -> Iterator[Turn]:
    for n, exchange in enumerate(records_of(told.get("history"))):
        user, assistant = fields_of(exchange.get("user")), fields_of(exchange.get("assistant"))
        prompt = fields_of(fields_of(user.get("content")).get("Prompt"))
        at_ms = time_ms(user.get("timestamp"))
        yield Turn(f"{n}/user", Role.USER, text_of(prompt.get("prompt")), at_ms)
        match assistant:
            case {"Response": response}:
                yield _answer(n, fields_of(response))
            case {"ToolUse": use}:
                yield _answer(n, fields_of(use))
            case {}:
                if assistant:
                    skipped["unknown kind of answer"] += 1


def _answer(n: int, told: dict[str, Any]) -> Turn:
    calls = tuple(
        tool_call(text_of(use.get("name")), fields_of(use.get("args")))
        for use in records_of(told.get("tool_uses"))
    )
    return Turn(
        text_of(told.get("message_id")) or f"{n}/answer",
        Role.ASSISTANT,
        text_of(told.get("content")),
        calls=calls,
    )
