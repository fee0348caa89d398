"""Differences of macOS and Windows, through small stand-ins for what these systems do."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from backstory.store import whole_files
from backstory.store.whole_files import F_FULLFSYNC, REPLACE_WAITS_S, put_in_place, replace_file, sync_file

from ..conftest import open_sqlite


class OpenElsewhere:
    """os.replace on Windows while another program has the file open for a number of attempts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, attempts: int) -> None:
        self.waits: list[float] = []
        self._left = attempts
        self._replace = os.replace
        monkeypatch.setattr(sys, "platform", "win32")
        monkeypatch.setattr(whole_files, "os", SimpleNamespace(**{**vars(os), "replace": self.replace}))
        monkeypatch.setattr(whole_files, "time", SimpleNamespace(sleep=self.waits.append))

    def replace(self, new: Path, path: Path) -> None:
        if self._left:
            self._left -= 1
            raise PermissionError(13, "The process cannot access the file")
        self._replace(new, path)


def test_a_file_that_a_reader_has_open_on_windows_is_replaced_when_it_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "brief").write_text("old")
    (tmp_path / "draft").write_text("new")
    windows = OpenElsewhere(monkeypatch, attempts=2)
    put_in_place(tmp_path / "draft", tmp_path / "brief")
    assert (tmp_path / "brief").read_text() == "new"
    assert windows.waits == list(REPLACE_WAITS_S[:2])


def test_a_file_that_stays_open_on_windows_is_refused_after_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "draft").write_text("new")
    windows = OpenElsewhere(monkeypatch, attempts=100)
    with pytest.raises(PermissionError):
        replace_file(tmp_path / "draft", tmp_path / "brief")
    assert sum(windows.waits) < 1
    assert (tmp_path / "draft").read_text() == "new"


def test_on_macos_a_file_is_synced_past_the_cache_of_the_drive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    fcntl = SimpleNamespace(fcntl=lambda descriptor, command: calls.append(command))
    monkeypatch.setitem(sys.modules, "fcntl", fcntl)
    monkeypatch.setattr(sys, "platform", "darwin")
    with open(tmp_path / "file", "wb") as file:
        sync_file(file.fileno())
    assert calls == [F_FULLFSYNC]


@pytest.mark.parametrize(("platform", "value"), [("darwin", 1), ("linux", 0)])
def test_on_macos_a_commit_waits_for_the_drive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, value: int
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    store = open_sqlite(tmp_path / "store.db")
    try:
        assert [store.database.value(f"PRAGMA {name}") for name in ("fullfsync", "checkpoint_fullfsync")] == [
            value,
            value,
        ]
    finally:
        store.close()
