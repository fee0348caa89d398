"""Continue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backstory.readers import Cursor, Form, Source, load_readers

from .golden import check_golden, read, sources

reader = load_readers(["continue"])["continue"]


def test_a_home_reads_as_expected(request: pytest.FixtureRequest) -> None:
    check_golden("continue", request)


def session(tmp_path: Path, content: Any) -> Source:
    path = tmp_path / "s.json"
    path.write_text(json.dumps(content))
    return Source(path, Form.DOCUMENT)


def test_sessions_are_found_in_the_named_directory_and_the_list_is_none(tmp_path: Path) -> None:
    for base in ("usual/.continue", "named", "windows/.continue", "root"):
        (tmp_path / base / "sessions").mkdir(parents=True)
        (tmp_path / base / "sessions/s.json").write_text("{}")
        (tmp_path / base / "sessions/sessions.json").write_text("[]")
    found = sources(
        reader,
        tmp_path / "usual",
        environment={"CONTINUE_GLOBAL_DIR": str(tmp_path / "named")},
        windows_homes=(tmp_path / "windows",),
        roots={"continue": (tmp_path / "root",)},
    )
    assert [source.path.name for source in found] == ["s.json"] * 4


def test_what_was_attached_is_not_read(tmp_path: Path) -> None:
    item = {"message": {"role": "user", "content": "look"}, "contextItems": [{"content": "the whole file"}]}
    [conversation] = read(reader, session(tmp_path, {"history": [item]})).values()
    assert [turn.text for turn in conversation.turns.values()] == ["look"]


def test_odd_items_are_passed_over_and_counted(tmp_path: Path) -> None:
    history = [7, {"message": "a text"}, {"message": {"role": "user", "content": ["a", "b"]}}]
    [piece] = reader.read(session(tmp_path, {"history": history}), Cursor())
    assert [turn.text for turn in piece.turns] == ["a\n\nb"]
    assert dict(piece.skipped) == {"unknown role": 1}


def test_no_times_are_invented(tmp_path: Path) -> None:
    [conversation] = read(
        reader, session(tmp_path, {"history": [{"message": {"role": "user", "content": "hi"}}]})
    ).values()
    assert (conversation.header.started_ms, conversation.header.ended_ms) == (None, None)
    assert [turn.at_ms for turn in conversation.turns.values()] == [None]


def test_pictures_in_a_text_are_left_out(tmp_path: Path) -> None:
    picture = "data:image/png;base64," + "QUJD" * 300
    item = {"message": {"role": "user", "content": f"see {picture} there"}}
    [conversation] = read(reader, session(tmp_path, {"history": [item]})).values()
    assert [turn.text for turn in conversation.turns.values()] == ["see  there"]
