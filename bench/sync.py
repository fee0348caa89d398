"""Reading other assistants' histories: how fast, in how much memory, and how fast what was read is found.

    python bench/sync.py [MB]

The Claude Code logs of ../shared/data/histories are repeated under ids of their own up to MB (200) in a temporary home,
and read into a temporary store. Times are CPU time of this process.
"""

from __future__ import annotations

import re
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from servers import percentile

from backstory.core import Engine
from backstory.core.sync import Sync
from backstory.domain.filters import Filter
from backstory.domain.records import Conversation, Message
from backstory.readers import Places, load_readers
from backstory.settings import Settings
from backstory.store.sqlite import SqliteStore

LOGS = Path(__file__).resolve().parents[2] / "shared" / "data" / "histories" / "claude-code"
IDS = re.compile(rb'"(sessionId|uuid|parentUuid|leafUuid|agentId)": ?"([^"]+)"')
QUERIES = (
    "cache",
    "why does the test fail",
    "database migration",
    "refactor the parser",
    "TypeError",
    "docker build",
)
TURNS = 150_000
SEARCHES = 60
SETTINGS = Settings(home=Path("/nowhere"), project=Path("/p"))


def repeat(home: Path, size: int) -> Iterator[int]:
    """Copies of every log, each with other ids, until there are `size` bytes; how many each has."""
    written = copy = 0
    while written < size:
        for number, log in enumerate(sorted(LOGS.rglob("*.jsonl"))):
            mark = b"c%d-%d-" % (copy, number)
            text = IDS.sub(rb'"\1":"' + mark + rb'\2"', log.read_bytes())
            is_agent = log.stem.startswith("agent-")
            name = (
                log.stem.replace("agent-", f"agent-{mark.decode()}")
                if is_agent
                else f"{mark.decode()}{log.stem}"
            )
            target = home / ".claude" / "projects" / f"{log.parent.name}-{copy}" / f"{name}.jsonl"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
            written += len(text)
            yield len(text)
        copy += 1


def measure(store: SqliteStore, home: Path, size: int, files: int) -> None:
    sync, readers = Sync(Engine(SETTINGS, store, None)), load_readers(["claude-code"])
    places = Places(home, {}, "linux")

    def run() -> float:
        start = time.process_time()
        assert sync.run(readers.values(), places) is not None
        return time.process_time() - start

    took = run()
    told = store.sync.census()["claude-code"]
    print(f"read {size / 1e6:.0f} MB in {files:,} files: {size / 1e6 / took:.1f} MB/s")
    print(f"     {told.conversations:,} conversations, {told.messages:,} messages, {told.redacted} redacted")
    print(f"resident at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    again = min(run() for _ in range(5))
    print(f"nothing new: {again * 1000:.0f} ms, {again / files * 1e6:.0f} ms for 1,000 files")


def search(store: SqliteStore) -> None:
    """Grow the store to TURNS turns of the texts it has, and search by words."""
    engine = Engine(SETTINGS, store, None)
    entries = store.entries.load(range(1, 20_000)).values()
    messages = [entry for entry in entries if isinstance(entry, Message)]
    copy = 0
    while store.entries.count(Filter()) < TURNS:
        thread = f"copy-{copy}"
        at = messages[0].created_at
        rows = [m._replace(id=f"{thread}/{n}", conversation=thread, seq=n) for n, m in enumerate(messages)]
        store.conversations.add(Conversation(thread, "", "/p", "copy", at, at), rows, [])
        copy += 1
    times = []
    for number in range(SEARCHES):
        start = time.process_time()
        engine.search.find(QUERIES[number % len(QUERIES)], Filter(public_or_in=""))
        times.append((time.process_time() - start) * 1000)
    print(
        f"search by words among {store.entries.count(Filter()):,} messages: p50 {percentile(times, 0.5):.1f} ms,"
        f" p95 {percentile(times, 0.95):.1f} ms"
    )


def main() -> None:
    size = int(sys.argv[1] if len(sys.argv) > 1 else 200) * 1_000_000
    with tempfile.TemporaryDirectory(prefix="backstory-") as folder:
        home = Path(folder) / "home"
        sizes = list(repeat(home, size))
        store = SqliteStore(Path(folder) / "store.db")
        measure(store, home, sum(sizes), len(sizes))
        search(store)
        store.close()


if __name__ == "__main__":
    main()
