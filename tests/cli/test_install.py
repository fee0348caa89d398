"""`backstory install` and `uninstall` as people and scripts type them, in throw-away homes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from ..patience import PATIENCE_S
from ..processes import BACKSTORY, Json, environment
from ..typed import typed


@pytest.fixture
def person(tmp_path: Path) -> Path:
    """A home with Cursor and Zed, whose file is not JSON."""
    home = tmp_path / "person"
    (home / ".cursor").mkdir(parents=True)
    (home / ".config" / "zed").mkdir(parents=True)
    (home / ".config" / "zed" / "settings.json").write_text('{"a" 1}')
    return home


def answer(person: Path, *words: str, code: int = 0) -> Json:
    variables = {"HOME": str(person), "PATH": "", "XDG_CONFIG_HOME": str(person / ".config")}
    done = typed(*words, "--json", home=person / "data", **variables)
    assert done.returncode == code, done.stderr + done.stdout
    document: Json = json.loads(done.stdout)
    return document


def test_without_a_name_and_a_terminal_it_only_shows(person: Path) -> None:
    shown = answer(person, "install")
    assert {name for name, is_here in shown["clients"].items() if is_here} == {"cursor", "zed"}
    assert list((person / ".cursor").iterdir()) == []
    assert not (person / "data").exists()


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("answer", [b"\x04", b"n\n"], ids=["the end of input", "no"])
def test_whoever_does_not_agree_gets_nothing(person: Path, answer: bytes) -> None:
    controller, terminal = os.openpty()
    os.write(controller, answer)
    done = subprocess.run(
        [*BACKSTORY, "install"],
        env=environment(person / "data", HOME=str(person), PATH=""),
        stdin=terminal,
        stdout=terminal,
        stderr=subprocess.PIPE,
        timeout=PATIENCE_S,
    )
    os.close(terminal)
    shown = os.read(controller, 8192).decode()
    os.close(controller)
    assert (done.returncode, done.stderr) == (0, b"")
    assert shown.count("Nothing was changed.") == 1
    assert list((person / ".cursor").iterdir()) == []


def test_a_dry_run_without_a_name_shows_what_all_that_are_here_would_get(person: Path) -> None:
    steps = answer(person, "install", "--dry-run", "--no-hooks", code=1)["steps"]
    assert [(step["client"], step["action"]) for step in steps] == [("cursor", "added"), ("zed", "failed")]
    assert list((person / ".cursor").iterdir()) == []


@pytest.mark.parametrize(("flags", "is_told"), [((), True), (("--no-hooks",), False)])
def test_codex_must_trust_hooks_where_there_are_some(
    person: Path, flags: tuple[str, ...], is_told: bool
) -> None:
    done = typed("install", "codex", *flags, home=person / "data", HOME=str(person), PATH="")
    assert ("type /hooks" in done.stdout) is is_told


def test_yes_installs_for_all_that_are_here_and_the_status_tells_of_failures(person: Path) -> None:
    steps = answer(person, "install", "--yes", "--no-hooks", code=1)["steps"]
    assert [(step["client"], step["action"]) for step in steps] == [("cursor", "added"), ("zed", "failed")]
    assert steps[1]["message"] == "line 1, column 6: a colon is expected here"
    entry = json.loads((person / ".cursor" / "mcp.json").read_text())["mcpServers"]["backstory"]
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-2:] == ["--home", str(person / "data")]
    assert answer(person, "uninstall")["installed"] == [{"client": "cursor", "scope": "user", "project": ""}]
    assert [step["action"] for step in answer(person, "uninstall", "--all")["steps"]] == ["removed"]
    assert list((person / ".cursor").iterdir()) == []


def test_a_dry_run_of_a_project_shows_its_file(person: Path, tmp_path: Path) -> None:
    words = (
        "install",
        "claude-code",
        "--scope",
        "project",
        "--dry-run",
        "--no-hooks",
        "--project",
        str(tmp_path),
    )
    steps = answer(person, *words)["steps"]
    assert [step["target"] for step in steps] == [str(tmp_path / ".mcp.json")]
    assert not (tmp_path / ".mcp.json").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("install", "curser"), "There is no client 'curser'.\nDid you mean cursor?"),
        (("install", "cursor", "--surfaces", "none"), "There is no surface 'none'."),
        (("install", "goose", "--scope", "project"), "Goose keeps no servers in a project."),
        (("uninstall", "cursor"), "Backstory was not installed for cursor"),
        (("uninstall", "cursor", "--all"), "--all and names of clients were given."),
    ],
)
def test_a_mistake_is_named_and_changes_nothing(person: Path, words: tuple[str, ...], sentence: str) -> None:
    done = typed(*words, home=person / "data", HOME=str(person), PATH="")
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert list((person / ".cursor").iterdir()) == []


def test_names_and_flags_come_in_any_order(person: Path) -> None:
    steps = answer(person, "install", "cursor", "--no-hooks", "kiro", "--dry-run")["steps"]
    assert [step["client"] for step in steps] == ["cursor", "kiro"]
