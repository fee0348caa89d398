"""Only regular files are opened, whatever else lies among the histories."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest

from backstory.readers.formats import files
from backstory.readers.formats.files import open_regular, read_regular, read_text

READERS = Path(files.__file__).resolve().parents[1]


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
@pytest.mark.parametrize(
    "kind", ["pipe", "socket", "device", "directory", "link to a pipe", "link to a device"]
)
def test_what_is_no_regular_file_is_an_error_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "log.jsonl"
    os.mkfifo(tmp_path / "pipe")
    match kind:
        case "pipe" | "link to a pipe":
            path.symlink_to(tmp_path / "pipe") if "link" in kind else os.mkfifo(path)
        case "socket":
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(os.path.relpath(path))
        case "device":
            path = Path(os.devnull)
        case "link to a device":
            path.symlink_to("/dev/zero")
        case _:
            path.mkdir()
    for read in (open_regular, read_regular, read_text):
        with pytest.raises(OSError, match=r"regular|directory|device"):
            read(path)


def test_a_regular_file_is_read_also_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"one\r\n\xfftwo")
    (tmp_path / "link").symlink_to("log")
    assert read_regular(tmp_path / "link") == b"one\r\n\xfftwo"
    assert read_text(tmp_path / "link") == "one\n\ufffdtwo"


def test_a_file_that_is_too_large_is_not_read_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 3)
    (tmp_path / "log").write_bytes(b"1234")
    with pytest.raises(OSError, match="1 GiB"):
        read_regular(tmp_path / "log")


def test_readers_open_files_in_no_other_way() -> None:
    other = re.compile(r"\.read_bytes\(|\.read_text\(|(?<!os)(?<!archive)\.open\(|(?<!archive\.)\bopen\(")
    offenders = [
        f"{path.relative_to(READERS)}:{number}"
        for path in READERS.rglob("*.py")
        if path.name != "files.py"
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if other.search(line) and "def " not in line
    ]
    assert offenders == []
