"""OpenMemory (by mem0): memories in SQLite, with their categories and the app that saved each one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...readers import Places
from ..contents import ForeignMemory, Record
from ..stores import store_importer
from ..tables import Row, by, sqlite_tables

NAME = "openmemory"
FILE = "openmemory.db"


def find(places: Places) -> Iterator[Path]:
    """Yield possible locations. It runs in a container whose folder is a checkout."""
    for project in places.projects:
        yield from (project / inner / FILE for inner in (".", "api", "openmemory/api"))


def read(path: Path) -> Iterator[Record]:
    with sqlite_tables(path, "memories.state", "apps") as tables:
        apps = {row.id("id"): row.text("name") for row in tables("apps")}
        users = {row.id("id"): row.text("user_id", "name") for row in tables("users")}
        names = {row.id("id"): row.text("name") for row in tables("categories")}
        filed = by(tables("memory_categories"), "memory_id")
        for row in tables("memories"):
            tags = [names.get(each.id("category_id"), "") for each in filed.get(row.id("id"), ())]
            about = {"app": apps.get(row.id("app_id"), ""), "user": users.get(row.id("user_id"), "")}
            yield _memory(row, tuple(filter(None, tags)), about)


def _memory(row: Row, tags: tuple[str, ...], about: dict[str, str]) -> ForeignMemory:
    created_at = row.time("created_at")
    return ForeignMemory(
        kind="memories",
        place=f"memories/{row.id('id').replace('-', '')}",
        text=row.text("content"),
        created_at=created_at,
        updated_at=row.time("updated_at", default=created_at),
        tags=tags,
        metadata={**row.object("metadata"), **{name: value for name, value in about.items() if value}},
        is_deleted=row.text("state") not in ("", "active"),
    )


importer = store_importer(NAME, "OpenMemory", read=read, find=find, names=(FILE, "*.db"))
