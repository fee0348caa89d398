"""What a start costs: CPU from spawn to the `initialize` answer, and memory at rest.

    python bench/start.py [COMMAND OF A SERVER TO COMPARE WITH ...]

The servers take turns, so that a busy machine slows both. A fresh data directory each time.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence

from servers import BACKSTORY, Server, percentile

ROUNDS = 15


def start(command: Sequence[str]) -> tuple[float, float]:
    server = Server(command)
    server.initialize()
    cpu_ms = server.cpu_ms()
    time.sleep(0.5)
    resident_mb = server.resident_mb()
    server.stop()
    shutil.rmtree(server.home)
    return cpu_ms, resident_mb


def main(other: list[str]) -> None:
    commands = {"backstory": BACKSTORY} | ({other[0]: other} if other else {})
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            costs[name].append(start(command))
    medians = {}
    for name, cost in costs.items():
        medians[name] = percentile([cpu for cpu, _ in cost], 0.5)
        resident = percentile([mb for _, mb in cost], 0.5)
        print(f"{name}: {medians[name]:.0f} ms CPU to the initialize answer, {resident:.0f} MB at rest")
    if other:
        print(f"ratio: {medians['backstory'] / medians[other[0]]:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
