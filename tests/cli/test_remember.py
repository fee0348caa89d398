"""`backstory remember` saves a memory, `backstory export` writes a conversation to a file."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from backstory.store import Store

from ..patience import PATIENCE_S
from ..repositories import git
from ..typed import Typing
from .conftest import CLAUDE, MEMORY


def test_what_is_remembered_is_listed_and_saved_once(typing: Typing, filled: Store, tmp_path: Path) -> None:
    project = str(tmp_path / "kitchen")
    flags = ("--kind", "decision", "--project", project)
    saved = typing.json("remember", "use", "tea for all", *flags)
    assert (saved["text"], saved["kind"], saved["project"], saved["changed"]) == (
        "use tea for all",
        "decision",
        project,
        True,
    )
    assert typing.json("remember", "use tea for all", *flags)["changed"] is False
    assert [each["id"] for each in typing.json("list", "--project", project)["memories"]] == [saved["id"]]
    assert "Remembered: fact" in typing.text("remember", "the kettle is old", "--project", project)


def test_a_memory_is_read_from_standard_input_and_corrects_another(
    typing: Typing, filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("In other words.\n"))
    assert typing.json("remember", "-", "--replaces", MEMORY)["id"] == MEMORY
    shown = typing.json("show", MEMORY)
    assert shown["text"] == "In other words."
    assert len(shown["history"]) == 1


def test_a_file_is_meant_as_the_shell_means_it(
    typing: Typing, filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "shop"
    for path in (project / "till.py", project / "src" / "till.py", project / "src" / "door.py"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("pass")
    git(project, "init", "-q")
    monkeypatch.chdir(project / "src")
    monkeypatch.setenv("BACKSTORY_PROJECT", str(project))
    marked = typing.json("remember", "coins only", "--file", "till.py", "--file", "src/door.py")
    assert marked["files"] == ["src/till.py", "src/door.py"]
    elsewhere = typing.json("remember", "notes too", "--file", "till.py", "--project", str(project))
    assert elsewhere["files"] == ["till.py"]  # from the root of the project that is named


def test_nothing_is_remembered_of_an_empty_text_or_an_unknown_project(typing: Typing, filled: Store) -> None:
    before = typing.json("list")["total"]
    assert "text is empty" in typing.refusal("remember", " ")
    assert "There is no project 'nowhere'" in typing.refusal("remember", "tea", "--project", "nowhere")
    assert typing.json("list")["total"] == before


def test_a_conversation_is_exported_in_the_form_of_its_file(
    typing: Typing, filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "talk.md"
    assert "Wrote" in typing.text("export", CLAUDE, "--output", str(file))
    assert file.read_text("utf-8").startswith("#")
    whole = json.loads(typing.json("export", CLAUDE, "--as", "json", "--output", "-")["text"])
    assert whole["id"] == CLAUDE
    written = Path(typing.json("export", CLAUDE)["file"])
    assert (written.parent, written.suffix) == (tmp_path, ".html")
    assert written.read_text("utf-8").startswith("<!doctype html>")


def test_an_export_never_overwrites_a_file(typing: Typing, filled: Store, tmp_path: Path) -> None:
    file = tmp_path / "mine.md"
    file.write_text("mine")
    assert "exists; nothing was written" in typing.refusal("export", CLAUDE, "--output", str(file))
    assert file.read_text() == "mine"
    assert "cannot be written" in typing.refusal(
        "export", CLAUDE, "--output", str(tmp_path / "none" / "x.md"), status=1
    )


def test_an_export_that_does_not_fit_on_the_disk_leaves_no_part_of_it(tmp_path: Path) -> None:
    pytest.importorskip("resource", reason="the size of files is limited on POSIX only")
    file = tmp_path / "talk.md"
    program = (
        "import resource, sys; from pathlib import Path; from backstory.cli.export import write_new;"
        " resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000)); write_new(Path(sys.argv[1]), 'word ' * 10_000)"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", program, str(file)],
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
    )
    assert "cannot be written: File too large" in done.stderr
    assert not file.exists()
