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


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_nobody_is_asked_about_memory_files_that_would_stay_empty(tmp_path: Path) -> None:
    home = tmp_path / "ann"
    (home / ".claude").mkdir(parents=True)
    controller, terminal = os.openpty()
    os.write(controller, b"y\nn\ny\n")  # install, do not allow the reading tools, read the histories
    done = subprocess.run(
        [*BACKSTORY, "install"],
        env=environment(home / "data", HOME=str(home), PATH=""),
        stdin=terminal,
        stdout=terminal,
        stderr=subprocess.PIPE,
        timeout=PATIENCE_S,
    )
    os.close(terminal)
    shown = os.read(controller, 16384).decode()
    os.close(controller)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "No conversations of your assistants were found." in shown
    assert "memory files" not in shown


def test_a_machine_without_assistants_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "ann").mkdir()
    done = typed("install", home=tmp_path / "data", HOME=str(tmp_path / "ann"), PATH="")
    assert "No supported assistant was found on this machine." in done.stdout


def test_a_dry_run_without_a_name_shows_what_all_that_are_here_would_get(person: Path) -> None:
    steps = answer(person, "install", "--dry-run", "--no-hooks", code=1)["steps"]
    assert [(step["client"], step["action"]) for step in steps] == [("cursor", "added"), ("zed", "failed")]
    done = typed("install", "--dry-run", "--no-hooks", home=person / "data", HOME=str(person), PATH="")
    assert f"would add  cursor  {person}" in done.stdout
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
        (("install", "goose", "--scope", "project"), "Goose has no configuration file in a project."),
        (("uninstall", "cursor"), "Backstory was not installed for cursor"),
        (("uninstall", "cursor", "--all"), "--all cannot be combined with names of clients."),
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


LINES = [
    {
        "type": "user",
        "uuid": "u1",
        "sessionId": "s1",
        "timestamp": "2026-01-02T03:04:05.000Z",
        "message": {"role": "user", "content": "Which port do we use? Let's go with 9090."},
    },
    {
        "type": "assistant",
        "uuid": "a1",
        "parentUuid": "u1",
        "sessionId": "s1",
        "timestamp": "2026-01-02T03:04:09.000Z",
        "message": {"id": "m1", "role": "assistant", "content": [{"type": "text", "text": "9090 it is."}]},
    },
]


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    """A home of Claude Code with one conversation in a project that is there."""
    home, project = tmp_path / "ann", (tmp_path / "shop").resolve()
    log = home / ".claude" / "projects" / "-shop" / "11111111-1111-4111-8111-111111111111.jsonl"
    log.parent.mkdir(parents=True)
    project.mkdir()
    lines = [json.dumps({**line, "cwd": str(project)}) for line in LINES]
    log.write_text("\n".join(lines) + "\n")
    (home / ".claude" / "settings.json").write_text('{"cleanupPeriodDays": 12}')
    return home


def test_yes_reads_the_histories_and_says_what_there_is_to_ask(claude: Path) -> None:
    variables = {"HOME": str(claude), "PATH": "", "XDG_CONFIG_HOME": str(claude / ".config")}
    settings = claude / ".claude" / "settings.json"
    before = settings.read_bytes()
    done = typed("install", "claude-code", "--yes", home=claude / "data", **variables)
    assert done.returncode == 0, done.stderr
    assert "Read 1 conversation of 1 assistant in 1 project." in done.stdout
    assert 'ask your assistant "Where did we leave off in shop?"' in done.stdout
    assert "deletes transcripts after 12 days (cleanupPeriodDays" in done.stdout
    assert json.loads(settings.read_text())["permissions"]["allow"] == [
        f"mcp__backstory__{tool}" for tool in ("recall", "open", "brief", "sessions")
    ]
    again = typed("install", "claude-code", home=claude / "data", **variables)
    assert "Nothing was changed: Backstory is already installed." in again.stdout
    assert "unchanged" in again.stdout
    assert "updated" not in again.stdout
    typed("uninstall", "claude-code", home=claude / "data", **variables)
    assert settings.read_bytes() == before


def test_without_yes_and_a_terminal_nothing_is_read_or_allowed(claude: Path) -> None:
    assert "histories" not in answer(claude, "install", "claude-code")
    assert "permissions" not in json.loads((claude / ".claude" / "settings.json").read_text())
    assert not (claude / "data" / "store.db").exists()


def test_a_store_that_cannot_be_read_leaves_the_installation_done(claude: Path) -> None:
    (claude / "data").mkdir()
    (claude / "data" / "store.db").write_text("no database at all " * 500)
    body = answer(claude, "install", "claude-code", "--yes", code=1)
    assert "is damaged" in body["histories"]["problem"]
    assert {step["action"] for step in body["steps"]} == {"added"}


def test_claude_desktop_gets_the_server_and_no_hooks(claude: Path) -> None:
    (claude / ".config" / "Claude").mkdir(parents=True)
    (step,) = answer(claude, "install", "claude-desktop")["steps"]
    path = claude / ".config" / "Claude" / "claude_desktop_config.json"
    assert step["target"] == str(path)
    assert "serve" in json.loads(path.read_text())["mcpServers"]["backstory"]["args"]
    assert not (claude / "data" / "hook.py").exists()
    answer(claude, "uninstall", "claude-desktop")
    assert not path.exists()
