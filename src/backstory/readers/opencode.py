"""OpenCode: its database and, from before 1.2, its files; and what `opencode export` writes.

All three hold the same records: a session, messages, and the parts of each message.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from . import (
    LONGEST_ERROR,
    Cursor,
    Form,
    Header,
    Kind,
    Piece,
    Places,
    Reader,
    Role,
    Source,
    Standing,
    ToolCall,
    Turn,
)
from .formats.databases import Progress, columns, document, fingerprint, open_database
from .formats.documents import read_beside, read_document
from .formats.noise import shortened, without_payloads
from .formats.paths import data_home, path_of
from .formats.pieces import whole
from .formats.touched import tool_call
from .formats.values import fields_of, items_of, records_of, text_of, time_ms

NOT_JSON = "not JSON"
UNNAMED = ("New session - ", "Child session - ")
TIMES = ("time_created", "time_updated")

Record = dict[str, Any]
Exchange = tuple[Record, list[Record]]
"""A message and its parts."""


def find(places: Places) -> Iterator[Source]:
    roots = [data_home(places) / "opencode"]
    roots += [home / ".local" / "share" / "opencode" for home in places.windows_homes]
    databases = [path for root in roots for path in sorted(root.glob("opencode*.db"))]
    if told := places.environment.get("OPENCODE_DB", ""):
        databases.append(roots[0] / told)  # an absolute path stays what it is
    named = places.roots.get("opencode", ())
    databases += [path for root in named for path in sorted(root.glob("*.db"))]
    yield from (Source(path, Form.DATABASE) for path in dict.fromkeys(databases) if path.is_file())
    for root in (*roots, *named):
        yield from (Source(path, Form.DOCUMENT) for path in sorted(root.glob("storage/session/*/*.json")))
    for root in named:
        yield from (Source(path, Form.DOCUMENT) for path in sorted(root.glob("*.json")))


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    return (
        _read_database(source.path, Progress(cursor))
        if source.form is Form.DATABASE
        else _read_file(source.path)
    )


def _read_database(path: Path, progress: Progress) -> Iterator[Piece]:
    with open_database(path) as connection:
        yield from progress.with_cursor(_read_sessions(connection, path, progress))


def _read_sessions(connection: sqlite3.Connection, path: Path, progress: Progress) -> Iterator[Piece]:
    if not {"id", "session_id", "data"} <= columns(connection, "message"):
        return
    for session in _sessions(connection):
        id = text_of(session["id"])
        if not progress.is_new(id, _version(connection, session)):
            continue
        skipped: Counter[str] = Counter()
        exchanges = _exchanges(connection, id, skipped)
        if piece := _piece(f"{path}#session/{id}", session, exchanges, skipped):
            yield piece


def _sessions(connection: sqlite3.Connection) -> list[Record]:
    known = columns(connection, "session")
    wanted = [name for name in ("id", "parent_id", "directory", "title", *TIMES) if name in known]
    if "id" not in wanted:
        return []
    rows = connection.execute(f"SELECT {', '.join(wanted)} FROM session ORDER BY id")
    return [dict(zip(wanted, row, strict=True)) for row in rows]


def _version(connection: sqlite3.Connection, session: Record) -> str:
    """Another one when a message or a part is added or changed."""
    versions: list[Any] = list(session.values())
    for table in ("message", "part"):
        known = columns(connection, table)
        if "session_id" in known:
            newest = next((f"MAX({name})" for name in reversed(TIMES) if name in known), "NULL")
            query = f"SELECT COUNT(*), {newest} FROM {table} WHERE session_id = ?"
            versions += connection.execute(query, (session["id"],)).fetchone()
    return fingerprint(*versions)


def _exchanges(connection: sqlite3.Connection, session: str, skipped: Counter[str]) -> Iterator[Exchange]:
    order = "time_created, id" if "time_created" in columns(connection, "message") else "id"
    messages = connection.execute(
        f"SELECT id, data FROM message WHERE session_id = ? ORDER BY {order}", (session,)
    )
    for id, data in messages:
        message = document(data)
        if not isinstance(message, dict):
            skipped[NOT_JSON] += 1
            continue
        parts = []
        for part_id, part_data in connection.execute(
            "SELECT id, data FROM part WHERE message_id = ? ORDER BY id", (id,)
        ):
            part = document(part_data)
            if isinstance(part, dict):
                parts.append({**part, "id": part_id})
            else:
                skipped[NOT_JSON] += 1
        yield {**message, "id": id}, parts


def _read_file(path: Path) -> Iterator[Piece]:
    told = fields_of(read_document(path))
    skipped: Counter[str] = Counter()
    if "messages" in told:
        told_messages = records_of(told["messages"])
        exchanges = [
            (fields_of(each.get("info")), list(records_of(each.get("parts")))) for each in told_messages
        ]
        piece = _piece(str(path), fields_of(told.get("info")), sorted(exchanges, key=_order), skipped)
    else:
        piece = _piece(str(path), told, _filed(path.parents[2], text_of(told.get("id")), skipped), skipped)
    if piece:
        # The database, if there is one, took this over and went on with it.
        yield piece._replace(header=piece.header._replace(standing=Standing.REPLAY), cursor=Cursor())


def _filed(storage: Path, session: str, skipped: Counter[str]) -> list[Exchange]:
    """The messages and parts of a session that are files of their own."""
    exchanges = []
    for message in _files(storage / "message" / session, skipped) if session else ():
        id = text_of(message.get("id"))
        exchanges.append((message, list(_files(storage / "part" / id, skipped)) if id else []))
    return sorted(exchanges, key=_order)


def _files(directory: Path, skipped: Counter[str]) -> Iterator[Record]:
    for path in sorted(directory.glob("*.json")):
        told = read_beside(path)
        if isinstance(told, dict):
            yield told
        else:
            skipped[NOT_JSON] += 1


def _order(exchange: Exchange) -> tuple[int, str]:
    message, _ = exchange
    return time_ms(fields_of(message.get("time")).get("created")) or 0, text_of(message.get("id"))


def _piece(
    source: str, session: Record, exchanges: Iterable[Exchange], skipped: Counter[str]
) -> Piece | None:
    turns: list[Turn] = []
    folder = ""
    for message, parts in exchanges:
        folder = folder or text_of(fields_of(message.get("path")).get("cwd"))
        if turn := turn_of(message, parts):
            turns.append(turn)
    id = text_of(session.get("id"))
    if not turns or not id:
        return None
    times = fields_of(session.get("time"))
    title = text_of(session.get("title"))
    parent = text_of(session.get("parent_id")) or text_of(session.get("parentID"))
    header = Header(
        id,
        source,
        title="" if title.startswith(UNNAMED) else title,
        directory=text_of(session.get("directory")) or folder,
        kind=Kind.SUBAGENT if parent else Kind.MAIN,
        parent=parent or None,
        started_ms=time_ms(session.get("time_created")) or time_ms(times.get("created")),
        ended_ms=time_ms(session.get("time_updated")) or time_ms(times.get("updated")),
    )
    return whole(header, turns, skipped, cursor=None)


def turn_of(message: Mapping[str, Any], parts: list[Record]) -> Turn | None:
    """A message with its parts, in the order of their ids, which is that of time."""
    parts = sorted(parts, key=lambda part: text_of(part.get("id")))
    texts = [part for part in parts if part.get("type") == "text" and not part.get("ignored")]
    said = [part for part in texts if not part.get("synthetic")]
    calls = tuple(call for part in parts if (call := _call(part)))
    thinking = _joined(part for part in parts if part.get("type") == "reasoning")
    if message.get("role") == "assistant":
        role = Role.SUMMARY if message.get("summary") is True else Role.ASSISTANT
        text = _joined(texts)
    elif message.get("role") == "user":
        role = Role.USER if said else Role.SYSTEM
        text = _joined(said or texts)
    else:
        return None
    if not (text or thinking or calls):
        return None
    at_ms = time_ms(fields_of(message.get("time")).get("created"))
    model = text_of(message.get("modelID")) if message.get("role") == "assistant" else ""
    return Turn(text_of(message.get("id")), role, text, at_ms, thinking, calls, model)


def _joined(parts: Iterable[Record]) -> str:
    texts = (without_payloads(text_of(part.get("text"))).strip() for part in parts)
    return "\n\n".join(filter(None, texts))


def _call(part: Record) -> ToolCall | None:
    match part.get("type"):
        case "tool":
            state = fields_of(part.get("state"))
            return tool_call(text_of(part.get("tool")), state.get("input"), _error(state))
        case "patch":
            return ToolCall("", writes=tuple(map(text_of, items_of(part.get("files")))))
        case "file":
            path = path_of(fields_of(part.get("source")).get("path")) or path_of(part.get("url"))
            return ToolCall("", reads=(path,)) if path else None
    return None


def _error(state: Mapping[str, Any]) -> str:
    """What a failed tool said, or what a command printed that ended with an error."""
    if state.get("status") == "error":
        return shortened(text_of(state.get("error")) or "failed", LONGEST_ERROR)
    if fields_of(state.get("metadata")).get("exit") not in (None, 0):
        return shortened(text_of(state.get("output")) or "failed", LONGEST_ERROR)
    return ""


reader = Reader("opencode", "OpenCode", find, read)
