"""Unusual and invalid requests over stdio to a real server: each must be answered, none with an internal error.

python bench/fuzz.py [REQUESTS] [SEED] [DATABASE_URL]

Arguments follow each tool's schema, nearly follow it, or are unrelated to it; some lines are not requests. All paths
are in one temporary directory, so the server writes only there.
"""

from __future__ import annotations

import json
import os
import queue
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

Json = dict[str, Any]

AT_ONCE = 8
GARBAGE_SHARE = 0.06
SLOW = {"init", "checkpoint", "status", "end", "get_project_info", "list_project_files"}  # they run git
SLOW_SHARE = 0.15
PATH = re.compile("path|dir|file|folder|output", re.IGNORECASE)
LARGE = 200_000
MOST_GROWTH_MB = 60.0
"""Between the first third of the requests and the last."""

TEXTS = (
    "", " ", "\n\t\r", "a", "staging server", "NULL", "null", "true", "0", "-1", "1e309", "NaN", "0x1F", "\0", "a\0b",
    "\ud800", "a\udfffb", "\u2028", "\ufeff", "\u202e", "ﷺ", "İ", "ß", "🦉" * 20, "e\u0301" * 50, "日本語" * 30,
    "'; DROP TABLE entry; --", '" OR ""="', "%", "_", "*", "a* AND b", "NEAR(a b)", "^x", "{body} : x", "$1", "?", ":x",
    "\\", "\\n", "../../../x", "..", ".", "<script>", "{{x}}", "${HOME}", "`id`", "%s%n%x", "yesterday", "2 hours ago",
    "9999-12-31T23:59:59Z", "-0001-01-01", "what broke on 0001-01-01", "2026-02-30", "99999999999 days ago", "in 5 minutes", "today", "[", "(", "(?P<a",
    "a" * 1_000, "x " * 5_000, "x." * 2_500, "a/" * 1_000, "critical", "high", "task", "general", "all", "session", "AKIAIOSFODNN7EXAMPLE",
)  # fmt: skip
NUMBERS = (
    0, 1, -1, 2, 7, 100, 10_000, 2**31, -(2**31), 2**63, 2**64, 10**30, -(10**30), 0.0, -0.0, 0.5, 1e-300, 1e300, 3.7, 1e15
)  # fmt: skip
ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    [],
    {},
    [[]],
    [None],
    {"a": {"b": [1, {"c": None}]}},
    [1, "a", None],
    {"": ""},
)


