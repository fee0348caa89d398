"""Sessions of OpenCode and programs built on it: in a database, in files (before 1.2), and in exports.

All contain the same records: a session, messages, and the parts of each message. From its second version on, a message
is one record in a separate table."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ...domain.usage import ModelCall
from .. import ConversationHeader, ConversationKind, Cursor, Form, Piece, Role, Source, Turn, WitnessRank
from .databases import NOT_JSON, DatabaseProgress, columns, document, listed, read_database
from .documents import read_beside, read_document, stamps
from .opencode_turns import Exchange, Record, message_turn, model_call, turn_of
from .pieces import whole
from .values import fields_of, fingerprint, items_of, records_of, text_of, time_ms

UNNAMED = ("New session - ", "Child session - ")
TIMES = ("time_created", "time_updated")
FIELDS = ("id", "parent_id", "directory", "title", "permission", *TIMES)
MESSAGES = ("message", "part", "session_message")


OLDEST = "info"
"""The directory of sessions in the oldest file format."""
FILED = ("storage/session/*/*.json", "project/*/storage/session/info/*.json")


def find_filed(root: Path) -> Iterator[Source]:
    """Yield the sessions that are files below a program's data."""
    for pattern in FILED:
        for path in sorted(root.glob(pattern)):
            yield Source(path, Form.DOCUMENT, beside=fingerprint(stamps(*_filed_with(path))))


def _filed_with(session: Path) -> Iterator[Path]:
    """Yield the files of a session's messages and their parts, which are written later.

    Directories are named after sessions and messages."""
    storage = _storage(session)
    messages = sorted((storage / "message" / session.stem).glob("*.json"))
    yield from messages
    if session.parent.name == OLDEST:
        yield from sorted((storage / "part" / session.stem).rglob("*.json"))
    else:
        for message in messages:
            yield from sorted((storage / "part" / message.stem).glob("*.json"))


def _storage(session: Path) -> Path:
    return session.parents[1] if session.parent.name == OLDEST else session.parents[2]


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    if source.form is Form.DATABASE:
        return read_database(source.path, cursor, _read_sessions)
    return _read_file(source.path)


def _read_sessions(connection: sqlite3.Connection, path: Path, progress: DatabaseProgress) -> Iterator[Piece]:
    tables = [name for name in MESSAGES if {"id", "session_id", "data"} <= columns(connection, name)]
    progress.is_complete = bool(tables) and "id" in columns(connection, "session")
    for session in listed(connection, "session", FIELDS):
        id = text_of(session["id"])
        if not progress.is_new(id, _version(connection, session)):
            continue
        skipped: Counter[str] = Counter()
        exchanges = list(_exchanges(connection, id, skipped)) if "message" in tables else []
        is_second = "session_message" in tables and not exchanges
        messages = list(_messages(connection, id, skipped)) if is_second else []
        turns = [*map(turn_of, exchanges), *map(message_turn, messages)]
        if piece := _piece(f"{path}#session/{id}", session, turns, skipped, _folder(exchanges)):
            answers = [*(message for message, _ in exchanges), *messages]
            yield piece._replace(usage=_usage(answers))


def _version(connection: sqlite3.Connection, session: Record) -> str:
    """Return a version that changes when a message or a part is added or changed."""
    versions: list[Any] = list(session.values())
    for table in MESSAGES:
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


def _messages(connection: sqlite3.Connection, session: str, skipped: Counter[str]) -> Iterator[Record]:
    order = "seq" if "seq" in columns(connection, "session_message") else "id"
    rows = connection.execute(
        f"SELECT id, type, data FROM session_message WHERE session_id = ? ORDER BY {order}", (session,)
    )
    for id, kind, data in rows:
        message = document(data)
        if isinstance(message, dict):
            yield {**message, "id": id, "type": kind}
        else:
            skipped[NOT_JSON] += 1


