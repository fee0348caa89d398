"""A session of Kiro's editor: one document, below a directory named after the workspace's path in base64."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import ConversationHeader, Cursor, Piece, Role, Turn
from ..formats.blocks import blocks_of, outputs_in, text_in, thinking_in, uses_in
from ..formats.documents import read_document
from ..formats.paths import locate
from ..formats.pieces import whole
from ..formats.values import fields_of, records_of, text_of, time_ms

LIST = "sessions.json"


def read_session(path: Path) -> Piece:
    session = fields_of(read_document(path))
    skipped: Counter[str] = Counter()
    header = ConversationHeader(
        text_of(session.get("sessionId")) or path.stem,
        str(path),
        title=text_of(session.get("title")),
        directory=locate(text_of(session.get("workspaceDirectory")) or _decode(path.parent.name)).path,
        started_ms=time_ms(session.get("dateCreated")),
    )
    return whole(header, list(_turns(session, skipped)), skipped, cursor=Cursor())


def _turns(session: dict[str, Any], skipped: Counter[str]) -> Iterator[Turn]:
    messages = [fields_of(entry.get("message")) for entry in records_of(session.get("history"))]
    contents = [blocks_of(message.get("content")) for message in messages]
    outputs = {id: output for blocks in contents for id, output in outputs_in(blocks).items()}
    for n, (message, blocks) in enumerate(zip(messages, contents, strict=True)):
        match message.get("role"):
            case "user" | "assistant" as role:
                calls = tuple(use.call(outputs) for use in uses_in(blocks))
                thinking = thinking_in(blocks)
                yield Turn(
                    text_of(message.get("id")) or str(n), Role(role), text_in(blocks), None, thinking, calls
                )
            case "system" | "tool":
                continue
            case _:
                skipped["unknown role"] += 1


def _decode(name: str) -> str:
    """Decode a directory name to a path, or return "". Both base64 alphabets are accepted, and `_` as padding."""
    text = name.rstrip("=_").translate(str.maketrans("-_", "+/"))
    try:
        path = base64.b64decode(text + "=" * (-len(text) % 4)).decode("utf-8")
    except (binascii.Error, ValueError):
        return ""
    return path if path.isprintable() else ""
