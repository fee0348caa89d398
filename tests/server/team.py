"""A real HTTP server in a process of its own, and the official client to talk to it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from email.message import Message
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from ..patience import PATIENCE_S
from ..processes import BACKSTORY, environment
from ..typed import typed

Json = dict[str, Any]
LEGACY = "2025-11-25"
PRODUCT = (*BACKSTORY, "serve", "--http", "127.0.0.1:0", "--embeddings", "off")
FIXTURE = Path(__file__).with_name("conformance_server.py")


class Answer(NamedTuple):
    status: int
    headers: Message
    body: str

    @property
    def json(self) -> Json:
        parsed: Json = json.loads(self.body)
        return parsed

    @property
    def events(self) -> list[Json]:
        """The messages of a stream."""
        assert self.headers["Content-Type"] == "text/event-stream", self.body
        data = (line.removeprefix("data: ") for line in self.body.splitlines() if line.startswith("data: "))
        return [json.loads(message) for message in data if message]


class Web(NamedTuple):
    """One server that listens."""

    process: subprocess.Popen[str]
    url: str

    def send(self, path: str, body: object = None, method: str = "", **headers: str) -> Answer:
        data = (
            None if body is None else json.dumps(body, ensure_ascii=False).encode(errors="backslashreplace")
        )
        spelled = {name.replace("_", "-"): value for name, value in headers.items()}
        accepted = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        request = urllib.request.Request(
            self.url.removesuffix("/mcp") + path, data, accepted | spelled, method=method or None
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as response:
                return Answer(response.status, response.headers, response.read().decode())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.headers, error.read().decode())

    def ask(self, method: str, params: Json, path: str = "/mcp", **headers: str) -> Answer:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.send(path, message, **headers)

    def greet(self, path: str = "/mcp", **headers: str) -> str:
        """The id of a new session."""
        client = {"name": "test", "version": "1"}
        params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client}
        return self.ask("initialize", params, path, **headers).headers["Mcp-Session-Id"]

    def call(self, tool: str, arguments: Json, path: str = "/mcp", **headers: str) -> Json:
        """The result of a call."""
        result: Json = self.ask("tools/call", {"name": tool, "arguments": arguments}, path, **headers).json[
            "result"
        ]
        return result

    def keys(self, **headers: str) -> set[str]:
        """Of all items that the session can read, page by page."""
        found: set[str] = set()
        while True:
            page = self.call("context_get", {"limit": 100, "offset": len(found)}, **headers)
            items = page["structuredContent"]["items"]
            if not items:
                return found
            found |= {item["key"] for item in items}


@contextmanager
def listening(home: Path, *words: str, command: Sequence[str] = PRODUCT, **variables: str) -> Iterator[Web]:
    with subprocess.Popen(
        [*command, *words],
        env=environment(home, **variables),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("backstory: http"), line + process.stderr.read()
        threading.Thread(target=process.stderr.read, daemon=True).start()  # or a full pipe would stop it
        try:
            yield Web(process, line.split()[1])
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def fixture(home: Path) -> AbstractContextManager[Web]:
    """The same server with the tools of the conformance suite in place of ours."""
    home.mkdir(exist_ok=True)
    return listening(home, command=[sys.executable, str(FIXTURE), str(home)])


def token(home: Path, user: str, *words: str) -> Json:
    made: Json = json.loads(typed("token", "create", "--user", user, *words, "--json", home=home).stdout)
    return made


def bearer(made: Json) -> dict[str, str]:
    return {"Authorization": f"Bearer {made['token']}"}


@asynccontextmanager
async def connected(url: str, mode: str, headers: Mapping[str, str] | None = None) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=headers or {}, timeout=PATIENCE_S) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, cache=None) as client,
    ):
        yield client