def _read_file(path: Path) -> Iterator[Piece]:
    record = fields_of(read_document(path))
    skipped: Counter[str] = Counter()
    if "messages" in record:  # an export
        session = fields_of(record.get("info"))
        exported = records_of(record["messages"])
        exchanges = [(fields_of(each.get("info")), list(records_of(each.get("parts")))) for each in exported]
    else:
        session = record
        exchanges = _file_exchanges(path, text_of(record.get("id")), skipped)
    exchanges.sort(key=_order)
    piece = _piece(str(path), session, map(turn_of, exchanges), skipped, _folder(exchanges))
    if piece:
        # If there is a database, it imported this session and continued it.
        yield piece._replace(
            header=piece.header._replace(standing=WitnessRank.REPLAY),
            cursor=Cursor(),
            usage=_usage(message for message, _ in exchanges),
        )


def _file_exchanges(path: Path, session: str, skipped: Counter[str]) -> list[Exchange]:
    """Return the messages of a session and their parts, which are separate files."""
    if not session:
        return []
    storage = _storage(path)
    parts = storage / "part" / session if path.parent.name == OLDEST else storage / "part"
    loose: dict[str, list[Record]] = {}
    for part in _files(parts, skipped):
        loose.setdefault(text_of(part.get("messageID")), []).append(part)
    exchanges = []
    for message in _files(storage / "message" / session, skipped):
        id = text_of(message.get("id"))
        filed = list(_files(parts / id, skipped)) if id else []
        within = [part for part in items_of(message.get("parts")) if isinstance(part, dict)]
        exchanges.append((message, filed or loose.get(id, []) or within))
    return exchanges


def _files(directory: Path, skipped: Counter[str]) -> Iterator[Record]:
    for path in sorted(directory.glob("*.json")):
        document = read_beside(path)
        if isinstance(document, dict):
            yield document
        else:
            skipped[NOT_JSON] += 1


def _usage(messages: Iterable[Record]) -> list[ModelCall]:
    return [call for message in messages if (call := model_call(message)) is not None]


def _order(exchange: Exchange) -> tuple[int, str]:
    message, _ = exchange
    return time_ms(fields_of(message.get("time")).get("created")) or 0, text_of(message.get("id"))


def _folder(exchanges: Iterable[Exchange]) -> str:
    folders = (text_of(fields_of(message.get("path")).get("cwd")) for message, _ in exchanges)
    return next(filter(None, folders), "")


def _piece(
    source: str, session: Record, turns: Iterable[Turn | None], skipped: Counter[str], folder: str
) -> Piece | None:
    spoken = [turn for turn in turns if turn]
    if _is_of_command_line(session):
        spoken = [_unquoted(turn) if turn.role is Role.USER else turn for turn in spoken]
    id = text_of(session.get("id"))
    if not spoken or not id:
        return None
    times = fields_of(session.get("time"))
    title = text_of(session.get("title"))
    title = "" if title.startswith(UNNAMED) else title
    parent = text_of(session.get("parent_id")) or text_of(session.get("parentID"))
    header = ConversationHeader(
        id,
        source,
        title=title,
        directory=text_of(session.get("directory")) or folder,
        kind=ConversationKind.SUBAGENT if parent else ConversationKind.MAIN,
        parent=parent or None,
        started_ms=time_ms(session.get("time_created")) or time_ms(times.get("created")),
        ended_ms=time_ms(session.get("time_updated")) or time_ms(times.get("updated")),
    )
    return whole(header, spoken, skipped, cursor=None)


def _is_of_command_line(session: Record) -> bool:
    """Return whether `opencode run` created the session: it runs unattended, so it denies questions of the model."""
    rules = session.get("permission")
    rules = document(rules) if isinstance(rules, str | bytes) else rules
    return any(
        (rule.get("permission"), rule.get("action")) == ("question", "deny") for rule in records_of(rules)
    )


def _unquoted(turn: Turn) -> Turn:
    """Without the quotation marks that `opencode run` puts around a word of its command line that has a space in it, and
    without the backslash that it puts before those within: the user typed neither."""
    inner = turn.text[1:-1]
    is_quoted = len(turn.text) > 2 and turn.text[0] == turn.text[-1] == '"' and " " in inner
    if not is_quoted or '"' in inner.replace('\\"', "") or inner.endswith("\\"):
        return turn
    return turn._replace(text=inner.replace('\\"', '"').strip())
