"""CPU of the first call of a server with all surfaces: at once, and after a pause in which it can make itself ready.

    python bench/first_call.py [ROUNDS] [STORE]

A fresh data directory each time, or a copy of STORE, a data directory with conversations. Histories are looked for in that
directory, so nothing is read there. The figure is the CPU that the server and its children use between the request and its
answer; "from spawn" includes the start, `initialize` and `tools/list`.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

from servers import BACKSTORY, Server, percentile

PAUSE_S = 10.0
CALLS = (
    ("context_save", {"key": "port", "value": "The staging database listens on 6543."}, 0.0),
    ("recall", {"query": "which port does the staging database use"}, 0.0),
    ("recall", {"query": "which port does the staging database use"}, PAUSE_S),
)


def first_call(
    tool: str, arguments: dict[str, str], pause_s: float, store: Path | None
) -> tuple[float, float]:
    """CPU of the call and CPU from spawn, in ms."""
    home = Path(tempfile.mkdtemp(prefix="bench-"))
    if store is not None:
        shutil.copytree(store, home, dirs_exist_ok=True)
    server = Server(BACKSTORY, home, HOME=str(home))
    server.initialize()
    server.ask("tools/list", {})
    time.sleep(pause_s)
    before = server.cpu_ms()
    server.call(tool, **arguments)
    after = server.cpu_ms()
    server.stop()
    shutil.rmtree(server.home)
    return after - before, after


def main(rounds: int, store: Path | None) -> None:
    for tool, arguments, pause_s in CALLS:
        costs = [first_call(tool, arguments, pause_s, store) for _ in range(rounds)]
        call, total = (percentile(values, 0.5) for values in zip(*costs, strict=True))
        when = f"after {pause_s:.0f} s" if pause_s else "at once"
        print(f"{tool} {when}: {call:.0f} ms CPU, {total:.0f} from spawn")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 7, Path(sys.argv[2]) if sys.argv[2:] else None)
