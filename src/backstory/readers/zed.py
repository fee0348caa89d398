"""Zed: threads in one database, each a JSON document, compressed since 2025. Messages have no times."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..domain.zstd import ZstdDecompressor, ZstdError
from . import (
    ConversationHeader,
    ConversationKind,
    Cursor,
    Form,
    Piece,
    Places,
    Reader,
    Role,
    Source,
    ToolCall,
    Turn,
)
from .formats.blocks import ToolOutput, Use
from .formats.databases import DatabaseProgress, columns, document, read_database
from .formats.noise import without_payloads
from .formats.paths import data_home, path_of
from .formats.pieces import whole
from .formats.values import Value, fields_of, fingerprint, items_of, records_of, text_of, time_ms

UNREADABLE = "thread of unknown form"
UNKNOWN = "message of unknown kind"
INSIDE = ("threads", "threads.db")


def find(places: Places) -> Iterator[Source]:
    programs = [data_home(places) / "zed", places.home / ".var/app/dev.zed.Zed/data/zed"]
    if flatpak := places.environment.get("FLATPAK_XDG_DATA_HOME", ""):
        programs.append(Path(flatpak) / "zed")
    if places.platform == "darwin":
        programs.append(places.home / "Library/Application Support/Zed")
    if places.platform == "win32":
        local = places.environment.get("LOCALAPPDATA", "")
        programs.append((Path(local) if local else places.home / "AppData/Local") / "Zed")
    programs += [home / "AppData/Local/Zed" for home in places.windows_homes]
    programs += places.roots.get("zed", ())
    for program in dict.fromkeys(programs):
        if (path := program.joinpath(*INSIDE)).is_file():
            yield Source(path, Form.DATABASE)


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    return read_database(source.path, cursor, _read_threads)


def _read_threads(connection: sqlite3.Connection, path: Path, progress: DatabaseProgress) -> Iterator[Piece]:
    known = columns(connection, "threads")
    if not {"id", "data"} <= known:
        return
    optional = (
        "summary",
        "updated_at",
        "created_at",
        "data_type",
        "parent_id",
        "folder_paths",
        "folder_paths_order",
    )
    wanted = [name for name in optional if name in known]
    selected = ", ".join(("id", "LENGTH(data)", *wanted))
    rows = connection.execute(f"SELECT {selected} FROM threads ORDER BY id").fetchall()
    progress.is_complete = True
    for id, size, *values in rows:
        if not progress.is_new(str(id), fingerprint(size, *values)):
            continue
        (data,) = connection.execute("SELECT data FROM threads WHERE id = ?", (id,)).fetchone() or (None,)
        row = dict(zip(wanted, values, strict=True))
        thread = fields_of(_thread(data, row.get("data_type")))
        if "messages" not in thread:
            progress.skipped[UNREADABLE] += 1
        elif piece := _piece(str(id), f"{path}#threads/{id}", row, thread):
            yield piece


def _thread(data: Value, kind: object) -> Any:
    if kind == "zstd" and isinstance(data, bytes):
        try:
            return document(ZstdDecompressor().decompress(data))
        except ZstdError:
            return None
    return document(data)


def _piece(id: str, source: str, row: Mapping[str, Any], thread: Mapping[str, Any]) -> Piece | None:
    skipped: Counter[str] = Counter()
    turns = list(_turns(thread, skipped))
    if not turns:
        return None
    snapshots = fields_of(thread.get("initial_project_snapshot")).get("worktree_snapshots")
    tree = next(records_of(snapshots), {})
    parent = text_of(row.get("parent_id"))
    header = ConversationHeader(
        id,
        source,
        title=text_of(thread.get("title")) or text_of(row.get("summary")),
        directory=_folder(row) or text_of(tree.get("worktree_path")),
        kind=ConversationKind.SUBAGENT if parent else ConversationKind.MAIN,
        parent=parent or None,
        branch=text_of(fields_of(tree.get("git_state")).get("current_branch")),
        model=text_of(fields_of(thread.get("model")).get("model")),
        started_ms=time_ms(row.get("created_at")),
        ended_ms=time_ms(row.get("updated_at")) or time_ms(thread.get("updated_at")),
    )
    return whole(header, turns, skipped, cursor=None)


def _folder(row: Mapping[str, Any]) -> str:
    """Return the first folder of the window, in display order."""
    folders = [line for line in text_of(row.get("folder_paths")).split("\n") if line]
    order = [
        int(place) for place in text_of(row.get("folder_paths_order")).split(",") if place.strip().isdecimal()
    ]
    if len(order) == len(folders) and sorted(order) == list(range(len(folders))):
        folders = [folders[order.index(place)] for place in range(len(folders))]
    return folders[0] if folders else ""


def _turns(thread: Mapping[str, Any], skipped: Counter[str]) -> Iterator[Turn]:
    for number, message in enumerate(items_of(thread.get("messages"))):
        match message:
            case {"User": told}:
                turn = _user_turn(str(number), fields_of(told))
            case {"Agent": told}:
                turn = _agent_turn(str(number), fields_of(told))
            case {"role": str(role)}:
                turn = _old_turn(str(number), role, fields_of(message))
            case "Resume":
                continue
            case _:
                skipped[UNKNOWN] += 1
                continue
        if not turn.is_empty:
            yield turn


def _user_turn(number: str, data: Mapping[str, Any]) -> Turn:
    texts, mentioned = [], []
    for part in records_of(data.get("content")):
        texts.append(text_of(part.get("Text")))
        uri = fields_of(part.get("Mention")).get("uri")
        inside = next(iter(fields_of(uri).values()), uri) if isinstance(uri, dict) else uri
        mentioned.append(
            path_of(fields_of(inside).get("abs_path") or fields_of(inside).get("path") or inside)
        )
    reads = tuple(dict.fromkeys(filter(None, mentioned)))
    calls = (ToolCall("", reads=reads),) if reads else ()
    return Turn(text_of(data.get("id")) or number, Role.USER, _join(texts), calls=calls)


def _agent_turn(number: str, data: Mapping[str, Any]) -> Turn:
    texts, thoughts, calls = [], [], []
    results = fields_of(data.get("tool_results"))
    for part in records_of(data.get("content")):
        thought = part.get("Thinking")
        texts.append(text_of(part.get("Text")))
        thoughts.append(text_of(thought) or text_of(fields_of(thought).get("text")))
        if use := fields_of(part.get("ToolUse")):
            calls.append(_call(use, fields_of(results.get(text_of(use.get("id"))))))
    return Turn(number, Role.ASSISTANT, _join(texts), thinking=_join(thoughts), calls=tuple(calls))


def _old_turn(number: str, role: str, data: Mapping[str, Any]) -> Turn:
    """Convert a message in the format used until version 0.2.0."""
    segments = list(records_of(data.get("segments")))
    texts = [text_of(segment.get("text")) for segment in segments if segment.get("type") == "text"]
    thoughts = [text_of(segment.get("text")) for segment in segments if segment.get("type") == "thinking"]
    results = {text_of(each.get("tool_use_id")): each for each in records_of(data.get("tool_results"))}
    calls = tuple(
        _call(use, results.get(text_of(use.get("id")), {})) for use in records_of(data.get("tool_uses"))
    )
    speaker = {"user": Role.USER, "assistant": Role.ASSISTANT}.get(role, Role.SYSTEM)
    return Turn(number, speaker, _join(texts), thinking=_join(thoughts), calls=calls)


def _call(use: Mapping[str, Any], result: Mapping[str, Any]) -> ToolCall:
    tool_use = Use(text_of(use.get("id")), text_of(use.get("name")), use.get("input"))
    return tool_use.answered(_output(result) if result else None)


def _output(result: Mapping[str, Any]) -> ToolOutput:
    content, has_failed = result.get("content"), result.get("is_error") is True
    text = text_of(content) or text_of(fields_of(content).get("Text")) or text_of(result.get("output"))
    return ToolOutput(text or ("failed" if has_failed else ""), has_failed)


def _join(texts: list[str]) -> str:
    return "\n\n".join(filter(None, (without_payloads(text).strip() for text in texts)))


reader = Reader("zed", "Zed", find, read)
