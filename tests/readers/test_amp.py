"""Amp."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backstory.readers import Cursor, Form, Source, load_readers

from .golden import check_golden, read, sources

reader = load_readers(["amp"])["amp"]


def test_a_home_reads_as_expected(request: pytest.FixtureRequest) -> None:
    check_golden("amp", request)


def thread(tmp_path: Path, content: Any) -> Source:
    path = tmp_path / "T-1.json"
    path.write_text(json.dumps(content))
    return Source(path, Form.DOCUMENT)


def test_threads_are_found_in_the_named_data_home_in_windows_and_in_roots(tmp_path: Path) -> None:
    bases = ("usual/.local/share/amp", "data/amp", "windows/.local/share/amp", "root")
    for base in bases:
        (tmp_path / base / "threads").mkdir(parents=True)
        (tmp_path / base / "threads/T-1.json").write_text("{}")
        (tmp_path / base / "threads/notes.json").write_text("{}")
    found = sources(
        reader,
        tmp_path / "usual",
        environment={"XDG_DATA_HOME": str(tmp_path / "data")},
        windows_homes=(tmp_path / "windows",),
        roots={"amp": (tmp_path / "root",)},
    )
    assert {source.path for source in found} == {tmp_path / base / "threads/T-1.json" for base in bases}


def test_an_empty_or_odd_thread_says_nothing(tmp_path: Path) -> None:
    odd: list[Any] = [{}, [], {"messages": [7, {"role": "user", "content": [7, {"type": "image"}]}]}]
    for content in odd:
        [piece] = reader.read(thread(tmp_path, content), Cursor())
        assert (list(piece.turns), piece.header.native_id) == ([], "T-1")


def test_results_of_tools_are_not_said_by_the_user(tmp_path: Path) -> None:
    result = {"type": "tool_result", "toolUseID": "1", "run": {"status": "done", "result": "x"}}
    messages = [
        {"role": "user", "content": [result]},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
    ]
    [conversation] = read(reader, thread(tmp_path, {"messages": messages})).values()
    assert [turn.text for turn in conversation.turns.values()] == ["hi"]
