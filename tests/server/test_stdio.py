"""A real process on real pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import IO, Any

import pytest

from ..patience import PATIENCE_S

Json = dict[str, Any]
SERVER = Path(__file__).with_name("echo_server.py")

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs named pipes and signals")


class Gate:
    """A named pipe that a tool waits for. Held open at both ends, so that nobody waits for anybody to open it."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._end = os.open(path, os.O_RDWR)

    def open(self) -> None:
        os.write(self._end, b"go\n")

    def close(self) -> None:
        os.close(self._end)


class Process:
    def __init__(self, home: Path, *settings: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(SERVER), str(home), *settings],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin: IO[bytes] = self.process.stdin
        self.stdout: IO[bytes] = self.process.stdout

    def write(self, raw: bytes) -> None:
        self.stdin.write(raw)
        self.stdin.flush()

    def send(self, id: Any, method: str, params: Json | None = None) -> None:
        message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}
        self.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")

    def call(self, id: Any, name: str, **arguments: Any) -> None:
        self.send(id, "tools/call", {"name": name, "arguments": arguments})

    def wait(self, id: Any, gate: Gate) -> None:
        """A call that runs until the gate opens."""
        params = {"name": "wait", "arguments": {"pipe": str(gate.path)}, "_meta": {"progressToken": id}}
        self.send(id, "tools/call", params)

    def cancel(self, id: Any) -> None:
        notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}
        self.write(json.dumps(notice).encode() + b"\n")

    def read(self) -> Json:
        message: Json = json.loads(self.stdout.readline())
        return message

    def leave(self) -> tuple[int, bytes, bytes]:
        """Exit code, and what was still to be read, of a process that is told nothing more."""
        rest, errors = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, rest, errors


Start = Callable[..., Process]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Process] = []

    def start(*settings: str) -> Process:
        started.append(Process(tmp_path / "home", *settings))
        return started[-1]

    yield start
    for process in started:
        process.process.kill()
        process.process.communicate()


@pytest.fixture
def gates(tmp_path: Path) -> Iterator[list[Gate]]:
    gates = [Gate(tmp_path / f"gate{number}") for number in range(3)]
    yield gates
    for gate in gates:
        gate.close()


def answered(message: Json) -> Any:
    """The id of an answer; what a running call reports is not one."""
    assert "method" not in message, message
    return message["id"]


def test_a_conversation_over_pipes(start: Start) -> None:
    server = start()
    server.send(1, "initialize", {"protocolVersion": "2025-06-18"})
    assert server.read()["result"]["protocolVersion"] == "2025-06-18"
    server.call(2, "echo", text="hello")
    assert server.read()["result"]["structuredContent"]["text"] == "hello"
    assert server.leave() == (0, b"", b"")


@posix_only
def test_requests_are_answered_while_a_tool_runs(start: Start, gates: list[Gate]) -> None:
    server = start()
    server.wait("slow", gates[0])
    assert server.read()["params"]["message"] == "waiting"
    server.send("ping", "ping")
    server.call("quick", "echo", text="x")
    assert [answered(server.read()), answered(server.read())] == ["ping", "quick"]
    gates[0].open()
    answer = server.read()
    assert (answer["id"], answer["result"]["structuredContent"]["text"]) == ("slow", "go")


@posix_only
def test_as_many_calls_run_at_once_as_there_are_workers(start: Start, gates: list[Gate]) -> None:
    server = start("workers=2")
    for id, gate in enumerate(gates):
        server.wait(id, gate)
    assert {server.read()["params"]["progressToken"] for _ in range(2)} == {0, 1}
    gates[1].open()
    assert answered(server.read()) == 1
    assert server.read()["params"]["progressToken"] == 2


@posix_only
def test_a_withdrawn_call_in_the_queue_never_runs(start: Start, gates: list[Gate]) -> None:
    server = start("workers=1")
    server.wait(1, gates[0])
    assert server.read()["params"]["progressToken"] == 1
    server.wait(2, gates[1])
    server.call(3, "echo", text="x")
    server.cancel(2)
    server.send(4, "ping")
    assert answered(server.read()) == 4
    gates[0].open()
    assert [answered(server.read()), answered(server.read())] == [1, 3]


@posix_only
def test_a_withdrawn_call_that_runs_is_not_answered(start: Start, gates: list[Gate]) -> None:
    server = start("workers=1")
    server.wait(1, gates[0])
    assert server.read()["params"]["progressToken"] == 1
    server.cancel(1)
    server.send(2, "ping")
    assert answered(server.read()) == 2
    gates[0].open()
    server.call(3, "echo", text="x")
    assert answered(server.read()) == 3


@pytest.mark.requirement("server.stdout")
def test_what_is_printed_or_read_by_others_does_not_touch_the_protocol(start: Start) -> None:
    server = start()
    server.call(1, "chatter")
    assert server.read()["result"]["structuredContent"]["text"] == ""
    code, rest, errors = server.leave()
    assert (code, rest) == (0, b"")
    assert errors.split(b"\n")[:2] == [b"stray line", b"stray child"]


def test_twelve_megabytes_are_an_argument_like_any_other(start: Start) -> None:
    server = start()
    text = "é" * 6_000_000
    server.call(1, "echo", text=text)
    assert server.read()["result"]["structuredContent"]["text"] == text


