"""claude-mem: observations and summaries of Claude Code's sessions, in SQLite.

Its prompts are those of Claude Code's own history. They are imported only if that was not read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...readers import Places
from ...readers.formats.paths import homes
from ..archives import Prompt, prompt_log
from ..contents import ForeignMemory, ForeignSession, Record, UnplacedRecords, category_of
from ..stores import store_importer
from ..tables import Row, Tables, by, sqlite_tables

NAME = "claude-mem"
_SUMMARY = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def find(places: Places) -> Iterator[Path]:
    named = places.environment.get("CLAUDE_MEM_DATA_DIR", "")
    for folder in [Path(named)] if named else [home / ".claude-mem" for home in homes(places)]:
        yield folder / "claude-mem.db"


def read(path: Path) -> Iterator[Record]:
    with sqlite_tables(path, "observations.memory_session_id", "sdk_sessions") as tables:
        yield from (_session(row) for row in tables("sdk_sessions"))
        yield from (_observation(row) for row in tables("observations"))
        yield from (_summary(row) for row in tables("session_summaries"))
        yield from _prompts(tables, path)
        for table, kind in (("tool_uses", "tool uses"), ("pending_messages", "pending messages")):
            if times := sum(1 for _ in tables(table)):
                yield UnplacedRecords(kind, "raw traffic without an observation", times)


def _session(row: Row) -> ForeignSession:
    started_at = row.time("started_at_epoch", "started_at")
    return ForeignSession(
        place=_session_place(row.text("memory_session_id") or row.text("content_session_id")),
        name=(row.text("custom_title") or row.text("user_prompt") or "claude-mem session").split("\n")[0][
            :100
        ],
        created_at=started_at,
        updated_at=row.time("completed_at_epoch", "completed_at", default=started_at),
        project=row.text("project"),
    )


def _session_place(id: str) -> str:
    return f"sdk_sessions/{id}"


def _observation(row: Row) -> ForeignMemory:
    parts = [row.text("title"), row.text("subtitle"), row.text("narrative", "text")]
    facts = [f"- {fact}" for fact in row.texts("facts")]
    kind = row.text("type")
    files = {name: list(row.texts(name)) for name in ("files_read", "files_modified") if row.texts(name)}
    return _memory(
        row,
        "observations",
        "\n".join(filter(None, (*parts, *facts))),
        category=category_of(kind),
        tags=row.texts("concepts"),
        metadata={"type": kind, **files},
    )


def _summary(row: Row) -> ForeignMemory:
    lines = [
        f"{name.replace('_', ' ').capitalize()}: {row.text(name)}" for name in _SUMMARY if row.text(name)
    ]
    return _memory(row, "summaries", "\n".join(lines), category="summary", tags=(), metadata={})


def _memory(
    row: Row,
    kind: str,
    text: str,
    *,
    category: str | None,
    tags: tuple[str, ...],
    metadata: Mapping[str, Any],
) -> ForeignMemory:
    created_at = row.time("created_at_epoch", "created_at")
    return ForeignMemory(
        kind=kind,
        # row ids are plain numbers; the time distinguishes rows of two machines
        place=f"{kind}/{row.id('id')}/{row.id('created_at_epoch')}",
        text=text,
        created_at=created_at,
        updated_at=created_at,
        project=row.text("merged_into_project", "project"),
        session=_session_place(row.text("memory_session_id")),
        category=category,
        tags=tags,
        metadata=metadata,
    )


def _prompts(tables: Tables, path: Path) -> Iterator[Record]:
    sessions = {row.text("content_session_id"): row for row in tables("sdk_sessions")}
    for id, rows in by(tables("user_prompts"), "content_session_id").items():
        prompts = [
            Prompt(
                row.id("prompt_number") or row.id("id"),
                row.text("prompt_text"),
                row.time("created_at_epoch", "created_at"),
            )
            for row in sorted(rows, key=lambda row: row.number("prompt_number"))
        ]
        project = sessions[id].text("project") if id in sessions else ""
        yield prompt_log(
            NAME, id, prompts, source=f"{path}#{id}", project=project, assistants=("claude-code",)
        )


importer = store_importer(NAME, "claude-mem", read=read, find=find, names=("claude-mem.db", "*.db"))
