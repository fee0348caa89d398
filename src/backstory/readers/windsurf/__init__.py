"""Windsurf, as far as its files are readable.

Conversations are encrypted files; they are listed, and marked as encrypted. Readable are a cache of the last
conversation shown in each workspace, ids and titles of the others, plans, and transcripts that a hook writes if the
user enabled it. The cache contains a different conversation tomorrow: a conversation that is missing from it was not
necessarily deleted."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .. import (
    ConversationHeader,
    Cursor,
    Form,
    Piece,
    Places,
    Reader,
    Role,
    Source,
    ToolCall,
    Turn,
    WitnessRank,
)
from ..formats.bubbles import CHAT_KEY, read_tabs
from ..formats.databases import DatabaseProgress, document, item, read_database
from ..formats.files import open_regular, read_text
from ..formats.lines import OBJECTS, read_records
from ..formats.noise import without_payloads
from ..formats.paths import editor_directories, homes, path_of, workspace_folder
from ..formats.pieces import whole
from ..formats.touched import tool_call
from ..formats.values import fields_of, fingerprint, text_of, time_ms
from .trajectories import TrajectorySummary, summaries_in, trajectory_in

EDITORS = ("Windsurf", "Windsurf - Next", "Windsurf Next", "Devin")
DATABASE = "state.vscdb"
STATE_KEY = "codeium.windsurf"
CHAT_KEYS = (CHAT_KEY, "cascade.chatdata", "windsurf.chatSessionStore")
TRAJECTORY = "windsurf.state.cachedActiveTrajectory:"
SUMMARIES = "windsurf.state.cachedTrajectorySummaries:"
UNCLEAR = "trajectory of unknown form"
UNKNOWN = "step of unknown type"


def find(places: Places) -> Iterator[Source]:
    named = places.roots.get("windsurf", ())
    for user in (*named, *editor_directories(places, *EDITORS)):
        for pattern in (f"globalStorage/{DATABASE}", f"workspaceStorage/*/{DATABASE}"):
            yield from (Source(path, Form.DATABASE) for path in sorted(user.glob(pattern)))
    for home in homes(places):
        for pattern in (
            ".windsurf/transcripts/*.jsonl",
            ".codeium/windsurf*/cascade/*.pb",
            ".codeium/cascade/*.pb",
        ):
            yield from (Source(path, Form.DOCUMENT) for path in sorted(home.glob(pattern)))


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    if source.form is Form.DATABASE:
        is_workspace = source.path.parent.parent.name == "workspaceStorage"
        return read_database(source.path, cursor, _read_chats if is_workspace else _read_state)
    return _read_encrypted(source.path) if source.path.suffix == ".pb" else _read_transcript(source.path)


def _read_encrypted(path: Path) -> Iterator[Piece]:
    header = ConversationHeader(
        path.stem,
        str(path),
        ended_ms=path.stat().st_mtime_ns // 1_000_000,
        completeness="encrypted",
        standing=WitnessRank.PROMPTS,
    )
    yield Piece(header, (), Cursor())


def _read_chats(connection: sqlite3.Connection, path: Path, progress: DatabaseProgress) -> Iterator[Piece]:
    folder = workspace_folder(path.parent).path
    for key in CHAT_KEYS:
        yield from read_tabs(item(connection, key), f"{path}#{key}", folder, progress)


def _read_state(connection: sqlite3.Connection, path: Path, progress: DatabaseProgress) -> Iterator[Piece]:
    state = fields_of(document(item(connection, STATE_KEY)))
    summaries: dict[str, tuple[TrajectorySummary, str]] = {}
    for key, value in state.items():
        if key.startswith(SUMMARIES):
            summaries |= {each.id: (each, key.removeprefix(SUMMARIES)) for each in summaries_in(value)}
    visible = set()
    for key, value in state.items():
        if not key.startswith(TRAJECTORY) or not value:
            continue
        trajectory = trajectory_in(value)
        if trajectory is None:
            progress.skipped[UNCLEAR] += 1
            continue
        id, turns = trajectory
        if not turns or _beside_home(path, f".windsurf/transcripts/{id}.jsonl"):
            continue  # the hook's transcript is complete, and its schema is published
        visible.add(id)
        summary, _ = summaries.get(id, (TrajectorySummary(id, "", "", ()), ""))
        if progress.is_new(id, fingerprint(value, repr(summary))):
            workspace = key.removeprefix(TRAJECTORY)
            header = _header(summary, workspace, path)
            known = header._replace(completeness="cache", standing=WitnessRank.OWN)
            yield whole(known, turns, cursor=None)
    for id, (summary, workspace) in summaries.items():
        plan = _plan(path, id)
        if id not in visible and progress.is_new(
            id, fingerprint(repr(summary), *(turn.text for turn in plan))
        ):
            yield whole(_header(summary, workspace, path), plan, cursor=None)._replace(is_whole=False)


def _header(summary: TrajectorySummary, workspace: str, path: Path) -> ConversationHeader:
    """Return the header of a conversation whose text is encrypted, unless something better is known."""
    is_name = workspace and "/" not in workspace and not workspace.startswith(".")
    storage = path.parent.parent / "workspaceStorage" / workspace
    return ConversationHeader(
        summary.id,
        f"{path}#{STATE_KEY}/{summary.id}",
        title=summary.title,
        directory=summary.folder or (workspace_folder(storage).path if is_name else ""),
        started_ms=min(summary.times, default=None),
        ended_ms=max(summary.times, default=None),
        completeness="encrypted",
        standing=WitnessRank.REPLAY,
    )


def _plan(path: Path, id: str) -> tuple[Turn, ...]:
    """Return the plan that the assistant wrote for a conversation, which is not encrypted."""
    plan = _beside_home(path, f".codeium/windsurf/brain/{id}/plan.md")
    text = read_text(plan).strip() if plan else ""
    return (Turn("plan", Role.ASSISTANT, without_payloads(text)),) if text else ()


def _beside_home(path: Path, inside: str) -> Path | None:
    """Find a file in the home directory that contains the editor's own directory, on any platform."""
    return next((file for parent in path.parents if (file := parent / inside).is_file()), None)