class Sender:
    """One server, the requests it was sent and the answers that are still due."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self._input: IO[bytes] = process.stdin
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()
        self._last = 0
        self.due: dict[str, str] = {}
        self.outcomes: Counter[str] = Counter()
        self.bad: list[str] = []

    def request(self, method: str, params: Any, *, name: str = "") -> None:
        self._last += 1
        id = f"r{self._last}"
        body: Json = {"jsonrpc": "2.0", "id": id, "method": method}
        if params is not ...:
            body["params"] = params
        self.due[id] = name or method
        self.send(json.dumps(body).encode())

    def _read(self, output: IO[bytes]) -> None:
        """All the time: a client that only writes fills its pipe, and waits for a server that waits for it."""
        for line in output:
            self._lines.put(line)
        self._lines.put(b"")

    def send(self, line: bytes) -> None:
        self._input.write(line + b"\n")
        self._input.flush()

    def answers(self) -> Iterator[Json]:
        """Until nothing is due."""
        while self.due:
            line = self._lines.get()
            if not line:
                raise ConnectionError(f"the server went away; due were {self.due}")
            message = json.loads(line)
            if "id" not in message:
                continue
            name = self.due.pop(str(message["id"]), None)
            if name is not None:
                self._judge(name, message, line)
            yield message

    def _judge(self, name: str, message: Json, line: bytes) -> None:
        if "error" in message:
            self.outcomes["refused"] += 1
            is_bug = message["error"]["code"] == -32603
        else:
            self.outcomes["failed" if message["result"].get("isError") else "completed"] += 1
            is_bug = b"internal error" in line.lower() and bool(message["result"].get("isError"))
        if is_bug:
            self.bad.append(f"{name}: {line[:300]!r}")


class Fuzz:
    def __init__(self, seed: int, folder: Path, tools: list[Json]) -> None:
        self._random = random.Random(seed)
        self._folder = folder
        self._tools = tools
        self._ids = ["nowhere"]

    def learn(self, message: Json) -> None:
        """Ids that answers name make later requests meet something."""
        found = re.findall(r'"(?:id|sessionId|session_id|cache_key)":"([^"]+)"', json.dumps(message))
        self._ids = (self._ids + found)[-200:]

    def call(self) -> tuple[str, Any]:
        pick = self._random
        tool = pick.choice(self._tools)
        while tool["name"] in SLOW and pick.random() > SLOW_SHARE:
            tool = pick.choice(self._tools)
        arguments = self._arguments(tool["inputSchema"])
        way = pick.random()
        if way < 0.45:
            return tool["name"], {"name": tool["name"], "arguments": arguments}
        if way < 0.9:
            for _ in range(pick.choice((1, 1, 2, 5))):
                self._spoil(arguments, tool["inputSchema"])
            return tool["name"], {"name": tool["name"], "arguments": arguments}
        params = {"name": tool["name"], "arguments": arguments, "_meta": {"progressToken": self._value("x")}}
        params[pick.choice(("name", "arguments", "_meta", "other"))] = self._value("x")
        return tool["name"], pick.choice((params, params, params, self._value("x"), ...))

    def _arguments(self, schema: Json) -> Json:
        known, required = schema.get("properties", {}), schema.get("required", ())
        return {
            name: self._valid(name, shape)
            for name, shape in known.items()
            if name in required or self._random.random() < 0.4
        }

    def _valid(self, name: str, shape: Json) -> Any:
        pick = self._random
        if "anyOf" in shape:
            shape = pick.choice(shape["anyOf"])
        if "enum" in shape:
            return pick.choice(shape["enum"])
        kind = shape.get("type")
        if kind in ("integer", "number"):
            low, high = shape.get("minimum", -5), shape.get("maximum", 1_000)
            return pick.randint(int(low), int(high)) if kind == "integer" else pick.uniform(low, high)
        if kind == "boolean":
            return pick.random() < 0.5
        if kind == "array":
            most = min(shape.get("maxItems", 4), 4)
            return [
                self._valid(name, shape["items"]) for _ in range(pick.randint(shape.get("minItems", 0), most))
            ]
        if kind == "object":
            return {str(self._text("x")): self._value("x") for _ in range(pick.randint(0, 3))}
        return self._text(name) if kind == "string" else self._value(name)

    def _spoil(self, arguments: Json, schema: Json) -> None:
        """Change an argument: another type, a limit value, an unknown name, or none."""
        pick = self._random
        names = [*schema.get("properties", {}), "no_such_argument"]
        name = pick.choice(names)
        if pick.random() < 0.15:
            arguments.pop(name, None)
        else:
            arguments[name] = self._value(name)

    def _value(self, name: str) -> Any:
        pick = self._random
        ways = (
            lambda: self._text(name),
            lambda: pick.choice(NUMBERS),
            lambda: pick.choice(ODD),
            lambda: [self._text(name) for _ in range(pick.choice((1, 3, 50)))],
            lambda: {self._text("x"): pick.choice(ODD)},
        )
        value: Any = pick.choice(ways)()
        if pick.random() < 0.02:
            for _ in range(pick.choice((50, 400))):
                value = [value] if pick.random() < 0.5 else {"a": value}
        return value

    def _text(self, name: str) -> str:
        pick = self._random
        if PATH.search(name):
            text = pick.choice((*TEXTS, "src/auth.ts", "example.json", "a/b/c.json", "x" * 300))
            inside = text.lstrip("/\\~").replace("..", "") or "x"  # nothing is written outside
            return str(self._folder / inside) if pick.random() < 0.5 else inside
        way = pick.random()
        if way < 0.2:
            return pick.choice(self._ids)
        if way < 0.22:
            return "word " * (LARGE // 5)
        if way < 0.35:
            return "".join(
                chr(pick.choice((pick.randint(1, 0xD7FF), pick.randint(32, 126)))) for _ in range(20)
            )
        return pick.choice(TEXTS)

    def garbage(self) -> bytes:
        """A line that is no request, and still gets one answer."""
        pick = self._random
        whole = json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "save_context"}}
        )
        ways = (
            lambda: whole[: pick.randint(1, len(whole) - 1)].encode(),
            lambda: b"\xff\xfe" + pick.randbytes(pick.randint(1, 60)).replace(b"\n", b" "),
            lambda: json.dumps(pick.choice((1, "x", True, 0.5))).encode(),
            lambda: b'{"jsonrpc":"1.0","id":5,"method":"ping"}',
            lambda: b'{"jsonrpc":"2.0","id":5,"method":7}',
            lambda: b'{"jsonrpc":"2.0","id":5,"method":"no/such"}',
            lambda: b'{"jsonrpc":"2.0","id":5,"method":"ping","params":[1]}',
            lambda: b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"n":' + b"9" * 5_000 + b"}}",
            lambda: b'{"a":' + b"[" * 100_000,
            lambda: b'{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":NaN}}',
        )
        line: bytes = pick.choice(ways)()
        return line


def resident_mb(process: subprocess.Popen[bytes]) -> float:
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def start(home: Path, folder: Path, database: str) -> subprocess.Popen[bytes]:
    variables = {
        "HOME": str(home / "nobody"),
        "USERPROFILE": str(home / "nobody"),
        "BACKSTORY_HOME": str(home),
    }
    if database:
        variables["BACKSTORY_DATABASE_URL"] = database
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BACKSTORY_")}
    command = [sys.executable, "-m", "backstory", "serve", "--embeddings", "off", "--project", str(folder)]
    return subprocess.Popen(
        command,
        env=kept | variables,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def run(requests: int, seed: int, database: str) -> bool:
    with tempfile.TemporaryDirectory(prefix="fuzz-") as sandbox:
        home, folder = Path(sandbox) / "home", Path(sandbox) / "a" / "b" / "c" / "d"
        folder.mkdir(parents=True)
        began = time.process_time()
        with start(home, folder, database) as process:
            sender = Sender(process)
            sizes = send_all(sender, Fuzz(seed, folder, tools_of(sender)), requests)
            assert process.stdin is not None
            process.stdin.close()
            code = process.wait(30)
        return report(sender, sizes, code, logged_bugs(home), time.process_time() - began)


def tools_of(sender: Sender) -> list[Json]:
    client = {"name": "fuzz", "version": "1"}
    sender.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
    sender.request("tools/list", {})
    tools: list[Json] = []
    for message in sender.answers():
        tools += message["result"].get("tools", ())
    return tools


def send_all(sender: Sender, fuzz: Fuzz, requests: int) -> list[float]:
    """The server's resident megabytes, a hundred times on the way."""
    sizes: list[float] = []
    step = max(requests // 100, 1)
    sent = 0
    while sent < requests:
        if sent // step >= len(sizes) and sys.platform == "linux":
            sizes.append(resident_mb(sender.process))
        if fuzz._random.random() < GARBAGE_SHARE:
            sender.send(fuzz.garbage())
            sent += 1
            sender.request("ping", {})  # answers come in order, so an invalid request must be answered first
            if len(list(sender.answers())) != 2:
                sender.bad.append("a line that is no request was not answered, or more than once")
            continue
        for _ in range(min(AT_ONCE, requests - sent)):
            name, params = fuzz.call()
            sender.request("tools/call", params, name=name)
            sent += 1
        for message in sender.answers():
            fuzz.learn(message)
    return sizes


def logged_bugs(home: Path) -> Counter[str]:
    """The places of internal errors, from the session log."""
    found: Counter[str] = Counter()
    for log in (home / "logs").glob("*.log"):
        for line in log.read_text("utf-8").splitlines():
            if "traceback" in (data := json.loads(line)["data"]):
                found[f"{data.get('error')}: {data['traceback'][-1].strip()}"] += 1
    return found


def report(sender: Sender, sizes: list[float], code: int, bugs: Counter[str], seconds: float) -> bool:
    told = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(sender.outcomes.items()))
    print(f"{sender.outcomes.total():,} calls answered: {told}; {len(sender.bad)} wrong; exit {code}")
    growth = 0.0
    if len(sizes) >= 6:
        third = len(sizes) // 3
        growth = max(sizes[-third:]) - max(sizes[:third])
        print(
            f"resident: {sizes[0]:.0f} MB at first, at most {max(sizes):.0f}, {sizes[-1]:.0f} at last; {growth:+.0f}"
        )
    for bug, count in bugs.most_common(20):
        print(f"{count} × {bug}")
    for line in sender.bad[:20]:
        print(line)
    print(f"{seconds:.0f} s CPU of this process")
    return not sender.bad and not bugs and code == 0 and growth < MOST_GROWTH_MB


if __name__ == "__main__":
    count, seed = (int(word) for word in (*sys.argv[1:3], *("2000", "1")[len(sys.argv[1:3]) :]))
    sys.exit(0 if run(count, seed, sys.argv[3] if len(sys.argv) > 3 else "") else 1)
