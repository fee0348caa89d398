"""`backstory demo`: three assistants share one memory, which survives a killed server and traces a line of code.

Everything is real (files of the assistants, processes, protocol, store, model) except the user, who has a temporary
home with three invented conversations. It is deleted at the end.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Any, NamedTuple

from ..app import environment_of
from ..clients.machine import server_command
from ..domain.errors import Unavailable
from ..domain.when import utc_now
from ..settings import Settings
from .demo_home import LINE, Shop, make_shop
from .report import (
    FAILED,
    Block,
    Json,
    Paragraph,
    Report,
    Span,
    Style,
    Verbatim,
    show_progress,
    terminal_line,
    wrapped,
)

QUESTION = "which database does billing use and why?"
"""A question about a conversation with Claude; the answer shares one word with it."""
MEMORY = "The warehouse closes at noon on Fridays; orders after that ship on Monday."
QUERY = "when do parcels leave if somebody buys late in the week?"
"""A query that shares no word with its answer."""

MAX_SHOWN_CHARS = 200  # characters of a message
WIDTH = 76
LONGEST_S = 60.0  # a process that hangs must not make the demo hang


class Step(NamedTuple):
    title: str
    command: str
    """The command a person would type; "" if an assistant did it."""
    output: str


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with TemporaryDirectory(prefix="backstory-demo-", ignore_cleanup_errors=True) as folder:
        demo = _Demo(make_shop(Path(folder), utc_now()), Path(folder) / "backstory")
        steps = list(demo.play())
    command = shlex.join(server_command()[:-1])
    body = {
        "found": demo.found == [MEMORY],
        "answers": demo.answers,
        "steps": [step._asdict() for step in steps],
        "install": f"{command} install",
        "web": f"{command} web",
    }
    is_good = demo.found == [MEMORY] and bool(demo.answers)
    return Report(body, _blocks(steps, command), 0 if is_good else FAILED)


def _blocks(steps: list[Step], command: str) -> list[Block]:
    blocks: list[Block] = []
    for number, step in enumerate(steps, 1):
        blocks.append(Paragraph([Span(f"{number}. {step.title}", Style.HEADING)]))
        if step.command:
            blocks.append(Verbatim([Span(f"   $ {step.command}", Style.ID)]))
        blocks += [Verbatim(f"   {line}" if line else "") for line in step.output.splitlines()]
        blocks.append("")
    rows = (
        (f"{command} install", "adds Backstory to your assistants"),
        (f"{command} web", "shows your own conversations in a browser"),
    )
    blocks.append(Paragraph([Span("The demo has deleted its files. Next steps:", Style.HEADING)]))
    for line, meaning in rows:
        blocks += [Verbatim([Span(f"   {line}", Style.ID)]), Verbatim(f"       {meaning}")]
    return blocks


def _wrapped(text: str) -> str:
    return "\n".join(
        textwrap.fill(line, WIDTH, subsequent_indent="    ", break_on_hyphens=False)
        for line in text.splitlines()
    )


class _Demo:
    def __init__(self, shop: Shop, home: Path) -> None:
        self.shop = shop
        # every setting that could lead to the user's own store or to an endpoint is given
        self._flags = [
            f"--home={home}",
            "--database-url=",
            "--embeddings=local",
            "--summaries=local",
            "--backups=off",
        ]
        self._environment = environment_of(shop.user, columns=WIDTH)
        self.found: list[str] = []
        self.answers: list[Json] = []

    def play(self) -> Iterator[Step]:
        show_progress(0, None, "Reading the conversations of three assistants")
        yield Step(
            "Claude Code, Codex and Gemini CLI worked on one project. Backstory reads their conversations.",
            "backstory sync",
            self._typed("sync"),
        )
        self._typed("embed")
        brief = json.loads(self._typed("brief", "--json"))
        yield Step(
            f"A new session, in any assistant, starts with this brief of {brief['tokens']} tokens.",
            "backstory brief",
            _wrapped(brief["text"]),
        )
        show_progress(0, None, "Asking across assistants")
        self.answers = json.loads(self._typed("search", QUESTION, "--limit=1", "--json"))["results"]
        asked = self._typed("search", QUESTION, "--limit=1")
        yield Step(
            "A question finds the answer, whichever assistant gave it and whatever its words.",
            f'backstory search "{QUESTION}"',
            asked,
        )
        show_progress(0, None, "Killing a server")
        yield Step("A server saves a memory and is killed. The next server finds it.", "", self._survival())
        show_progress(0, None, "Asking who wrote a line")
        place = f"src/billing.py:{LINE}"
        yield Step(
            "A line of code leads back to the conversation that wrote it.",
            f"backstory blame {place}",
            self._typed("blame", place),
        )

    def _typed(self, *words: str) -> str:
        command = [sys.executable, "-m", "backstory", *self._flags, *words]
        process = subprocess.run(
            command,
            env=self._environment,
            cwd=self.shop.project,
            capture_output=True,
            encoding="utf-8",
            timeout=LONGEST_S,
        )
        if process.returncode:
            raise Unavailable(f"`backstory {words[0]}` failed: {process.stderr.strip()}")
        return process.stdout.rstrip("\n")

    def _survival(self) -> str:
        transcript: list[str] = []
        with self._server(transcript) as server:
            server.greet()
            server.call("save_context", context_text=MEMORY)
            server.process.kill()
            transcript.append(f"*  server {server.process.pid} was killed (SIGKILL)")
        with self._server(transcript) as server:
            server.greet()
            self.found = list(server.call("retrieve_context", query=QUERY, limit=1).get("results", []))
        return "\n".join(transcript)

    @contextmanager
    def _server(self, transcript: list[str]) -> Iterator[_Server]:
        flags = [
            *self._flags,
            f"--project={self.shop.project}",
            "--surfaces=projectmemory",
            "--histories=off",
        ]
        process = subprocess.Popen(
            [sys.executable, "-m", "backstory", "serve", *flags],
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        transcript.append(f"*  server {process.pid} was started (backstory serve)")
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
        self._ask("initialize", opening)
        self._send({"method": "notifications/initialized"})

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
            f"The server ended without answering {method}.", hint="`backstory doctor` may show the reason."
        )

    def _send(self, message: Json) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def _note(self, arrow: str, text: str) -> None:
        self._transcript.append(wrapped(terminal_line(text, MAX_SHOWN_CHARS), f"{arrow}  ", "   "))
