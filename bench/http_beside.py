"""Compare the same calls over HTTP to Backstory, to a minimal server of the official SDK and to mcp-memory-service, in one run.

    python bench/http_beside.py HOME [MCP_MEMORY_SERVER]

Eight clients save notes, search by words and get notes by key; then the next server has its turn, and after it the next round begins.
Printed are the milliseconds of CPU of the server for each call (median of the rounds) and the calls in a second. The bare server stores nothing: its figures are what the
SDK's protocol costs. MCP_MEMORY_SERVER is the program of that name, in an environment of its own with only the package
mcp-memory-service and a Python whose SQLite loads extensions. Without a model it uses vectors of hashes, which cost next to nothing to make and find nothing by words, so its
searches return other notes than Backstory's; Backstory runs without embeddings, too, and finds by words. `get` is a search by a tag that one note has in mcp-memory-service,
which has no keys.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from notes import note, question
from servers import BACKSTORY, launched, process_ms

CLIENTS = 8
ROUNDS = 3
CALLS = 160
START_S = 180.0
SDK = [sys.executable, str(Path(__file__).with_name("http_sdk.py"))]


class Calls(NamedTuple):
    """The form of the same request for one server: a tool and its arguments."""

    save: Callable[[str, str], tuple[str, dict[str, Any]]]
    search: Callable[[str], tuple[str, dict[str, Any]]]
    get: Callable[[str], tuple[str, dict[str, Any]]]


BACKSTORY_CALLS = Calls(
    lambda key, text: ("context_save", {"key": key, "value": text}),
    lambda query: ("context_search", {"query": query, "limit": 5}),
    lambda key: ("context_get", {"key": key}),
)
SDK_CALLS = Calls(
    lambda key, text: ("save", {"key": key, "text": text}),
    lambda query: ("search", {"query": query}),
    lambda key: ("get", {"key": key}),
)
MEMORY_SERVICE_CALLS = Calls(
    lambda key, text: ("store_memory", {"content": text, "tags": [key]}),
    lambda query: ("retrieve_memory", {"query": query, "n_results": 5}),
    lambda key: ("search_by_tag", {"tags": [key]}),
)


class Contestant(NamedTuple):
    name: str
    pid: int
    port: int
    calls: Calls
    costs_ms: dict[str, list[float]]
    rates: dict[str, list[float]]


class Client:
    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        info = {"name": "bench", "version": "1"}
        self._ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info})

    def call(self, tool: str, arguments: dict[str, Any]) -> None:
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        if result.get("isError"):
            raise SystemExit(f"{tool} failed: {result['content']}")

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        self._connection.request("POST", "/mcp", body, self._headers)
        response = self._connection.getresponse()
        text = response.read().decode()
        if response.status != 200:
            raise SystemExit(f"{method} got {response.status}: {text}")
        if session := response.headers.get("mcp-session-id"):
            self._headers |= {"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-06-18"}
        lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
        return json.loads(lines[-1] if lines else text)


@contextmanager
def started(command: Sequence[str], port: int, home: Path, **variables: str) -> Iterator[int]:
    home.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, **variables}
    with (
        (home / "log").open("w") as log,
        launched(command, env=environment, cwd=home, stdout=log, stderr=subprocess.STDOUT) as process,
    ):
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if not probe.connect_ex(("127.0.0.1", port)):
                    break
            time.sleep(0.2)
        yield process.pid


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def measure(contestant: Contestant, name: str, calls: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """Let the clients make their calls, and write down CPU and rate."""
    clients = [Client(contestant.port) for _ in range(CLIENTS)]
    shares = [calls[number::CLIENTS] for number in range(CLIENTS)]
    before, begun = process_ms(contestant.pid), time.perf_counter()

    def work(client: Client, share: Sequence[tuple[str, dict[str, Any]]]) -> None:
        for tool, arguments in share:
            client.call(tool, arguments)

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(work, clients, shares))
    took_s = time.perf_counter() - begun
    contestant.costs_ms[name].append((process_ms(contestant.pid) - before) / len(calls))
    contestant.rates[name].append(len(calls) / took_s)


def run_round(contestant: Contestant, number: int) -> None:
    random_ = random.Random(number)
    keys = [f"key-{number}-{each}" for each in range(CALLS)]
    calls = contestant.calls
    measure(contestant, "save", [calls.save(key, f"{key} {note(random_)}") for key in keys])
    measure(contestant, "search", [calls.search(question(random_)) for _ in keys])
    measure(contestant, "get", [calls.get(key) for key in keys])


def contestants(stack: ExitStack, home: Path, memory_server: str) -> Iterator[Contestant]:
    def entry(name: str, command: Sequence[str], port: int, calls: Calls, **variables: str) -> Contestant:
        pid = stack.enter_context(started(command, port, home / name, **variables))
        kinds = Calls._fields
        return Contestant(name, pid, port, calls, {each: [] for each in kinds}, {each: [] for each in kinds})

    port = free_port()
    command = [*BACKSTORY, "--http", f"127.0.0.1:{port}", "--embeddings", "off", "--histories", "off"]
    variables = {"BACKSTORY_HOME": str(home / "backstory"), "BACKSTORY_REQUESTS_PER_MINUTE": "0"}
    yield entry("backstory", command, port, BACKSTORY_CALLS, **variables)
    port = free_port()
    yield entry("bare SDK", [*SDK, str(port)], port, SDK_CALLS)
    if memory_server:
        port = free_port()
        place = home / "mcp-memory-service"
        variables = {
            "HOME": str(place),
            "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec",
            "MCP_MEMORY_SQLITE_PATH": str(place / "memories.db"),
            "MCP_HTTP_HOST": "127.0.0.1",
            "MCP_HTTP_PORT": str(port),
            "MCP_MEMORY_ALLOW_HASH_EMBEDDINGS": "1",
            "HF_HUB_OFFLINE": "1",
            "LOG_LEVEL": "ERROR",
        }
        yield entry("mcp-memory-service", [memory_server], port, MEMORY_SERVICE_CALLS, **variables)


def main(words: list[str]) -> None:
    if not words:
        raise SystemExit(__doc__)
    home, memory_server = Path(words[0]), (words[1:] or [""])[0]
    with ExitStack() as stack:
        entries = list(contestants(stack, home, memory_server))
        for number in range(ROUNDS + 1):
            for contestant in entries:
                run_round(contestant, number)
                if number == 0:  # imports and first statements
                    for figures in (*contestant.costs_ms.values(), *contestant.rates.values()):
                        figures.clear()
    print(f"{'':20}" + "".join(f"{name:>24}" for name in Calls._fields))
    for contestant in entries:
        cells = [
            f"{statistics.median(contestant.costs_ms[name]):>10.2f} ms {statistics.median(contestant.rates[name]):>7.0f} /s"
            for name in Calls._fields
        ]
        print(f"{contestant.name:20}" + "".join(f"{cell:>24}" for cell in cells))


if __name__ == "__main__":
    main(sys.argv[1:])
