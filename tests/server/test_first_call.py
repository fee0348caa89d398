"""The first call of a server imports what its tool needs: a client waits for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import backstory

# Each maximum is of Backstory's own modules, of which there are over 450 together. A new module on the way makes every
# first call slower: find out why it is needed before you raise one.
MAX_MODULES_OF_A_SAVE = 138
MAX_MODULES_OF_A_RECALL = 315
NEVER = {
    "argparse", "asyncio", "concurrent", "cryptography", "email", "html", "http", "jinja2", "logging", "markdown_it",
    "multiprocessing", "opentelemetry", "psycopg", "pydantic", "pygments", "rich", "socketserver", "ssl", "starlette",
    "unittest", "uvicorn", "xml",
}  # fmt: skip
"""Packages that no first call of stdio needs."""
MODEL = {"numpy", "onnxruntime", "backstory_minilm"}
"""Packages for scoring and embedding, which need something to score."""
NOTING = """
import os, sys
from pathlib import Path

def write(target, line, *, original=os.write):
    if b'"id":3' in bytes(line[:60]):
        Path(os.environ["IMPORTED"]).write_text("\\n".join(sys.modules))
    return original(target, line)

os.write = write
sys.argv = ["backstory", "serve"]
from backstory.__main__ import main
main()
"""
"""A server that notes what it has imported when it writes its third answer."""


def imported(home: Path, tool: str, arguments: dict[str, Any]) -> set[str]:
    """The modules that a server with all surfaces has imported when it answers its first call, at once after its start."""
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": tool, "arguments": arguments}},
    ]
    names = home / "imported.txt"
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("COVERAGE")  # which imports much itself
    }
    environment |= {"BACKSTORY_HOME": str(home / "data"), "HOME": str(home), "IMPORTED": str(names)}
    with subprocess.Popen(
        [sys.executable, "-c", NOTING],
        env=environment,
        cwd=home,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("".join(f"{json.dumps(message)}\n" for message in messages))
        server.stdin.flush()
        answers = (json.loads(line) for line in server.stdout)
        answer = next(each for each in answers if each.get("id") == 3)
        server.kill()
    assert not answer["result"]["isError"], answer
    return set(names.read_text().split())


def packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def own(modules: set[str]) -> list[str]:
    return [name for name in modules if name.startswith("backstory.")]


def guests(modules: set[str]) -> set[str]:
    return {name.split(".")[2] for name in modules if name.startswith("backstory.guests.")}


def test_a_save_as_the_first_call_imports_neither_numpy_nor_another_surface(tmp_path: Path) -> None:
    modules = imported(tmp_path, "context_save", {"key": "port", "value": "6543"})
    assert packages(modules) & (NEVER | MODEL | {"msgspec", "re2", "subprocess", "tomllib"}) == set()
    assert guests(modules) == {"memory_keeper"}
    assert not any(name.startswith(("backstory.readers", "backstory.core.sync")) for name in modules)
    assert len(own(modules)) <= MAX_MODULES_OF_A_SAVE


def test_a_recall_as_the_first_call_imports_numpy_only_if_there_is_something_to_score(tmp_path: Path) -> None:
    question = {"query": "which port does the staging database use"}
    modules = imported(tmp_path, "recall", question)
    assert packages(modules) & (NEVER | MODEL) == set()
    assert guests(modules) == set()
    unneeded = ("brief", "hooks", "forgetting", "remembering", "state", "statements.deriving")
    assert modules & {f"backstory.core.{name}" for name in unneeded} == set()
    assert len(own(modules)) <= MAX_MODULES_OF_A_RECALL
    with backstory.open(home=tmp_path / "data", project=tmp_path) as memory:
        memory.remember("The staging database listens on port 6543.")
    modules = imported(tmp_path, "recall", question)
    assert "numpy" in modules
    assert packages(modules) & NEVER == set()
    assert guests(modules) == set()
    assert len(own(modules)) <= MAX_MODULES_OF_A_RECALL
