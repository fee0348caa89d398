"""How the server is started, and that nobody else can read what it keeps."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ..patience import PATIENCE_S
from ..processes import BACKSTORY, environment, run, save, serving

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal and modes of files")


@pytest.mark.parametrize("words", [[], ["serve"], ["serve", "--workers", "2"], ["--workers=2"]])
def test_it_serves_a_client(tmp_path: Path, words: list[str]) -> None:
    with serving(tmp_path, *words) as server:
        assert server.greet()["serverInfo"]["name"] == "backstory"
        assert server.call("save_context", context_text="Lunch is at noon.")["status"] == "success"
    assert server.process.returncode == 0


def test_surfaces_can_be_chosen(tmp_path: Path) -> None:
    with serving(tmp_path, "serve", "--surfaces", "projectmemory") as server:
        server.greet()
        names = {tool["name"] for tool in server.ask("tools/list", {})["tools"]}
    with serving(tmp_path, variables={"BACKSTORY_SURFACES": "projectmemory"}) as server:
        server.greet()
        assert {tool["name"] for tool in server.ask("tools/list", {})["tools"]} == names
    assert "save_context" in names


def test_a_server_without_input_leaves_at_once(tmp_path: Path) -> None:
    done = run(home=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_starting_imports_nothing_that_only_people_need(tmp_path: Path) -> None:
    """Every client window starts a server: what it imports is what everybody waits for."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *BACKSTORY[1:], "serve"],
        env={name: value for name, value in environment(tmp_path).items() if not name.startswith("COVERAGE")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "backstory.server.stdio" in imported
    unwanted = {
        "argparse",
        "difflib",
        "tomllib",
        "numpy",
        "onnxruntime",
        "asyncio",
        "subprocess",
        "http.client",
    }
    assert imported & unwanted == set()


@posix_only
def test_at_a_terminal_it_shows_an_overview(tmp_path: Path) -> None:
    controller, terminal = os.openpty()
    done = subprocess.run(
        BACKSTORY,
        env=environment(tmp_path),
        stdin=terminal,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
    )
    os.close(terminal)
    os.close(controller)
    assert done.returncode == 0
    assert "Usage: backstory COMMAND" in done.stdout
    assert list(tmp_path.iterdir()) == []


@posix_only
def test_data_directory_and_files_are_the_users_alone(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    save(home, "Lunch is at noon.")
    assert run("backup", home=home).returncode == 0
    paths = [home, *home.rglob("*")]
    assert {path.name for path in paths} >= {"home", "store.db", "logs", "backups"}
    for path in paths:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
