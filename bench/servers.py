"""A stdio MCP server under measurement: talk to it, and read the CPU time and memory the kernel charges it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

BACKSTORY = [str(Path(sys.executable).with_name("backstory")), "serve"]


class Server:
    def __init__(self, command: Sequence[str], home: Path | None = None, **environment: str) -> None:
        self.home = home or Path(tempfile.mkdtemp(prefix="bench-"))
        variables = {"BACKSTORY_HOME": str(self.home), "DATA_DIR": str(self.home), **environment}
        self._process = subprocess.Popen(
            command,
            env={**os.environ, **variables},
            cwd=self.home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._last_id = 0

    def initialize(self) -> None:
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def ask(self, method: str, params: Mapping[str, Any]) -> Any:
        self._last_id += 1
        self._send({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(b"{") and (message := json.loads(line)).get("id") == self._last_id:
                return message["result"]
        raise ConnectionError("the server went away")

    def kill(self) -> None:
        self._process.kill()

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)

    def cpu_ms(self) -> float:
        """CPU time of the process and its children so far, in microseconds if the kernel provides them."""
        return sum(process_ms(pid) for pid in self._family())

    def settled_cpu_ms(self) -> float:
        """CPU time after background work has finished."""
        before, now = -1.0, self.cpu_ms()
        while now - before > 1.0:
            time.sleep(0.5)
            before, now = now, self.cpu_ms()
        return now

    def resident_mb(self) -> float:
        pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self._family())
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def _family(self) -> list[int]:
        family = [self._process.pid]
        for pid in family:
            for task in Path(f"/proc/{pid}/task").iterdir():
                with suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended since
                    family += map(int, (task / "children").read_text().split())
        return family

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


@contextmanager
def launched(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that is terminated in the end, whatever happens meanwhile."""
    with subprocess.Popen(command, encoding="utf-8", **options) as process:
        try:
            yield process
        finally:
            process.terminate()


def process_ms(pid: int) -> float:
    """CPU time of all threads that a process has now."""
    total_ns = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended since
            total_ns += int((task / "schedstat").read_text().split()[0])
    return total_ns / 1e6


def family_ms(pid: int) -> float:
    """CPU milliseconds of a process and its children, including ended ones; 0 means no process."""
    if not pid:
        return 0.0
    tasks = Path(f"/proc/{pid}/task").iterdir()
    children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    spent = process_ms(pid) + _ended_ms(pid)
    for child in children:
        with suppress(OSError):  # it has ended since
            spent += process_ms(child)
    return spent


def _ended_ms(pid: int) -> float:
    """CPU time of ended children, in steps of the kernel's clock."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    cutime, cstime = map(int, fields[13:15])
    return (cutime + cstime) * 1000 / os.sysconf("SC_CLK_TCK")


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]
