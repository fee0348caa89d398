"""How the server is started, and that nobody else can read what it keeps."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from backstory.server.offer import Offer
from backstory.server.rpc import RpcPeer
from backstory.surfaces import load_surfaces

from ..patience import PATIENCE_S
from ..processes import BACKSTORY, environment, run, serving

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


GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
MODERN = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}


def request(id: Any, method: str, params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def answers(home: Path, *lines: str, words: Sequence[str] = ("serve",), python: Sequence[str] = ()) -> Any:
    """What a server says to all of these lines at once, and what it writes to standard error."""
    return subprocess.run(
        [BACKSTORY[0], *python, *BACKSTORY[1:], *words],
        env={name: value for name, value in environment(home).items() if not name.startswith("COVERAGE")},
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
    )


@posix_only
def test_what_every_start_asks_is_answered_without_the_product(tmp_path: Path) -> None:
    asked = [json.dumps(GREETING), request(2, "tools/list", {}), request("d", "server/discover", MODERN)]
    done = answers(tmp_path, *asked, python=["-X", "importtime"])
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "backstory.front" in imported
    assert {name for name in imported if name.startswith("backstory.")} == {
        "backstory.front", "backstory.domain", "backstory.domain.data_home",
    }  # fmt: skip
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2, "d"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "line",
    [
        json.dumps(GREETING),
        request(1, "initialize", {"protocolVersion": "1999-01-01"}),
        request(1, "initialize", {}),
        request("two", "tools/list", {}),
        request(1, "tools/list", None),
        request(1, "tools/list", {"cursor": "x"}),
        request(1, "tools/list", MODERN),
        request(1, "server/discover", MODERN),
        request(1, "server/discover", {}),
        request(None, "tools/list", {}),
        request(True, "tools/list", {}),
        request(1.5, "tools/list", {}),
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": NaN}}',
        '{"jsonrpc": "2.0", "method": "tools/list"}',
        "[]",
        "not JSON",
        "[" * 100_000,
    ],
)
def test_prepared_or_not_the_answer_is_the_product_s(tmp_path: Path, line: str) -> None:
    conversation = RpcPeer(Offer(load_surfaces()), lambda level: None)
    outcomes = conversation.receive(line.encode())
    expected = b"".join(each for each in outcomes if isinstance(each, bytes)).decode()
    assert answers(tmp_path, line, "").stdout == expected


def test_a_call_behind_the_first_questions_is_answered_in_its_turn(tmp_path: Path) -> None:
    call = request(3, "tools/call", {"name": "save_context", "arguments": {"context_text": "Lunch."}})
    asked = [json.dumps(GREETING), '{"jsonrpc":"2.0","method":"notifications/initialized"}']
    done = answers(tmp_path, *asked, request(2, "tools/list", {}), call)
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["id"] for each in said] == [1, 2, 3]
    assert said[2]["result"]["structuredContent"]["status"] == "success"


def test_the_config_file_chooses_what_is_listed(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('surfaces = ["projectmemory"]')
    (said,) = answers(tmp_path, request(1, "tools/list", {})).stdout.splitlines()
    assert "save_context" in said
    assert "context_save" not in said


@posix_only
def test_a_line_without_an_end_is_held_by_the_product_which_bounds_it(tmp_path: Path) -> None:
    with serving(tmp_path, "serve") as server:
        assert server.process.stdin is not None
        # more than a pipe holds, so that somebody has taken most of it by the time it is written
        server.process.stdin.write("x" * 2_000_000)
        server.process.stdin.flush()
        assert (tmp_path / "store.db").exists()


@posix_only
def test_a_call_of_a_server_that_cannot_open_its_store_is_told_why(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"no database, but long enough to be taken for one" * 100)
    call = request("c", "tools/call", {"name": "save_context", "arguments": {"context_text": "Lunch."}})
    done = answers(tmp_path, json.dumps(GREETING), call)
    greeting, refusal = (json.loads(line) for line in done.stdout.splitlines())
    assert greeting["id"] == 1
    assert refusal["id"] == "c"
    assert refusal["error"]["message"] in done.stderr.replace("\n", " ")
    assert done.returncode == 1


@posix_only
def test_a_server_with_a_damaged_store_answers_every_call_with_the_reason_until_the_client_leaves(
    tmp_path: Path,
) -> None:
    (tmp_path / "store.db").write_bytes(b"no database at all " * 500)
    with serving(tmp_path, "serve", "--surfaces", "backstory") as server:
        server.greet()
        stdin, stdout = server.process.stdin, server.process.stdout
        assert stdin is not None
        assert stdout is not None
        for number in (2, 3):  # a second one arrives long after the store was found to be damaged
            params = {"name": "recall", "arguments": {"query": "port"}}
            message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            stdin.write(json.dumps(message) + "\n")
            stdin.flush()
            answer = json.loads(stdout.readline())
            assert answer["id"] == number
            assert "store.db is damaged" in answer["error"]["message"]
        assert {tool["name"] for tool in server.ask("tools/list", {})["tools"]} >= {"recall", "brief"}
    assert server.process.returncode == 1


@posix_only
def test_a_signal_ends_a_server_that_was_only_greeted(tmp_path: Path) -> None:
    with serving(tmp_path, "serve") as server:
        server.greet()
        server.process.terminate()
        assert server.process.wait(PATIENCE_S) == 0


def at_a_terminal(home: Path, *words: str, typed: bytes = b"") -> subprocess.CompletedProcess[str]:
    controller, terminal = os.openpty()
    os.write(controller, typed)
    done = subprocess.run(
        [*BACKSTORY, *words],
        env=environment(home),
        stdin=terminal,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
    )
    os.close(terminal)
    os.close(controller)
    return done


@posix_only
def test_at_a_terminal_it_shows_an_overview(tmp_path: Path) -> None:
    done = at_a_terminal(tmp_path)
    assert done.returncode == 0
    assert "Usage: backstory COMMAND" in done.stdout
    assert list(tmp_path.iterdir()) == []


@posix_only
def test_at_a_terminal_a_server_says_what_it_is(tmp_path: Path) -> None:
    end_of_input = b"\x04"  # as a person types it
    done = at_a_terminal(tmp_path, "serve", "--surfaces", "backstory", typed=end_of_input)
    assert (done.returncode, done.stdout) == (0, "")
    assert "speaks MCP" in done.stderr


@posix_only
def test_data_directory_and_files_are_the_users_alone(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    with serving(home, "serve") as server:
        server.call("save_context", context_text="Lunch is at noon.")
    assert run("backup", home=home).returncode == 0
    paths = [home, *home.rglob("*")]
    assert {path.name for path in paths} >= {"home", "store.db", "logs", "backups"}
    for path in paths:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
