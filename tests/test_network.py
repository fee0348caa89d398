"""Backstory opens no connection that nobody configured: the audit events of Python are watched. Compiled libraries send none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .patience import PATIENCE_S
from .processes import Server, environment

WATCHED = """
import os, socket, sys

def end(sentence):
    os.write(2, sentence.encode())
    os._exit(3)  # an exception would end only its thread

def watch(event, arguments):
    if event == "socket.getaddrinfo" and arguments[0] not in (None, "localhost", "127.0.0.1", "::1"):
        end(f"asked for the address of {arguments[0]}")
    if event in ("socket.connect", "socket.sendto") and arguments[0].family in (socket.AF_INET, socket.AF_INET6):
        if arguments[1][0] not in ("127.0.0.1", "::1"):
            end(f"connected to {arguments[1]}")

sys.addaudithook(watch)
"""
BACKSTORY = "from backstory.__main__ import main; sys.exit(main())"
CONNECT = (
    "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 9))"  # a documentation address
)

LINES = [
    {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Which port? Let's go with 9090."}},
    {
        "type": "assistant",
        "uuid": "u2",
        "message": {"id": "m1", "role": "assistant", "content": [{"type": "text", "text": "9090 it is."}]},
    },
]


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """A home with one conversation of Claude Code."""
    (tmp_path / "shop").mkdir()
    id = "11111111-1111-4111-8111-111111111111"
    log = tmp_path / "user" / ".claude" / "projects" / "-shop" / f"{id}.jsonl"
    log.parent.mkdir(parents=True)
    common = {"sessionId": id, "cwd": str(tmp_path / "shop"), "timestamp": "2026-01-02T03:04:05.000Z"}
    log.write_text("".join(json.dumps(common | line) + "\n" for line in LINES))
    return tmp_path / "user"


def variables_of(user: Path) -> dict[str, str]:
    homes = {"HOME": str(user), "USERPROFILE": str(user), "XDG_CONFIG_HOME": str(user / ".config")}
    return environment(user.parent / "ours", **homes)


def watched(user: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"{WATCHED}\n{program}", *words],
        env=variables_of(user),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
    )


def test_the_watch_sees_a_connection(user: Path) -> None:
    done = watched(user, CONNECT)
    assert (done.returncode, done.stderr) == (3, "connected to ('192.0.2.1', 9)")


@pytest.mark.parametrize(
    "words",
    [
        ("sync",),
        ("embed",),
        ("search", "which port?"),
        ("brief",),
        ("status",),
        ("install", "claude-code", "--yes"),
    ],
    ids=lambda words: words[0],
)
def test_no_command_connects_to_another_machine(user: Path, words: tuple[str, ...]) -> None:
    done = watched(user, BACKSTORY, *words)
    assert done.returncode == 0, done.stderr


def test_a_server_reads_histories_searches_and_saves_without_a_connection(user: Path) -> None:
    command = [sys.executable, "-c", f"{WATCHED}\n{BACKSTORY}", "serve", "--surfaces", "backstory"]
    with subprocess.Popen(
        command,
        env=variables_of(user),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        server = Server(process)
        server.greet()
        for tool, arguments in (
            ("remember", {"text": "Deploy on Tuesdays.", "kind": "preference"}),
            ("recall", {"query": "which port?", "project": "*"}),
        ):
            result = server.ask("tools/call", {"name": tool, "arguments": arguments})
            assert not result.get("isError"), result
        assert "9090" in json.dumps(result)
        _, complaints = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, complaints) == (0, "")
