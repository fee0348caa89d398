"""The cost of one deletion in a large store, and the time that other callers wait meanwhile.

    python bench/deletion.py HOME sqlite|postgres [SIZE]

A store is filled with SIZE notes (100,000) without vectors; a file that has them is taken as it is. Then one note is erased for good and its bytes
are overwritten at once, while another thread searches, and again while one saves. CPU is that of this process and of PostgreSQL; waits are
those of single calls; the longest transaction is one of the erasure, in CPU of its thread and in time. In PostgreSQL the same is measured twice: outside of
the hours of `erasure_window`, where the bytes are left for later, and inside.
"""

from __future__ import annotations

import random
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from notes import note, question
from servers import family_ms
from tenants import start

from backstory.app import open_store, read_settings
from backstory.core import Caller, Core, Engine
from backstory.core.forgetting import erase
from backstory.domain.filters import EVERYTHING
from backstory.settings import Settings

SIZE = 100_000
BATCH = 1_000


def fill(engine: Engine, size: int) -> list[str]:
    core = Core(engine, Caller(project="/bench"), "projectmemory")
    random_ = random.Random(7)
    ids = [id for id, _ in engine.store.memories.stamps(EVERYTHING)]
    while len(ids) < size:
        memories = [
            core.memories.new(note(random_), "/bench", None) for _ in range(min(BATCH, size - len(ids)))
        ]
        with engine.store.transaction():
            engine.store.memories.put(memories)
        ids += [each.id for each in memories]
        print(f"\r{len(ids):,} notes", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return ids


class Waits:
    """The longest of many calls, on a thread of its own."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self._is_over = threading.Event()
        self.longest_ms = 0.0
        self.calls = 0
        self.failures = 0
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Waits:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._is_over.is_set():
            started = time.perf_counter()
            try:
                self._call()
            except Exception:
                self.failures += 1
            self.longest_ms = max(self.longest_ms, (time.perf_counter() - started) * 1000)
            self.calls += 1


class Transactions:
    """The longest transaction of a store, from its beginning, after it has its lock, to its end."""

    def __init__(self, engine: Engine) -> None:
        self.longest_cpu_ms = self.longest_ms = 0.0
        self._database = engine.store.database
        self._transaction = self._database.transaction
        self._database.transaction = self._measured  # type: ignore[method-assign]

    @contextmanager
    def _measured(self) -> Iterator[None]:
        is_outer = not self._database.in_transaction
        with self._transaction():
            cpu, started = time.thread_time(), time.perf_counter()
            yield
        if is_outer:
            self.longest_cpu_ms = max(self.longest_cpu_ms, (time.thread_time() - cpu) * 1000)
            self.longest_ms = max(self.longest_ms, (time.perf_counter() - started) * 1000)


def cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(
    name: str, engine: Engine, other: Engine, ids: list[str], server_cpu_s: Callable[[], float]
) -> None:
    core = Core(other, Caller(project="/bench"), "projectmemory")
    random_ = random.Random()

    def read() -> None:
        other.search.find(question(random_), core.caller.visible(EVERYTHING))

    def write() -> None:
        core.memories.save(note(random_))

    read()
    write()
    for work, label in ((read, "search"), (write, "save")):
        transactions = Transactions(engine)
        with Waits(work) as quiet:
            time.sleep(3)
        victim = ids.pop()
        before, server_before, started = cpu_s(), server_cpu_s(), time.perf_counter()
        with Waits(work) as busy:
            receipt = erase(engine, (victim,))
            took_s = time.perf_counter() - started
        print(
            f"{name}: erasing one of {len(ids):,} took {took_s:.2f} s ({cpu_s() - before:.2f} s CPU here with the"
            f" {label} beside it, {server_cpu_s() - server_before:.2f} s in the database); a {label} waited"
            f" {busy.longest_ms:.0f} ms at most ({busy.calls} calls, {busy.failures} failed), {quiet.longest_ms:.0f} ms without it;"
            f" {receipt.pending or 'overwritten'};"
            f" longest transaction {transactions.longest_cpu_ms:.0f} ms CPU, {transactions.longest_ms:.0f} ms"
        )


def opened(settings: Settings) -> Engine:
    """Without work in the background, so that bytes are overwritten before `erase` returns."""
    return Engine(settings, open_store(settings), None)


def main(home: Path, database: str, size: int) -> None:
    flags = {"home": home, "embeddings": "off", "histories": "off", "backups": "off"}
    settings, database_cpu_s = read_settings(flags), lambda: 0.0
    if database == "postgres":
        place = start(home)
        settings = place.settings.changed(backups="off")
        database_cpu_s = lambda: family_ms(place.database) / 1000  # noqa: E731
    windows = ["always"]
    if database == "postgres":
        later = datetime.now(UTC) + timedelta(hours=12)
        windows.insert(0, f"{later:%H:%M}-{later + timedelta(hours=2):%H:%M}")
    for window in windows:
        own = settings.changed(erasure_window=window)
        with closing(opened(own)) as engine, closing(opened(own)) as other:
            measure(f"{database}, erasure_window {window}", engine, other, fill(engine, size), database_cpu_s)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else SIZE)
