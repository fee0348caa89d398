"""The real command in a real process: run it, or talk MCP to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from backstory.core import Caller, Core, Engine
from backstory.core.projects import project_root, work_tree
from backstory.search.minilm import MiniLM

from .conftest import open_sqlite
from .doubles import make_settings
from .patience import PATIENCE_S

Json = dict[str, Any]
BACKSTORY = [sys.executable, "-m", "backstory"]


def environment(home: Path, **variables: str) -> dict[str, str]:
    """This process's environment without settings of ours, and the given ones."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("BACKSTORY_") and name != "COLUMNS"  # how wide the terminal of the tests is
    }
    ours = {"PYTHONPATH": os.pathsep.join(sys.path), "BACKSTORY_HOME": str(home)}
    nobody = dict.fromkeys(
        ("HOME", "USERPROFILE"), str(home / "nobody")
    )  # whose histories a server would read
    return inherited | ours | nobody | variables


def run(*words: str, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*BACKSTORY, *words],
        env=environment(home, **variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
    )


class Server:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._last_id = 0

    def ask(self, method: str, params: Json) -> Json:
        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        answer: Json = json.loads(self.process.stdout.readline())
        result: Json = answer["result"]
        return result

    def greet(self) -> Json:
        client = {"name": "test", "version": "1"}
        return self.ask(
            "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        )

    def call(self, tool: str, **arguments: Any) -> Json:
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert "structuredContent" in result, result
        structured: Json = result["structuredContent"]
        return structured


@contextmanager
def serving(home: Path, *words: str, variables: Mapping[str, str] | None = None) -> Iterator[Server]:
    with subprocess.Popen(
        [*BACKSTORY, *words],
        env=environment(home, **(variables or {})),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            yield Server(process)
        finally:
            process.communicate(timeout=PATIENCE_S)


@cache
def model() -> MiniLM:
    """The real one, loaded once for all tests of a process."""
    return MiniLM()


@contextmanager
def core_over(home: Path) -> Iterator[Core]:
    """The product in this process, over the store that a server of that home has."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = open_sqlite(home / "store.db")
    (home / "store.db").chmod(0o600)
    project = work_tree(Path.cwd())
    engine = Engine(make_settings(home, project=project, backups="off"), store, model())
    try:
        yield Core(engine, Caller(project=str(project_root(project)), directory=str(project)))
        assert engine.backlog is not None
        engine.backlog.drain()
    finally:
        engine.close()


def save(home: Path, *texts: str) -> list[str]:
    """Save memories, as through a server; their ids."""
    with core_over(home) as core:
        return [core.through("projectmemory").memories.save(text).id for text in texts]
