"""Reading other assistants' histories: speed, memory, and the speed of a search afterwards.

    python bench/sync.py [MB]

The logs of Claude Code and Codex in ../shared/data/histories are repeated under ids of their own up to MB (200) in a
temporary home, and read into a temporary store: by this process alone, and with a second process that decodes. Times are CPU
time; on two cores that have nothing else to do, a sync takes as long as the busier of the two processes.
"""

from __future__ import annotations

import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from servers import percentile

from backstory.core import Caller, Core, Engine
from backstory.core.ask import Inquiry
from backstory.core.sync import Sync, decoder_process
from backstory.domain.filters import Filter
from backstory.domain.records import Conversation, Message
from backstory.readers import Places, load_readers
from backstory.settings import Settings
from backstory.store.sqlite import SqliteStore

HISTORIES = Path(__file__).resolve().parents[2] / "shared" / "data" / "histories"
ROLLOUT_ID = re.compile(rb'"id": ?"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"')
READERS = ("claude-code", "codex")
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
    logs = sorted((HISTORIES / "claude-code").rglob("*.jsonl"))
    rollouts = [path for path in sorted((HISTORIES / "codex").rglob("*.jsonl")) if "tui" not in path.parts]
    if not logs:
        sys.exit(f"There are no histories in {HISTORIES}.")
    written = copy = 0
    while written < size:
        copies = [
            *(_claude_copy(home, log, copy, number) for number, log in enumerate(logs)),
            *(_codex_copy(home, log, copy, number) for number, log in enumerate(rollouts)),
        ]
        for target, text in copies:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
            written += len(text)
            yield len(text)
        copy += 1


def _claude_copy(home: Path, log: Path, copy: int, number: int) -> tuple[Path, bytes]:
    mark = f"c{copy}-{number}-"
    text = IDS.sub(rb'"\1":"' + mark.encode() + rb'\2"', log.read_bytes())
    is_agent = log.stem.startswith("agent-")
    name = log.stem.replace("agent-", f"agent-{mark}") if is_agent else f"{mark}{log.stem}"
    return home / ".claude" / "projects" / f"{log.parent.name}-{copy}" / f"{name}.jsonl", text


def _codex_copy(home: Path, log: Path, copy: int, number: int) -> tuple[Path, bytes]:
    text = log.read_bytes()
    id = f"{copy:08x}-0000-7000-8000-{number:012x}"
    if found := ROLLOUT_ID.search(text):
        text = text.replace(found[1], id.encode())
    return home / ".codex" / "sessions" / f"{copy:02d}" / f"rollout-2026-01-01T00-00-00-{id}.jsonl", text


def measure(folder: Path, size: int, files: int, *, is_aside: bool) -> SqliteStore:
    decoder_process.MUCH_BYTES = 0 if is_aside else 1 << 60
    store = SqliteStore(folder / f"{is_aside}.db")
    sync, readers = Sync(Engine(SETTINGS, store, None)), load_readers(READERS)
    places = Places(folder / "home", {}, "linux")

    def run() -> tuple[float, float]:
        """CPU seconds of this process and of those that it started."""
        own, before = time.process_time(), os.times()
        assert sync.run(readers.values(), places) is not None
        own, after = time.process_time() - own, os.times()
        others = after.children_user + after.children_system - before.children_user - before.children_system
        return own, others

    own, other = run()
    census = store.sync.census().values()
    print(f"{size / 1e6:.0f} MB in {files:,} files{', with a process that decodes' if is_aside else ''}:")
    print(f"     CPU {own:.2f} s here, {other:.2f} s there; {size / 1e6 / (own + other):.1f} MB for each")
    print(f"     on two free cores {size / 1e6 / max(own, other):.1f} MB/s")
    print(f"     {sum(one.conversations for one in census):,} conversations,", end=" ")
    print(f"{sum(one.messages for one in census):,} messages, {sum(one.redacted for one in census)} redacted")
    print(f"     resident at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    again = min(run()[0] for _ in range(5))
    print(f"     nothing new: {again * 1000:.0f} ms, {again / files * 1e6:.0f} ms for 1,000 files")
    return store


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
    core = Core(engine, Caller(project="/p"))
    for number in range(SEARCHES):
        start = time.process_time()
        core.ask.find(Inquiry(QUERIES[number % len(QUERIES)], limit=5))
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
        measure(Path(folder), sum(sizes), len(sizes), is_aside=False).close()
        store = measure(Path(folder), sum(sizes), len(sizes), is_aside=True)
        search(store)
        store.close()


if __name__ == "__main__":
    main()
