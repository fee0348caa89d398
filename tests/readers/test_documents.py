"""Whole JSON files."""

from __future__ import annotations

from pathlib import Path

import pytest

from backstory.domain.errors import Unreadable
from backstory.readers.formats.documents import RETRY_S, read_beside, read_document


def test_a_file_that_is_being_rewritten_is_read_again_after_a_pause(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text('{"half":')
    pauses = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        path.write_text('{"whole": 1}')

    assert read_document(path, pause) == {"whole": 1}
    assert pauses == [RETRY_S]


def test_a_file_that_stays_broken_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text("")
    pauses: list[float] = []
    with pytest.raises(Unreadable, match=r"chat\.json is not JSON"):
        read_document(path, pauses.append)
    assert pauses == [RETRY_S]


def test_a_file_that_is_nested_without_end_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text("[" * 200_000)
    with pytest.raises(Unreadable):
        read_document(path, lambda seconds: None)


def test_a_file_that_is_gone_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_document(tmp_path / "chat.json")


def test_strings_can_be_stored_whatever_was_written(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_bytes(b'\xef\xbb\xbf{"half": "\\ud83d", "whole": "\\ud83d\\ude00", "bytes": "caf\xe9"}')
    assert read_document(path) == {"half": "?", "whole": "😀", "bytes": "caf�"}


def test_a_file_that_only_adds_to_another_may_be_missing_or_broken(tmp_path: Path) -> None:
    assert read_beside(tmp_path / "titles.json") is None
    (tmp_path / "titles.json").write_text("[")
    assert read_beside(tmp_path / "titles.json") is None
