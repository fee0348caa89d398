"""`backstory demo`: a memory saved over MCP survives the death of its server and is found by its meaning.

Everything is real (processes, pipes, protocol, store, model) except the home: a temporary one, deleted at the end.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Any

from ..clients.command import server_command
from ..domain.errors import Unavailable
from ..settings import Settings
from .progress import show_progress
from .report import Json, Report, shortened, wrapped

MEMORIES = (
    "We chose PostgreSQL for the billing service because its reports need window functions.",
    "The login page times out when the session cookie is older than 24 hours; renew it on every request.",
    "Deploy on Tuesdays only. The on-call rota is empty at weekends.",
)
QUERY = "which database did they pick?"
ANSWER = MEMORIES[0]
"""What the query means. They have no word in common."""

SHOWN = 200  # characters of a message
LONGEST_S = 60.0  # a server that hangs must not make the demo hang
FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(options: argparse.Namespace, settings: Settings) -> Report:
    transcript: list[str] = []
    with TemporaryDirectory(prefix="backstory-demo-", ignore_cleanup_errors=True) as home:
        found = _play(Path(home), transcript)
    is_found = found[:1] == [ANSWER]
    verdict = "found by its meaning" if is_found else "NOT found"
    transcript.append(f"\nThe memory was {verdict}, by a server that never saw it being saved.")
    install = shlex.join([*server_command()[:-1], "install"])
    body = {"found": is_found, "query": QUERY, "results": found, "install": install}
    transcript += ["\nTo give your assistants this memory:\n", f"   {install}"]
    return Report(body, "\n".join(transcript), 0 if is_found else FAILED)


def _play(home: Path, transcript: list[str]) -> list[str]:
    """The two acts; what the second server finds."""
    show_progress(0, None, "A server saves three memories")
    with _server(home, transcript) as server:
        server.greet()
        for text in MEMORIES:
            server.call("save_context", context_text=text)
        server.process.kill()
        transcript.append(f"   *  server {server.process.pid} was killed (SIGKILL)\n")
    show_progress(0, None, "Another server finds one of them")
    with _server(home, transcript) as server:
        server.greet()
        answer = server.call("retrieve_context", query=QUERY, limit=1)
    return list(answer.get("results", []))


@contextmanager
def _server(home: Path, transcript: list[str]) -> Iterator[_Server]:
    # every setting that could lead to the user's own store or to an endpoint is given
    flags = [f"--home={home}", "--database-url=", f"--project={home}"]
    flags += ["--embeddings=local", "--summaries=local", "--surfaces=projectmemory", "--histories=off"]
    process = subprocess.Popen(
        [sys.executable, "-m", "backstory", "serve", *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    transcript.append(f"   *  server {process.pid} was started (backstory serve)")
    alarm = Timer(LONGEST_S, process.kill)
    alarm.start()
    try:
        yield _Server(process, transcript)
    finally:
        alarm.cancel()
        process.kill()
        process.communicate()


class _Server:
    """The client's end of one MCP conversation."""

    def __init__(self, process: subprocess.Popen[bytes], transcript: list[str]) -> None:
        self.process = process
        self._transcript = transcript
        self._last_id = 0

    def greet(self) -> None:
        client = {"name": "backstory-demo", "version": "1"}
        opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        info = self._ask("initialize", opening)["serverInfo"]
        self._send({"method": "notifications/initialized"})
        tools = [tool["name"] for tool in self._ask("tools/list", {})["tools"]]
        self._note("→", "initialize, tools/list")
        self._note("←", f"{info['title']} {info['version']}: {', '.join(tools)}")

    def call(self, tool: str, **arguments: Any) -> Json:
        self._note("→", f"{tool} {json.dumps(arguments)}")
        answer = self._ask("tools/call", {"name": tool, "arguments": arguments})
        self._note("←", answer["content"][0]["text"])
        return dict(answer.get("structuredContent", {}))

    def _ask(self, method: str, params: Json) -> Json:
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": params})
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if message.get("id") == self._last_id and "result" in message:
                return dict(message["result"])
        raise Unavailable(
            f"The server left without an answer to {method}.", hint="`backstory doctor` may know why."
        )

    def _send(self, message: Json) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def _note(self, arrow: str, text: str) -> None:
        self._transcript.append(wrapped(shortened(text, SHOWN), f"   {arrow}  ", "      "))
