"""A store of 100,000 memories: the cost of a save and of a search, through the real server.

    python bench/large_store.py HOME [SIZE [DATABASE_URL]]

HOME, or the database, is filled up to SIZE with embedded notes first (about ten CPU minutes, once; it can be interrupted and
continued), then the server is measured. At a tenth and a hundredth of SIZE it is measured on the way. CPU is the server's;
PostgreSQL's share shows in the duration of a call.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

from notes import note, question
from servers import BACKSTORY, Server, percentile

from backstory.app import open_core, read_settings

CALLS = 200
BATCH = 500


def fill(home: Path, size: int, url: str) -> None:
    core = open_core(read_settings({"home": home, "database_url": url}))
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


def measure(home: Path, url: str) -> None:
    server = Server(BACKSTORY, home, BACKSTORY_DATABASE_URL=url)
    server.initialize()
    idle_mb = server.resident_mb()
    random_ = random.Random()
    server.call("retrieve_context", query=question(random_))  # loads the model, reads the sign bits
    before, started = server.settled_cpu_ms(), time.perf_counter()
    ids = [server.call("save_context", context_text=note(random_)) for _ in range(CALLS)]
    saved_ms = (time.perf_counter() - started) * 1000 / CALLS
    save_ms = (server.settled_cpu_ms() - before) / CALLS
    spent, took = [], []
    for _ in range(CALLS):
        before, started = server.cpu_ms(), time.perf_counter()
        server.call("retrieve_context", query=question(random_))
        took.append((time.perf_counter() - started) * 1000)
        spent.append(server.cpu_ms() - before)
    for saved in ids:
        server.call("delete_context", id=saved["structuredContent"]["id"])
    print(
        f"\rsave {save_ms:.1f} ms CPU with embedding, answered in {saved_ms:.1f} ms; retrieve"
        f" p50 {percentile(spent, 0.5):.1f}, p95 {percentile(spent, 0.95):.1f} ms CPU,"
        f" p50 {percentile(took, 0.5):.1f}, p95 {percentile(took, 0.95):.1f} ms;"
        f" {idle_mb:.0f} MB at start, {server.resident_mb():.0f} MB after"
    )
    server.stop()


def main(home: Path, size: int, url: str) -> None:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    for step in (size // 100, size // 10, size):
        fill(home, step, url)
        print(f"{step:,} memories: ", end="", flush=True)
        measure(home, url)


if __name__ == "__main__":
    home, size, url = [*sys.argv[1:], *["", "100000", ""][len(sys.argv) - 1 :]]
    main(Path(home), int(size), url)
