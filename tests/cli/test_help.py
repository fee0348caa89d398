"""Help that can be read as a manual, and completion for three shells: both come from the commands themselves."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from backstory.cli.commands import COMMANDS, GROUPS, parser_of
from backstory.cli.examples import EXAMPLES

from ..patience import PATIENCE_S
from ..typed import Typing


@pytest.fixture
def typing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typing:
    return Typing(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_that_the_command_understands(typing: Typing, command: str) -> None:
    assert EXAMPLES[command]
    shown = typing.text(command, "--help")
    for line, _ in EXAMPLES[command]:
        assert line in shown
        words = shlex.split(line.removeprefix("source <(").partition(")")[0].partition("|")[0])
        assert words[:2] == ["backstory", command]
        parser_of(command).read(words[2:])
    assert "exit status:" in shown


def test_the_overview_names_every_command_once(typing: Typing) -> None:
    shown = typing.text("--help")
    lines = [line.split()[0] for line in shown.splitlines() if line.startswith("  ") and line[2] != " "]
    assert sorted(name for name in lines if name in COMMANDS) == sorted(COMMANDS)
    assert {name for names in GROUPS.values() for name in names} <= set(COMMANDS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_flags_and_assistants(typing: Typing, shell: str) -> None:
    script = typing.text("completion", shell)
    for word in (*COMMANDS, "subagents", "claude-code"):
        assert word in script
    if program := shutil.which(shell):
        checked = subprocess.run(
            [program, "-n"], input=script, encoding="utf-8", capture_output=True, timeout=PATIENCE_S
        )
        assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["ses"], ["sessions"]),
        (["sessions", "--sub"], ["--subagents"]),
        (["sessions", "--assistant", "claude-c"], ["claude-code"]),
        (["--home", "/x", "time"], ["timeline"]),
        (["install", "claude-c"], ["claude-code"]),
        (["resume", "--in", "gemini"], ["gemini-cli"]),
        (["show", "1af7"], ["1af7fc5e", "1af70000"]),
        (["export", "1af7"], ["1af7fc5e"]),
        (["edit", "1af7"], ["1af70000"]),
    ],
)
def test_bash_completes(typing: Typing, words: list[str], completed: list[str]) -> None:
    script = typing.text("completion", "bash")
    line = " ".join(map(shlex.quote, ["backstory", *words]))
    asked = f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _backstory; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    printed = """backstory() { case "$1" in sessions) echo "1af7fc5e  a talk";; list) echo "1af70000  a memory";; esac; }"""
    done = subprocess.run(
        ["bash", "--norc", "-c", f"{printed}\n{script}\n{asked}"],
        encoding="utf-8",
        capture_output=True,
        timeout=PATIENCE_S,
    )
    assert done.stdout.split() == completed, done.stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_ids_alone_and_runs_nothing_that_an_id_contains(
    typing: Typing, tmp_path: Path
) -> None:
    """An id is whatever the file of an assistant says."""
    script = typing.text("completion", "bash")
    rows = [
        "$(touch${IFS}made)  a talk",
        "`touch${IFS}made`  a talk",
        "*  a talk",
        "No memories.",
        "a-1  a talk",
    ]
    printed = f"backstory() {{ printf '%s\\n' {' '.join(map(shlex.quote, rows))}; }}"
    asked = "COMP_WORDS=(backstory export ''); COMP_CWORD=2; _backstory; printf '%s\\n' \"${COMPREPLY[@]}\""
    done = subprocess.run(
        ["bash", "--norc", "-c", f"{printed}\n{script}\n{asked}"],
        encoding="utf-8",
        capture_output=True,
        timeout=PATIENCE_S,
        cwd=tmp_path,
    )
    assert done.stdout.split() == ["a-1"], done.stderr
    assert not (tmp_path / "made").exists()
