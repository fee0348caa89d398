"""Goose: its database, and the logs from before."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from backstory.readers import Cursor, Form, Source, load_readers

from .golden import check_golden
from .goose.make import data, make_home, message

reader = load_readers(["goose"])["goose"]


def test_a_home_reads_as_expected(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    make_home(tmp_path)
    check_golden("goose", request, tmp_path)


def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    make_home(tmp_path)
    source = Source(data(tmp_path) / "sessions.db", Form.DATABASE)
    cursor = list(reader.read(source, Cursor()))[-1].cursor
    assert cursor is not None
    assert list(reader.read(source, cursor)) == []
    db = sqlite3.connect(source.path)
    with db:
        more = message(8, "20260102_1", "user", {"type": "text", "text": "Look again."})
        db.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?)", more)
    db.close()
    (piece,) = reader.read(source, cursor)
    assert (piece.header.native_id, piece.turns[-1].text) == ("20260102_1", "Look again.")
