"""A hook asks the server that runs, over a socket that nobody else can open, and is silent when there is none."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from backstory.clients.hook_means import DOORS
from backstory.clients.hooks import SOURCE
from backstory.core.brief.files import BriefFiles

from ..patience import PATIENCE_S, until
from ..processes import Server, serving
from ..repositories import git

WALRUS = (
    "The walrus importer reads parquet files in batches of 500 rows, because larger batches exhaust memory."
)
ASKED = "How many rows does the walrus importer read from parquet files?"
VARIABLES = {"BACKSTORY_HISTORIES": "off"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = (tmp_path / "shop").resolve()
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


def hook(data: Path, project: Path, name: str, **fields: Any) -> str:
    event = {"cwd": str(project), "session_id": "s", "hook_event_name": name, **fields}
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(SOURCE), "claude-code", str(data)],
        input=json.dumps(event).encode(),
        env={"BACKSTORY_BRIEF_TIMEOUT_S": str(PATIENCE_S), "HOME": str(data / "nobody")},
        capture_output=True,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def remember(server: Server, data: Path) -> None:
    server.greet()
    server.ask("tools/call", {"name": "remember", "arguments": {"text": WALRUS, "kind": "decision"}})
    until(lambda: any((data / DOORS).glob("[0-9]*")))


@pytest.mark.parametrize("folder", ["data", "a-folder-with-a-long-name-" * 5])
def test_a_prompt_is_answered_by_the_running_server_once_in_a_session(
    tmp_path: Path, project: Path, folder: str
) -> None:
    data = tmp_path / folder  # a socket's path may have some 100 characters; a port has none
    with serving(data, "--surfaces", "backstory", "--project", str(project), variables=VARIABLES) as server:
        remember(server, data)
        (door,) = (data / DOORS).iterdir()
        assert stat.S_IMODE(door.stat().st_mode) == 0o600
        assert stat.S_IMODE(door.parent.stat().st_mode) == 0o700
        said = json.loads(hook(data, project, "UserPromptSubmit", prompt=ASKED))["hookSpecificOutput"]
        assert said["hookEventName"] == "UserPromptSubmit"
        assert "batches of 500 rows" in said["additionalContext"]
        assert hook(data, project, "UserPromptSubmit", prompt=ASKED) == ""
        assert hook(data, project, "UserPromptSubmit", prompt="Make the button blue, will you?") == ""
    assert list((data / DOORS).iterdir()) == []
    (receipt,) = BriefFiles(data).injections({})
    assert receipt.event == "UserPromptSubmit"
    assert receipt.certainty is not None
    assert receipt.certainty >= 0.9


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs sockets with paths")
def test_what_a_killed_server_left_behind_is_removed_and_nothing_is_said(
    tmp_path: Path, project: Path
) -> None:
    data = tmp_path / "data"
    with serving(data, "--surfaces", "backstory", "--project", str(project), variables=VARIABLES) as server:
        remember(server, data)
        server.process.kill()
        server.process.wait(PATIENCE_S)
        assert any((data / DOORS).iterdir())
        assert hook(data, project, "UserPromptSubmit", prompt=ASKED) == ""
        assert list((data / DOORS).iterdir()) == []
        for name in ("Stop", "PostToolUseFailure"):
            assert hook(data, project, name, error="Exit code 1") == ""


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs sockets with paths")
def test_a_door_that_is_being_made_is_left_alone(tmp_path: Path, project: Path) -> None:
    data = tmp_path / "data"
    (data / DOORS).mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as unfinished:
        unfinished.bind(str(data / DOORS / ".1"))  # it does not listen yet, so it would refuse
        assert hook(data, project, "UserPromptSubmit", prompt=ASKED) == ""
    assert [path.name for path in (data / DOORS).iterdir()] == [".1"]


def test_a_program_that_took_the_port_of_a_killed_server_learns_nothing(
    tmp_path: Path, project: Path
) -> None:
    data = tmp_path / "data"
    (data / DOORS).mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        port = stranger.getsockname()[1]
        (data / DOORS / "1.port").write_text(f"{port} {'a' * 32} {'b' * 32}")
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(SOURCE), "claude-code", str(data)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"BACKSTORY_BRIEF_TIMEOUT_S": str(PATIENCE_S), "HOME": str(data / "nobody")},
        )
        assert process.stdin is not None
        event = {
            "cwd": str(project),
            "session_id": "s",
            "hook_event_name": "UserPromptSubmit",
            "prompt": ASKED,
        }
        process.stdin.write(json.dumps(event).encode())
        process.stdin.close()
        connection, _ = stranger.accept()
        with connection:
            connection.sendall(b"x" * 32)
            assert connection.recv(100) == b""
        assert process.wait(PATIENCE_S) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b""
        process.stdout.close()


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="needs sockets with paths")
@pytest.mark.parametrize(
    "line", [b"", b"no JSON\n", b"[]\n", b'{"event": 3}\n', b'{"event": "Unknown"}\n', b"{}\n"]
)
def test_what_is_no_request_of_a_hook_gets_no_answer(tmp_path: Path, project: Path, line: bytes) -> None:
    data = tmp_path / "data"
    with serving(data, "--surfaces", "backstory", "--project", str(project), variables=VARIABLES) as server:
        remember(server, data)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(data / DOORS / f"{server.process.pid}.sock"))
            connection.sendall(line)
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(100) == b""


def test_before_a_compaction_the_server_of_the_project_takes_a_checkpoint(
    tmp_path: Path, project: Path
) -> None:
    data = tmp_path / "data"
    with serving(data, "--project", str(project), variables=VARIABLES) as server:
        server.greet()
        server.call("context_save", key="port", value="We chose port 9090.")
        until(lambda: any((data / DOORS).glob("[0-9]*")))
        hook(data, project, "PreCompact", trigger="auto")

        until(lambda: "before compaction" in json.dumps(_checkpoints(data)))


def _checkpoints(data: Path) -> list[str]:
    with closing(sqlite3.connect(data / "store.db")) as store:
        return [name for (name,) in store.execute("SELECT name FROM checkpoint")]


def test_after_a_turn_the_server_reads_what_was_said_in_it(tmp_path: Path, project: Path) -> None:
    data, logs = tmp_path / "data", tmp_path / "ann" / ".claude" / "projects" / "-shop"
    logs.mkdir(parents=True)
    write_log(logs / "11111111-1111-4111-8111-111111111111.jsonl", project, "The first question.")
    variables = {"HOME": str(tmp_path / "ann"), "BACKSTORY_SYNC_INTERVAL_S": "100000"}
    with serving(data, "--project", str(project), variables=variables) as server:
        server.greet()
        until(lambda: any((data / DOORS).glob("[0-9]*")))
        until(lambda: "The first question." in stored_texts(data))
        write_log(logs / "22222222-2222-4222-8222-222222222222.jsonl", project, "The second question.")
        assert hook(data, project, "Stop", transcript_path=str(logs)) == ""
        until(lambda: "The second question." in stored_texts(data))


def write_log(path: Path, project: Path, text: str) -> None:
    message = {"role": "user", "content": text}
    line = {
        "type": "user",
        "uuid": path.stem,
        "sessionId": path.stem,
        "cwd": str(project),
        "message": message,
    }
    path.write_text(json.dumps({**line, "timestamp": "2026-01-02T03:04:05.000Z"}) + "\n")


def stored_texts(data: Path) -> list[str]:
    with closing(sqlite3.connect(data / "store.db")) as store:
        return [text for (text,) in store.execute("SELECT text FROM entry")]


def test_hooks_that_are_off_open_no_door(tmp_path: Path, project: Path) -> None:
    data = tmp_path / "data"
    with serving(
        data, "--project", str(project), variables={**VARIABLES, "BACKSTORY_BRIEF": "off"}
    ) as server:
        server.greet()
        server.call("context_save", key="port", value="We chose port 9090.")
        assert not (data / DOORS).exists() or os.listdir(data / DOORS) == []
