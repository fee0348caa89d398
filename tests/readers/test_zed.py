"""Zed: threads of both versions, compressed and plain, in tables with and without the newer columns."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from backstory.readers import Cursor, Form, Piece, Role, Source, load_readers

from . import golden
from .databases_of import compressed, database
from .zed.make import COLUMNS, ENDED, make_home, threads

reader = load_readers(["zed"])["zed"]


def read(path: Path, cursor: Cursor | None = None) -> list[Piece]:
    return list(reader.read(Source(path, Form.DATABASE), cursor or Cursor()))


def test_a_home(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    make_home(tmp_path)
    golden.check_golden("zed", request, tmp_path)


def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    make_home(tmp_path)
    cursor = read(threads(tmp_path))[-1].cursor
    assert read(threads(tmp_path), cursor) == []
    db = sqlite3.connect(threads(tmp_path))
    with db:
        db.execute("UPDATE threads SET updated_at = '2026-07-20T09:00:02+00:00' WHERE id = 't-old'")
    db.close()
    assert [piece.header.native_id for piece in read(threads(tmp_path), cursor)] == ["t-old"]


def one(tmp_path: Path, kind: str, data: object) -> list[Piece]:
    """A thread in the oldest table."""
    path = tmp_path / f"{len(list(tmp_path.iterdir()))}.db"
    return read(
        database(path, f"CREATE TABLE threads ({COLUMNS});", {"threads": [("t", "S", ENDED, kind, data)]})
    )


def test_columns_may_be_missing(tmp_path: Path) -> None:
    thread = {"messages": [{"User": {"content": [{"Text": "Hi."}]}}]}
    for kind, data in (
        ("zstd", compressed(thread)),
        ("json", json.dumps(thread)),
        ("json", json.dumps(thread).encode()),
    ):
        (piece,) = one(tmp_path, kind, data)
        header = piece.header
        assert (header.title, header.directory, header.started_ms) == ("S", "", None)
        assert header.ended_ms == 1_784_451_602_000
        assert [(turn.id, turn.role, turn.at_ms) for turn in piece.turns] == [("0", Role.USER, None)]
    assert read(database(tmp_path / "none.db", "CREATE TABLE other (x);", {})) == []


@pytest.mark.parametrize(
    "messages",
    [
        7,
        [7, None, [], "Resume"],
        [{"User": 7}, {"Agent": []}, {"role": "user"}],
        [{"Agent": {"content": [7, {"ToolUse": 7}, {"Thinking": 7}, {"Text": 7}], "tool_results": []}}],
        [
            {
                "User": {
                    "content": [{"Mention": {"uri": {}}}, {"Mention": 7}, {"Mention": {"uri": {"File": 7}}}]
                }
            }
        ],
    ],
)
def test_a_thread_may_hold_anything_anywhere(tmp_path: Path, messages: Any) -> None:
    assert one(tmp_path, "json", json.dumps({"messages": messages})) == []


@pytest.mark.parametrize(
    ("kind", "data"), [("zstd", b"x"), ("json", None), ("json", b""), ("new", "?"), ("zstd", "x")]
)
def test_a_thread_that_cannot_be_read_takes_no_other_with_it(tmp_path: Path, kind: str, data: object) -> None:
    good = json.dumps({"messages": [{"User": {"content": [{"Text": "Hi."}]}}]})
    rows = [("a", "S", ENDED, kind, data), ("b", "S", ENDED, "json", good)]
    (piece,) = read(database(tmp_path / "t.db", f"CREATE TABLE threads ({COLUMNS});", {"threads": rows}))
    assert piece.header.native_id == "b"
    assert piece.skipped == {"thread of unknown form": 1}


@pytest.mark.parametrize(
    ("platform", "inside", "environment"),
    [
        ("linux", ".local/share/zed", {}),
        ("linux", "data/zed", {"XDG_DATA_HOME": "{home}/data"}),
        ("linux", "flat/zed", {"FLATPAK_XDG_DATA_HOME": "{home}/flat"}),
        ("darwin", "Library/Application Support/Zed", {}),
        ("win32", "AppData/Local/Zed", {}),
        ("win32", "local/Zed", {"LOCALAPPDATA": "{home}/local"}),
    ],
)
def test_threads_are_found_on_each_platform(
    tmp_path: Path, platform: str, inside: str, environment: dict[str, str]
) -> None:
    path = database(tmp_path / inside / "threads" / "threads.db", "CREATE TABLE threads (id);", {})
    told = {name: value.format(home=tmp_path) for name, value in environment.items()}
    assert [
        source.path for source in golden.sources(reader, tmp_path, environment=told, platform=platform)
    ] == [path]
