"""Items as CSV (RFC 4180), one per row, for spreadsheets, without history, files and checkpoints.

Values are exact. A leading `=` is not escaped for spreadsheets that treat it as a formula, because importing the file
must yield the saved value. docs/exports.md mentions this."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ....core.export_paths import LARGEST_MB
from ....core.merging import MemoryCopy
from ....domain.errors import Unreadable
from ....domain.records import Memory, Session
from ....domain.when import iso
from .bundle import SessionCopy
from .fields import Fields, ImportProblems, parse
from .ours import read_memory

COLUMNS = (
    "session_id", "session_name", "id", "key", "value", "category", "priority", "channel", "tags", "metadata",
    "private", "created_at", "updated_at",
)  # fmt: skip
OPENING = ",".join(COLUMNS)
FACTS = ("exportedAt", "server")
"""Facts about the export itself. They are extra columns because a table has no other place for them."""

_OURS = {"created_at": "createdAt", "updated_at": "updatedAt"}


def write(parts: Iterable[SessionCopy], about: Mapping[str, Any] | None) -> Iterator[str]:
    facts = [about[name] for name in FACTS] if about else []
    yield ",".join((*COLUMNS, *FACTS[: len(facts)])) + "\r\n"
    for part in parts:
        for item in part.items:
            line = io.StringIO()
            csv.writer(line).writerow([*_row(part.session, item.memory), *facts])
            yield line.getvalue()


def _row(session: Session, memory: Memory) -> list[str | None]:
    return [
        session.id, session.name, memory.id, memory.key, memory.text, memory.category, memory.priority.value,
        memory.channel, json.dumps(memory.tags, ensure_ascii=False),
        json.dumps(dict(memory.metadata), ensure_ascii=False), "true" if memory.private else "false",
        iso(memory.created_at), iso(memory.updated_at),
    ]  # fmt: skip


def read(text: str, surface: str, project: str, report: ImportProblems) -> tuple[SessionCopy, ...]:
    # the default limit of 131,072 would refuse values that we wrote
    csv.field_size_limit(LARGEST_MB * 1_000_000)
    sessions: dict[str, Session] = {}
    items: dict[str, list[MemoryCopy]] = {}
    for row in _rows(text, report):
        session = _session(row, surface, project)
        session = sessions.setdefault(session.id, session)
        items.setdefault(session.id, []).append(
            MemoryCopy(read_memory(row, session, keys=f"keys of {session.id}"))
        )
    return tuple(SessionCopy(_spanning(sessions[id], items[id]), tuple(items[id])) for id in sessions)


def _rows(text: str, report: ImportProblems) -> Iterator[Fields]:
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise Unreadable(f"The file is not CSV: {error}.", hint="Nothing was imported.") from error
    width = len(rows[0]) if rows else 0
    if not rows or tuple(rows[0]) not in (COLUMNS, COLUMNS + FACTS):
        report.problems.append(f"The first row must be {OPENING}.")
        return
    for number, row in enumerate(rows[1:], start=2):
        if not row:
            continue  # a blank line
        if len(row) != width:
            report.problems.append(f"row {number} has {len(row)} columns instead of {width}.")
            continue
        yield Fields(_cells(row, number, report), f"row {number}", report)


def _cells(row: list[str], number: int, report: ImportProblems) -> dict[str, Any]:
    """Convert the cells to the fields of the JSON export. An empty cell is missing, except for an empty value."""
    cells: dict[str, Any] = {
        _OURS.get(name, name): cell or None for name, cell in zip(COLUMNS, row, strict=False)
    }
    cells["value"] = row[COLUMNS.index("value")]
    cells["private"] = {"true": True, "false": False}.get(cells["private"] or "false", cells["private"])
    for name in ("tags", "metadata"):
        try:
            cells[name] = parse(cells[name] or "null", f"row {number}.{name}")
        except Unreadable as error:
            report.problems.append(error.message)
            cells[name] = None
    return cells


def _session(row: Fields, surface: str, project: str) -> Session:
    created_at = row.time("createdAt")
    return Session(
        id=row.text("session_id"),
        name=row.text("session_name", "Imported"),
        project=project,
        surface=surface,
        created_at=created_at,
        updated_at=created_at,
    )


def _spanning(session: Session, items: Iterable[MemoryCopy]) -> Session:
    """Derive the times of a session from its items, because the table does not contain them."""
    created_at = min(item.memory.created_at for item in items)
    return session._replace(created_at=created_at, updated_at=max(item.memory.updated_at for item in items))
