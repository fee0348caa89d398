"""The first call of a server imports what its tool needs: a client waits for it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

MAX_MODULES_OF_A_SAVE = 160
"""Of Backstory. All together there are over 450; a new one here makes every first call slower, so look why it is needed."""


def imported(home: Path, tool: str, arguments: dict[str, Any]) -> set[str]:
    """The modules that a server with all surfaces has imported when it has answered its first call."""
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
    environment = {**os.environ, "BACKSTORY_HOME": str(home), "HOME": str(home)}
    command = [sys.executable, "-X", "importtime", "-m", "backstory", "serve"]
    log = home / "imports.txt"
    with (
        log.open("w") as stderr,
        subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True
        ) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("".join(f"{json.dumps(message)}\n" for message in messages))
        server.stdin.flush()
        answers = (json.loads(line) for line in server.stdout)
        answer = next(each for each in answers if each.get("id") == 3)
        modules = set(re.findall(r"\| +([\w.]+)$", log.read_text(), re.MULTILINE))
        server.kill()
    assert not answer["result"]["isError"], answer
    return modules


def test_a_save_as_the_first_call_imports_neither_numpy_nor_another_surface(tmp_path: Path) -> None:
    modules = imported(tmp_path, "context_save", {"key": "port", "value": "6543"})
    assert "numpy" not in modules
    guests = {name.split(".")[2] for name in modules if name.startswith("backstory.guests.")}
    assert guests == {"memory_keeper"}
    assert len([name for name in modules if name.startswith("backstory.")]) <= MAX_MODULES_OF_A_SAVE
