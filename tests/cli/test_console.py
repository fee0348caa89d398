"""No name or text of anybody else makes a terminal do something: every command, at a terminal and in a pipe."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from backstory.cli.commands import COMMANDS
from backstory.console import harmless
from backstory.domain.records import Trace

from ..conftest import open_sqlite
from ..doubles import make_conversation, make_memory, make_messages
from ..patience import PATIENCE_S
from ..processes import BACKSTORY, environment

EVIL = "\x1b]0;owned\x07\x1b[31m\x9b2J\u202eevil\u2028\x7f"
CLAUDE = "claude-code:1af7fc5e-8455-4414-9ccd-011d40f70b2a"
MEMORY = "5f0c1d2e3a4b5c6d7e8f9a0b"
OBEYED = ("\x1b]", "\x1b[31m", "\x07", "\x9b", "\u202e", "\u2028", "\x7f")
WORDS = {
    "search": ["cache"],
    "show": [CLAUDE],
    "resume": [CLAUDE, "--print"],
    "blame": ["cache.py"],
    "why": ["why does the cache miss?"],
    "edit": [MEMORY, "--text", f"Never{EVIL}"],
    "delete": ["nothing"],
    "forget": [CLAUDE],
    "archive": ["--older-than", "1"],
    "unarchive": [f"x{EVIL}"],
    "import": [f"no{EVIL}thing"],
    "restore": [f"no{EVIL}.db"],
    "backup": [f"copy{EVIL.replace('/', '')}.db"],
    "migrate": [f"sqlite:///{EVIL}"],
    "completion": ["bash"],
    "token": ["list"],
    "uninstall": ["--dry-run"],
    "install": ["--dry-run"],
}
UNENDING = ("serve", "web", "demo")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project, a conversation and a memory that are all named by somebody who means harm."""
    project = tmp_path / f"shop{EVIL}"
    (project / ".git").mkdir(parents=True)
    (project / ".git" / "HEAD").write_text(f"ref: refs/heads/{EVIL}\n", "utf-8")
    (project / "cache.py").write_text(f"x = 1  # {EVIL}\n", "utf-8")
    home = tmp_path / "ours"
    home.mkdir()
    store = open_sqlite(home / "store.db")
    place = str(project)
    talk = make_conversation(
        CLAUDE,
        title=f"The cache{EVIL}",
        project=place,
        directory=place,
        branch=f"fix/{EVIL}",
        surface="claude-code",
        native_id=CLAUDE.partition(":")[2],
        source=f"{tmp_path}/{EVIL}/1.jsonl",
    )
    messages = make_messages(
        CLAUDE, f"why does the cache miss?{EVIL}", f"The key has a date.{EVIL}", project=place
    )
    tool = messages[1]._replace(id=f"{messages[1].id}#tool", role="tool", text=f"Edit {place}/cache.py")
    store.conversations.add(talk, [*messages, tool], [Trace(tool.id, "written", f"{place}/cache.py")])
    store.memories.put(
        [make_memory(MEMORY, f"The cache key{EVIL}", project=place, key=f"k{EVIL}", category="decision")]
    )
    store.close()
    return project


def run(project: Path, *words: str) -> Iterator[str]:
    """What a command writes to a pipe."""
    done = subprocess.run(
        [*BACKSTORY, *words, "--home", str(project.parent / "ours")],
        cwd=project,
        env=environment(project.parent / "ours") | {"HOME": str(project.parent)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert b"Traceback" not in done.stderr, done.stderr
    return iter((done.stdout.decode("utf-8"), done.stderr.decode("utf-8")))


def at_terminal(project: Path, *words: str) -> str:
    """What a command writes to a terminal, in colour."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*BACKSTORY, *words, "--home", str(project.parent / "ours")],
        cwd=project,
        env=environment(project.parent / "ours") | {"HOME": str(project.parent), "TERM": "xterm-256color"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    written = b""
    try:
        while part := os.read(ours, 65536):
            written += part
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(ours)
    process.wait(PATIENCE_S)
    return written.decode("utf-8")


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in UNENDING])
def test_no_command_hands_a_terminal_what_others_wrote_to_steer_it(project: Path, command: str) -> None:
    words = [command, *WORDS.get(command, ())]
    for written in (*run(project, *words), *run(project, *words, "--json"), at_terminal(project, *words)):
        assert not [sign for sign in OBEYED if sign in written], written


def test_lines_and_tabs_stay_and_so_do_letters_of_every_language() -> None:
    text = "één\tдва\n三 👩‍💻"
    assert harmless(text) == text
    assert harmless("a\x1b[31mb\r\x9b\u2066\ud800c") == "a�[31mb����c"
