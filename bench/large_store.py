"""A store of 100,000 memories: what a save and a search cost, through the real server.

    python bench/large_store.py HOME [SIZE]

HOME is filled up to SIZE with embedded notes first (about ten CPU minutes, once; it can be stopped and gone on
with), then the server is measured. At a tenth and a hundredth of SIZE it is measured on the way.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from notes import note, question
from servers import BACKSTORY, Server, percentile

from backstory.app import open_core, read_settings

CALLS = 200
BATCH = 500


def fill(home: Path, size: int) -> None:
    core = open_core(read_settings({"home": home}))
    engine = core.engine
    assert engine.backlog is not None
    while (held := engine.store.census().memories) < size:
        random_ = random.Random(held)
        with engine.store.transaction():
            for _ in range(min(BATCH, size - held)):
                core.through("bench").memories.save(note(random_))
        engine.backlog.drain()
        print(f"\r{held + BATCH:,} memories", end="", file=sys.stderr, flush=True)
    engine.close()


def measure(home: Path) -> None:
    server = Server(BACKSTORY, home)
    server.initialize()
    idle_mb = server.resident_mb()
    random_ = random.Random()
    server.call("retrieve_context", query=question(random_))  # loads the model, reads the sign bits
    before = server.settled_cpu_ms()
    ids = [server.call("save_context", context_text=note(random_)) for _ in range(CALLS)]
    save_ms = (server.settled_cpu_ms() - before) / CALLS
    spent = []
    for _ in range(CALLS):
        before = server.cpu_ms()
        server.call("retrieve_context", query=question(random_))
        spent.append(server.cpu_ms() - before)
    for saved in ids:
        server.call("delete_context", id=saved["structuredContent"]["id"])
    print(
        f"\rsave {save_ms:.1f} ms CPU with embedding; retrieve p50 {percentile(spent, 0.5):.1f},"
        f" p95 {percentile(spent, 0.95):.1f} ms CPU; {idle_mb:.0f} MB at start, {server.resident_mb():.0f} MB after"
    )
    server.stop()


def main(home: Path, size: int) -> None:
    for step in (size // 100, size // 10, size):
        fill(home, step)
        print(f"{step:,} memories: ", end="", flush=True)
        measure(home)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100_000)
