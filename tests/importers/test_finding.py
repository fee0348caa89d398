"""Stores are found where their programs keep them, and nothing is imported by looking."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backstory.core import Core
from backstory.domain.errors import InvalidInput, Unreadable
from backstory.importers import Choices, find_stores, load_importers, run_import
from backstory.readers import load_readers

from .invented import STORES, change
from .running import memories, places


def test_every_program_is_under_the_contract() -> None:
    archives = {reader.name for reader in load_readers().values() if reader.is_export}
    assert set(load_importers()) - archives == set(STORES)


def test_stores_in_the_usual_places_are_listed_with_what_they_hold(tmp_path: Path) -> None:
    STORES["memory-keeper"].write(tmp_path / "mcp-data" / "memory-keeper")
    (found,) = find_stores(places(tmp_path))
    assert (found.importer.name, found.path.name, found.problem) == ("memory-keeper", "context.db", "")
    assert found.kinds["items"] == 4
    assert found.size == found.path.stat().st_size


def test_a_client_says_where_its_server_keeps_the_store(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    path = STORES["server-memory"].write(shop)
    entry = {"command": "npx", "env": {"MEMORY_FILE_PATH": str(path)}}
    (tmp_path / ".claude.json").write_text(
        json.dumps({"projects": {"/x": {"mcpServers": {"memory": entry}}}})
    )
    assert [each.path for each in find_stores(places(tmp_path))] == [path]


def test_a_store_that_cannot_be_read_is_listed_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "mcp-data" / "memory-keeper" / "context.db"
    path.parent.mkdir(parents=True)
    path.write_text("no database")
    (found,) = find_stores(places(tmp_path))
    assert "not a SQLite database" in found.problem


def test_without_a_path_the_only_store_is_imported(core: Core, tmp_path: Path) -> None:
    STORES["memory-keeper"].write(tmp_path / ".mcp-data" / "memory-keeper")
    path, _ = run_import(core.engine, "memory-keeper", None, places(tmp_path), Choices())
    assert path == tmp_path / ".mcp-data" / "memory-keeper" / "context.db"
    assert memories(core)


def test_which_of_several_stores_is_meant_must_be_said(core: Core, tmp_path: Path) -> None:
    for folder in ("mcp-data", ".mcp-data"):
        STORES["memory-keeper"].write(tmp_path / folder / "memory-keeper")
    with pytest.raises(InvalidInput, match="several stores"):
        run_import(core.engine, "memory-keeper", None, places(tmp_path), Choices())


@pytest.mark.parametrize(
    ("name", "file", "error"),
    [
        ("mastodon", "x", InvalidInput),
        ("memory-keeper", "missing.db", InvalidInput),
        ("memory-keeper", "text.db", Unreadable),
        ("memory-keeper", "other.db", Unreadable),
        ("memory-keeper", "empty", Unreadable),
        ("server-memory", "text.db", Unreadable),
    ],
)
def test_what_is_no_store_changes_nothing(
    core: Core, tmp_path: Path, name: str, file: str, error: type[Exception]
) -> None:
    (tmp_path / "text.db").write_text("just words")
    (tmp_path / "empty").mkdir()
    STORES["memory-keeper"].write(tmp_path / "keeper").rename(tmp_path / "other.db")
    change(tmp_path / "other.db", "DROP TABLE context_items")
    with pytest.raises(error):
        run_import(core.engine, name, tmp_path / file, places(tmp_path), Choices())
    assert memories(core) == []