@pytest.mark.parametrize("order", [("id", "params"), ("params", "id")])
def test_a_request_beyond_the_limit_is_refused_by_name_and_the_next_is_served(
    start: Start, order: tuple[str, str]
) -> None:
    server = start("max_request_mb=0.5")
    members = {"id": 8, "params": {"name": "echo", "arguments": {"text": "x" * 3_000_000}}}
    message = {"jsonrpc": "2.0", "method": "tools/call"} | {name: members[name] for name in order}
    server.write(json.dumps(message).encode() + b"\n")
    refused = server.read()
    assert (refused["id"], refused["error"]["code"]) == (8, -32600)
    assert "0.5 MB" in refused["error"]["message"]
    server.send(9, "ping")
    assert server.read()["id"] == 9


def test_more_calls_than_may_wait_slow_the_client_down_and_are_all_answered(start: Start) -> None:
    server = start("max_request_mb=0.01", "workers=1")
    text = "x" * 5_000

    def flood() -> None:
        for id in range(300):
            server.call(id, "echo", text=text)

    writer = Thread(target=flood)
    writer.start()
    assert {server.read()["id"] for _ in range(300)} == set(range(300))
    writer.join()


def test_the_last_line_needs_no_newline(start: Start) -> None:
    server = start()
    server.write(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fail"}}')
    code, rest, _ = server.leave()
    assert (code, json.loads(rest)["id"]) == (0, 1)


def test_all_that_was_asked_is_answered_before_leaving(start: Start) -> None:
    server = start()
    for id in range(50):
        server.call(id, "echo", text="x")
    _, rest, _ = server.leave()
    assert {json.loads(line)["id"] for line in rest.splitlines()} == set(range(50))


@pytest.mark.requirement("server.leaves")
@posix_only
def test_it_leaves_when_input_ends_though_a_tool_still_runs(start: Start, gates: list[Gate]) -> None:
    server = start()
    server.wait(1, gates[0])
    assert server.read()["params"]["progressToken"] == 1
    assert server.leave() == (0, b"", b"")


@posix_only
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_leaves_at_a_signal_though_a_tool_still_runs(
    start: Start, gates: list[Gate], number: signal.Signals
) -> None:
    server = start()
    server.wait(1, gates[0])
    assert server.read()["params"]["progressToken"] == 1
    server.process.send_signal(number)
    assert server.process.wait(timeout=PATIENCE_S) == 0


@posix_only
def test_a_signal_that_comes_just_before_it_waits_for_input_is_heard(start: Start) -> None:
    for _ in range(10):
        server = start()
        server.send(1, "ping")
        server.read()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=PATIENCE_S) == 0


@posix_only
def test_it_leaves_when_nobody_reads_its_answers(start: Start) -> None:
    server = start()
    server.send(1, "ping")
    server.read()
    server.stdout.close()
    server.send(2, "ping")
    assert server.process.wait(timeout=PATIENCE_S) == 0


@posix_only
def test_it_leaves_when_its_parent_is_gone(tmp_path: Path) -> None:
    """The parent here starts the server, waits until it serves, and exits; the pipes stay open with us."""
    parent = (
        "import subprocess, sys, os\n"
        f"subprocess.Popen([sys.executable, {str(SERVER)!r}, {str(tmp_path)!r}])\n"
        "os.read(int(sys.argv[1]), 1)\n"
    )
    gate_out, gate_in = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", parent, str(gate_out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=[gate_out],
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        os.write(gate_in, b"x")
        assert process.stdout.read() == b""  # the end of the output is the end of the orphan
    os.close(gate_in)
    os.close(gate_out)


@pytest.mark.requirement("server.tools.list-changed")
def test_new_tools_are_announced_and_listed(start: Start) -> None:
    server = start()
    server.send(1, "initialize", {"protocolVersion": "2025-11-25"})
    server.read()
    server.send(2, "tools/list")
    assert "late" not in [tool["name"] for tool in server.read()["result"]["tools"]]
    server.call(3, "grow")
    assert server.read()["method"] == "notifications/tools/list_changed"
    assert server.read()["id"] == 3
    server.send(4, "tools/list")
    assert "late" in [tool["name"] for tool in server.read()["result"]["tools"]]


def test_each_call_leaves_one_line_in_the_log_without_its_arguments(start: Start, tmp_path: Path) -> None:
    server = start()
    server.call(1, "echo", text="my secret")
    server.read()
    server.call(2, "crash", secret="my secret")
    server.read()
    (log,) = (tmp_path / "home" / "logs").iterdir()
    assert "my secret" not in log.read_text()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["level"], line["logger"]) for line in lines] == [
        ("info", "tool_call_echo"),
        ("error", "tool_call_crash"),
        ("info", "tool_call_crash"),
    ]
    assert [line["data"].get("is_error") for line in lines] == [False, None, True]
    assert "crash" in "".join(lines[1]["data"]["traceback"])


@pytest.mark.requirement("server.logging.dynamic")
def test_the_client_sets_the_level_of_the_log(start: Start, tmp_path: Path) -> None:
    server = start()
    server.send(1, "logging/setLevel", {"level": "error"})
    server.read()
    server.call(2, "echo", text="x")
    server.read()
    assert not (tmp_path / "home" / "logs").exists()
