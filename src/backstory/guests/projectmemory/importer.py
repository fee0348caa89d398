"""ProjectMemory: texts in one SQLite table of the project it runs in. Its vectors carry no meaning and are ignored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...importers.contents import ForeignMemory, Record
from ...importers.stores import store_importer
from ...importers.tables import sqlite_tables
from ...readers import Places
from ...readers.formats.paths import homes

FILE = ".projectmemory.db"


def find(places: Places) -> Iterator[Path]:
    for folder in (*homes(places), *places.projects):
        yield folder / FILE


def read(path: Path) -> Iterator[Record]:
    with sqlite_tables(path, "context_memory.summary_text") as tables:
        for row in tables("context_memory"):
            at = row.time("timestamp")
            yield ForeignMemory(
                kind="contexts",
                place=f"context_memory/{row.id('id')}",
                text=row.text("summary_text"),
                created_at=at,
                updated_at=at,
            )


importer = store_importer(
    "projectmemory",
    "ProjectMemory",
    read=read,
    find=find,
    names=(FILE, "*.db"),
    has_own_ids=False,
)
