"""mem0 (the open-source library): its history in SQLite. The newest event of each memory contains its text.

The owner of a memory is recorded only in the vector store. Qdrant's files contain pickles: their strings are listed,
and nothing in them is executed."""

from __future__ import annotations

import pickletools
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from ...domain.errors import Unreadable
from ...domain.records import Former, Priority
from ...domain.when import to_ms
from ...readers import ConversationHeader, Piece, Places, Role, Turn
from ...readers.formats.databases import open_copy, records
from ...readers.formats.paths import homes
from ..archives import conversation_of
from ..contents import ForeignConversation, ForeignMemory, Record
from ..stores import store_importer
from ..tables import Row, Tables, by, sqlite_tables

NAME = "mem0"
_OWNERS = ("user_id", "agent_id", "run_id")
_CHANGED = ("updated_at", "created_at")


def find(places: Places) -> Iterator[Path]:
    named = places.environment.get("MEM0_DIR", "")
    for folder in [Path(named)] if named else [home / ".mem0" for home in homes(places)]:
        yield folder / "history.db"


def read(path: Path) -> Iterator[Record]:
    owners = _owners(path.parent)
    with sqlite_tables(path, "history.memory_id") as tables:
        for id, events in by(tables("history"), "memory_id").items():
            yield _memory(id, events, owners.get(id, {}))
        yield from _messages(tables, path)


def _memory(id: str, events: list[Row], owner: Mapping[str, str]) -> ForeignMemory:
    """Convert one memory. Events are in chronological order."""
    last = events[-1]
    is_deleted = last.text("event") == "DELETE" or bool(last.number("is_deleted"))
    texts = [event.text("new_memory") for event in events if event.text("new_memory")]
    text = last.text("old_memory") if is_deleted else last.text("new_memory")
    created_at = events[0].time("created_at")
    speaker = {name: last.text(name) for name in ("role", "actor_id") if last.text(name)}
    return ForeignMemory(
        kind="memories",
        place=f"history/{id}",
        text=text or (texts[-1] if texts else ""),
        created_at=created_at,
        updated_at=last.time(*_CHANGED, default=created_at),
        metadata={**owner, **speaker},
        history=tuple(
            Former(
                event.text("new_memory"),
                None,
                Priority.NORMAL,
                None,
                {},
                event.time(*_CHANGED, default=created_at),
            )
            for event in events[:-1]
            if event.text("new_memory") not in ("", text)
        ),
        is_deleted=is_deleted,
    )


def _messages(tables: Tables, path: Path) -> Iterator[ForeignConversation]:
    """Yield the last raw messages of each scope."""
    for scope, rows in by(tables("messages"), "session_scope").items():
        turns = [
            Turn(
                row.id("id") or str(number),
                Role.USER if row.text("role") == "user" else Role.ASSISTANT,
                row.text("content"),
                to_ms(row.time("created_at")),
            )
            for number, row in enumerate(rows)
            if row.text("content").strip()
        ]
        header = ConversationHeader(scope, f"{path}#{scope}", completeness="partial")
        yield conversation_of(NAME, "conversations", Piece(header, turns), 0)


def _owners(folder: Path) -> dict[str, dict[str, str]]:
    """Map each memory to its owner, as far as a local vector store in the same folder contains it."""
    owners: dict[str, dict[str, str]] = {}
    for file in sorted(folder.glob("*qdrant*/collection/*/storage.sqlite")):
        with suppress(Unreadable, OSError), open_copy(file) as connection:
            for row in records(connection, "points"):
                words = _words(row.get("point"))
                flags = dict(reversed(list(pairwise(words))))  # if a word occurs twice, the first one wins
                owners[flags.get("id", "")] = {name: flags[name] for name in _OWNERS if name in flags}
    return owners


def _words(pickled: object) -> list[str]:
    """Return the strings in a pickle, in order."""
    if not isinstance(pickled, bytes):
        return []
    try:
        return [argument for _, argument, _ in pickletools.genops(pickled) if isinstance(argument, str)]
    except (ValueError, UnicodeDecodeError):
        return []


importer = store_importer(NAME, "mem0", read=read, find=find, names=("history.db", "*.db"))
