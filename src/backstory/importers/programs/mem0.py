"""mem0 (the open-source library): its history in SQLite, of which the newest event of each memory tells its text.

Who a memory is of stands in the vector store only. Qdrant's files hold pickles: their words are listed, nothing of them is
run.
"""

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
    """Events stand in the order in which they happened."""
    last = events[-1]
    is_deleted = last.text("event") == "DELETE" or bool(last.number("is_deleted"))
    texts = [event.text("new_memory") for event in events if event.text("new_memory")]
    text = last.text("old_memory") if is_deleted else last.text("new_memory")
    made = events[0].time("created_at")
    speaker = {name: last.text(name) for name in ("role", "actor_id") if last.text(name)}
    return ForeignMemory(
        kind="memories",
        place=f"history/{id}",
        text=text or (texts[-1] if texts else ""),
        created_at=made,
        updated_at=last.time(*_CHANGED, default=made),
        metadata={**owner, **speaker},
        history=tuple(
            Former(
                event.text("new_memory"), None, Priority.NORMAL, None, {}, event.time(*_CHANGED, default=made)
            )
            for event in events[:-1]
            if event.text("new_memory") not in ("", text)
        ),
        is_deleted=is_deleted,
    )


def _messages(tables: Tables, path: Path) -> Iterator[ForeignConversation]:
    """The last raw messages of each scope."""
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
    """By memory, whom it is of, as far as a local vector store beside it tells."""
    owners: dict[str, dict[str, str]] = {}
    for file in sorted(folder.glob("*qdrant*/collection/*/storage.sqlite")):
        with suppress(Unreadable, OSError), open_copy(file) as connection:
            for row in records(connection, "points"):
                words = _words(row.get("point"))
                flags = dict(reversed(list(pairwise(words))))  # of a word that stands twice the first counts
                owners[flags.get("id", "")] = {name: flags[name] for name in _OWNERS if name in flags}
    return owners


def _words(pickled: object) -> list[str]:
    """The texts in a pickle, in their order."""
    if not isinstance(pickled, bytes):
        return []
    try:
        return [argument for _, argument, _ in pickletools.genops(pickled) if isinstance(argument, str)]
    except (ValueError, UnicodeDecodeError):
        return []


importer = store_importer(NAME, "mem0", read=read, find=find, names=("history.db", "*.db"))
