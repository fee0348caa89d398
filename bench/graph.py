"""A graph of 100,000 relations: the cost of analysing a note, of a walk and of an analysis.

    python bench/graph.py [RELATIONS]

CPU time of this process, so other work on the machine does not count.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

from notes import note
from servers import percentile

from backstory.core import Caller, Core, Engine
from backstory.core.graph.reading import extractor, read
from backstory.domain.filters import Filter
from backstory.domain.graph import UnreadEntry
from backstory.domain.records import Memory
from backstory.domain.when import utc_now
from backstory.settings import Settings
from backstory.store.sqlite import SqliteStore

CALLS = 200
SURFACE = "bench"
_VERBS = ("calls", "depends on", "uses", "imports", "replaces", "tests")


def text(random_: random.Random, things: int) -> str:
    """A note that names eight things and relates them; a few things are in many notes, most in a few."""

    def name() -> str:
        n = int(things * random_.random() ** 3)
        return f"src/part{n % 50}/module_{n}.py" if n % 3 else f"handle_thing_{n}()"

    said = [f"{name()} {random_.choice(_VERBS)} {name()}." for _ in range(4)]
    return f"{note(random_, 25)} {' '.join(said)} See T-{random_.randrange(things)}."


def fill(core: Core, relations: int) -> None:
    random_ = random.Random(7)
    now, items = utc_now(), relations // 15
    store = core.engine.store
    memories = [
        Memory(
            f"id{n}",
            text(random_, items // 2),
            "/p",
            SURFACE,
            now,
            now,
            key=f"item_{n}",
            session="s",
            private=n % 10 == 0,
        )
        for n in range(items)
    ]
    store.memories.put(memories)
    before = process_time()
    core.graph.update()
    while core.graph.update():
        pass
    spent = (process_time() - before) * 1000
    print(f"{items:,} items read and stored: {spent / items:.2f} ms CPU each")


def timed(work: Callable[[], object], calls: int) -> tuple[float, float]:
    spent = []
    for _ in range(calls):
        before = process_time()
        work()
        spent.append((process_time() - before) * 1000)
    return percentile(spent, 0.5), percentile(spent, 0.95)


def report(what: str, work: Callable[[], object], calls: int = CALLS) -> None:
    p50, p95 = timed(work, calls)
    print(f"{what}: p50 {p50:.1f}, p95 {p95:.1f} ms CPU")


def main(relations: int) -> None:
    random_ = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "store.db")
        core = Core(
            Engine(Settings(home=Path(folder), project=Path("/p")), store, None),
            Caller(project="/p", session="s"),
            SURFACE,
        )
        fill(core, relations)
        whole = core.graph.analyze(Filter(), 2)
        print(f"{len(whole.entities):,} entities, {len(whole.relations):,} distinct relations")
        items = relations // 15
        report("looking for items to read", core.graph.update)
        report(
            "find_related, depth 2, an item",
            lambda: core.graph.related(f"item_{random_.randrange(items)}", 2, (), 50),
        )
        report("find_related, depth 1, an item", lambda: core.graph.related("item_5", 1, (), 50))
        hub = next(entity for entity in whole.entities if entity.type == "file")
        print(f"the most mentioned file: {hub.times} mentions")
        report("find_related, depth 2, that file", lambda: core.graph.related(hub.name, 2, (), 50))
        report("analyze everything", lambda: core.graph.analyze(Filter(), 2), 5)
        report("view of everything", lambda: core.graph.view(Filter()), 5)
        long = text(random_, items) * 300
        sample = UnreadEntry(1, 0, "k", None, long)
        report(f"reading {len(long[:100_000]):,} characters", lambda: read(sample), 5)
        print(f"extractor {extractor()} (odd: with syntax trees of backstory[code])")
        core.engine.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
