"""The cost of a start: CPU from spawn to the answers to `initialize` and `tools/list`, and memory then, beside a loop in Python that
imports json and answers every line with nothing. It also measures an idle server after it has searched for histories.

    python bench/start.py [COMMAND OF A SERVER TO COMPARE WITH ...]

The servers take turns, so that a busy machine slows both. A fresh data directory each time.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from servers import BACKSTORY, Server, percentile

ROUNDS = 15
IDLE_S = 5.0  # the first round begins a second after the start
HISTORIES = Path(__file__).parents[1] / "tests" / "readers" / "claude-code" / "home"
BARE = (
    "import json, sys\n"
    "for line in sys.stdin:\n"
    "    if 'id' in (message := json.loads(line)):\n"
    "        print(json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': {}}), flush=True)\n"
)


def start(command: Sequence[str]) -> tuple[float, float]:
    server = Server(command)
    server.initialize()
    server.ask("tools/list", {})
    cpu_ms, resident_mb = server.cpu_ms(), server.resident_mb()
    server.stop()
    shutil.rmtree(server.home)
    return cpu_ms, resident_mb


def idle(histories: Path) -> float:
    """MB of a server that has found nothing new in these."""
    data = Path(tempfile.mkdtemp(prefix="bench-"))
    for _ in range(2):  # the first reads what there is
        server = Server(BACKSTORY, data, HOME=str(histories))
        server.initialize()
        server.ask("tools/list", {})
        time.sleep(IDLE_S)
        resident_mb = server.resident_mb()
        server.stop()
    shutil.rmtree(data)
    return resident_mb


def main(other: list[str]) -> None:
    bare = [sys.executable, "-c", BARE]
    commands = {"backstory": BACKSTORY, "bare loop": bare} | ({other[0]: other} if other else {})
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            costs[name].append(start(command))
    medians = {}
    for name, cost in costs.items():
        medians[name] = percentile([cpu for cpu, _ in cost], 0.5)
        resident = percentile([mb for _, mb in cost], 0.5)
        print(f"{name}: {medians[name]:.0f} ms CPU to tools/list, {resident:.0f} MB then")
    for name in [*commands][1:]:
        print(f"ratio to {name}: {medians['backstory'] / medians[name]:.2f}")
    with tempfile.TemporaryDirectory() as empty:
        print(
            f"idle: {idle(Path(empty)):.0f} MB without histories, {idle(HISTORIES):.0f} MB with some that it knows"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