def _read_transcript(path: Path) -> Iterator[Piece]:
    """Read one step per line: {"type": "user_input", "user_input": {…}, "status", "timestamp"?}."""
    skipped: Counter[str] = Counter()
    with open_regular(path) as file:
        steps = [step for _, step in read_records(file, OBJECTS, skipped)]
    turns: list[Turn] = []
    for number, step in enumerate(steps):
        kind = text_of(step.get("type"))
        data = fields_of(step.get(kind))
        at_ms = time_ms(step.get("timestamp"))
        if kind == "user_input":
            turns.append(
                Turn(str(number), Role.USER, without_payloads(text_of(data.get("user_response"))), at_ms)
            )
        elif kind == "planner_response":
            turns.append(
                Turn(str(number), Role.ASSISTANT, without_payloads(text_of(data.get("response"))), at_ms)
            )
        elif call := _call(kind, data, step.get("status")):
            if not turns or turns[-1].role is not Role.ASSISTANT:
                turns.append(Turn(str(number), Role.ASSISTANT, "", at_ms))
            turns[-1] = turns[-1]._replace(calls=(*turns[-1].calls, call))
        else:
            skipped[UNKNOWN] += 1
    spoken = [turn for turn in turns if turn.text or turn.calls]
    if spoken:
        yield whole(ConversationHeader(path.stem, str(path)), spoken, skipped)


def _call(kind: str, data: Mapping[str, Any], status: object) -> ToolCall | None:
    """Convert a step that is neither question nor answer to a tool call. `code_action` and `run_command` are known."""
    if not kind or not data:
        return None
    error = text_of(data.get("error")) or ("failed" if status == "error" else "")
    if kind == "code_action":
        return ToolCall(kind, writes=tuple(filter(None, (path_of(data.get("path")),))), error=error)
    return tool_call(kind, data, error)


reader = Reader("windsurf", "Windsurf", find, read)
