"""One conversation of very many turns: the cost of reading it, and the time that other saves wait meanwhile.

    python bench/long_log.py [TURNS ...]

A log of Codex with TURNS (200,000) turns is read for the first time, again after a question was appended, after a line
in its middle was edited, with a copy of it elsewhere, and after the copy vanished; then the conversation is forgotten.
A second process saves a memory, waits 20 ms, and so on. "Held" is the longest time that a transaction of the sync had
the write lock, with its CPU time, and "waited" the longest time that a save took.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from backstory.core import Engine
from backstory.core.forgetting.removal import ForgetRequest, Removal
from backstory.core.sync import Sync
from backstory.domain.errors import BackstoryError
from backstory.domain.records import Memory
from backstory.domain.when import utc_now
from backstory.readers import Places, load_readers
from backstory.settings import Settings
from backstory.store.sqlite import SqliteStore
from backstory.store.sqlite.database import SqliteDatabase

DEFAULT_TURNS = "200000"
SAVE_PAUSE_S = 0.02
THREAD = "0199aaaa-0000-7000-8000-00000000000f"
START = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = [
    "the",
    "parser",
    "reads",
    "every",
    "line",
    "once",
    "and",
    "keeps",
    "where",
    "it",
    "stopped",
    "so",
    "that",
    "the",
    "next",
    "run",
    "goes",
    "on",
    "from",
    "there",
]


def lines(turns: int) -> Iterator[str]:
    meta = {"id": THREAD, "cwd": "/w/app", "timestamp": START.isoformat()}
    yield json.dumps({"timestamp": START.isoformat(), "type": "session_meta", "payload": meta})
    for number in range(turns):
        yield line(number)


def line(number: int) -> str:
    is_question = number % 2 == 0
    kind = "input_text" if is_question else "output_text"
    said = " ".join(WORDS[(number * 7 + place * 3) % len(WORDS)] for place in range(12))
    item = {
        "type": "message",
        "role": "user" if is_question else "assistant",
        "content": [{"type": kind, "text": f"{number}: {said}"}],
    }
    at = START + timedelta(seconds=number)
    return json.dumps({"timestamp": at.isoformat(), "type": "response_item", "payload": item})


def save_repeatedly(path: Path) -> None:
    """Run by the second process until its input ends: the time of each save in milliseconds, or "refused"."""
    store = SqliteStore(path)
    print("ready", flush=True)
    number = 0
    while True:
        number += 1
        start = time.perf_counter()
        at = utc_now()
        try:
            store.memories.put([Memory(f"m{number}", f"note {number}", "/w/app", "bench", at, at)])
            print(f"{(time.perf_counter() - start) * 1000:.1f}", flush=True)
        except BackstoryError:
            print("refused", flush=True)
        time.sleep(SAVE_PAUSE_S)


class Watch:
    """Measures how long transactions of this process held the write lock."""

    def __init__(self) -> None:
        self.longest_s = self.longest_cpu_s = 0.0
        original = SqliteDatabase.transaction

        @contextmanager
        def timed(database: SqliteDatabase) -> Iterator[None]:
            if database.in_transaction:
                with original(database):
                    yield
                return
            with original(database):
                start, cpu = time.perf_counter(), time.thread_time()
                yield
            self.longest_s = max(self.longest_s, time.perf_counter() - start)
            self.longest_cpu_s = max(self.longest_cpu_s, time.thread_time() - cpu)

        SqliteDatabase.transaction = timed  # type: ignore[method-assign, assignment]


def measure(watch: Watch, path: Path, label: str, act: Callable[[], object]) -> None:
    command = [sys.executable, __file__, "--save", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        watch.longest_s = watch.longest_cpu_s = 0.0
        cpu, wall = time.process_time(), time.perf_counter()
        act()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        writer.terminate()
        saves = writer.stdout.read().split()
    waits = [float(each) for each in saves if each != "refused"]
    print(
        f"{label:32} CPU {cpu:6.2f} s  wall {wall:6.1f} s  held {watch.longest_s * 1000:6.0f} ms"
        f" (CPU {watch.longest_cpu_s * 1000:5.0f})  waited {max(waits, default=0):7.0f} ms  refused {saves.count('refused')} of {len(saves)}",
        flush=True,
    )


def run(turns: int, watch: Watch) -> None:
    with tempfile.TemporaryDirectory(prefix="backstory-") as folder:
        home = Path(folder) / "home"
        log = home / f".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-{THREAD}.jsonl"
        copy = home / ".codex/archived_sessions" / log.name
        for path in (log, copy):
            path.parent.mkdir(parents=True)
        log.write_text("\n".join(lines(turns)) + "\n")
        path = Path(folder) / "store.db"
        store = SqliteStore(path)
        sync = Sync(Engine(Settings(home=home, project=Path("/w/app")), store, None))

        def read() -> None:
            assert sync.run(load_readers(["codex"]).values(), Places(home, {}, "linux")) is not None

        print(f"{turns:,} turns, {log.stat().st_size / 1e6:.0f} MB")
        measure(watch, path, "read for the first time", read)
        with log.open("a") as file:
            file.write(line(turns) + "\n")
        measure(watch, path, "a question was appended", read)
        text = log.read_text()
        log.write_text(text.replace(f"{turns // 2}: ", f"{turns // 2}! "))
        measure(watch, path, "a line in the middle was edited", read)
        copy.write_bytes(log.read_bytes())
        measure(watch, path, "a copy lies elsewhere", read)
        copy.unlink()
        measure(watch, path, "the copy vanished", read)
        count = len(store.messages.places(f"codex:{THREAD}"))
        assert count == turns + 1, count
        removal = Removal(store, utc_now(), ())
        measure(
            watch, path, "forgotten", lambda: removal.forget(ForgetRequest(conversations=[f"codex:{THREAD}"]))
        )
        store.close()


def main() -> None:
    if sys.argv[1:2] == ["--save"]:
        save_repeatedly(Path(sys.argv[2]))
    watch = Watch()
    for turns in sys.argv[1:] or [DEFAULT_TURNS]:
        run(int(turns), watch)


if __name__ == "__main__":
    main()
