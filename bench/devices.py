"""Devices: a long random history on several machines, and the cost of real histories.

    python bench/devices.py --operations 10000 [--seed 1] [--machines 3]
    python bench/devices.py --histories [--home HOME]
    python bench/devices.py --writes

The first plays tests/device_world.py: machines with wrong clocks, a synchroniser that copies late, half and twice, and a home that is
copied; at the end all machines must show the same, nothing may be lost, and nothing forgotten may be in any byte. The second
reads ../shared/data/histories, or those of another home, into a store and sends it to a second machine. The third measures the cost of a save in a vault.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import histories

from backstory.core import Caller, Core, Engine
from backstory.core.calls import Call
from backstory.core.devices import Carry, Devices
from backstory.core.sync import Sync
from backstory.readers import Places, load_readers
from backstory.settings import Settings
from backstory.store.sqlite import SqliteStore

ROOT = Path(__file__).resolve().parents[1]
SAVES = 500
ROUNDS = 5


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--operations", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--machines", type=int, default=3)
    parser.add_argument("--histories", action="store_true")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--writes", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as top:
        if options.operations:
            play(Path(top), options.seed, options.operations, options.machines)
        if options.histories:
            send_histories(Path(top), options.home)
        if options.writes:
            measure_writes(Path(top))


def play(top: Path, seed: int, operations: int, machines: int) -> None:
    sys.path.insert(0, str(ROOT))
    from tests.device_world import World

    begun, world = time.process_time(), World(Random(seed), top, machines)
    try:
        world.play(operations, with_clone=True)
        world.settle()
        world.check()
    finally:
        world.close()
    counts = ", ".join(f"{name} {count:,}" for name, count in sorted(world.counts.items()))
    print(
        f"seed {seed}: {operations:,} operations on {len(world.machines)} machines: all the same, nothing lost."
        f" {len(world.versions):,} memories, {len(world.messages):,} conversations, {len(world.forgotten):,} forgotten;"
        f" {len(world.files):,} segments written; {counts}; {time.process_time() - begun:,.0f} s CPU"
    )


def engine_in(home: Path) -> Engine:
    home.mkdir(parents=True, exist_ok=True)
    settings = Settings(home=home, project=Path("/p"), backups="off", brief="off")
    return Engine(settings, SqliteStore(home / "store.db"), None)


def send_histories(top: Path, home: Path | None) -> None:
    """Print sizes, and the CPU of both sides."""
    first, second = engine_in(top / "first"), engine_in(top / "second")
    folder = top / "folder"
    folder.mkdir()
    if home is None:
        home = top / "user"
        histories.put(home)
    projects = home / "projects"
    places = Places(
        home=home,
        environment={},
        platform="linux",
        projects=tuple(projects.iterdir()) if projects.is_dir() else (),
    )
    readers = [reader for reader in load_readers().values() if not reader.is_export]
    Sync(first).run(readers, places, call=Call(), patience_s=0)
    store = first.store
    text = store.database.value("SELECT sum(length(text)) FROM entry")
    messages, conversations = (
        store.database.value(f"SELECT count(*) FROM {table}") for table in ("entry", "conversation")
    )
    print(f"{conversations:,} conversations, {messages:,} messages, {text / 1e6:,.1f} MB of text")
    one, two = Devices(first, top), Devices(second, top)
    one.init(folder, "first", Carry.CONVERSATIONS)
    seconds = timed(lambda: one.sync(Call()))
    files = [path.stat().st_size for path in folder.rglob("*.seg")]
    print(f"sent in {seconds:.1f} s CPU: {len(files)} segments, {sum(files) / 1e6:,.1f} MB in the folder")
    two.join(folder, "second", Carry.CONVERSATIONS, code=one.code())
    print(f"received in {timed(lambda: two.sync(Call())):.1f} s CPU")
    print(f"nothing new: {timed(lambda: one.sync(Call())) * 1000:.0f} ms CPU")
    for engine in (first, second):
        engine.close()


def measure_writes(top: Path) -> None:
    """Saves in turns, with a vault and without."""
    plain, member = engine_in(top / "plain"), engine_in(top / "member")
    folder = top / "carried"
    folder.mkdir()
    devices = Devices(member, top)
    devices.init(folder, "member", Carry.CONVERSATIONS)
    devices.sync(Call())
    times: dict[str, list[float]] = {"without a vault": [], "with a vault": []}
    for _ in range(ROUNDS):
        for name, engine in zip(times, (plain, member), strict=True):
            core = Core(engine, Caller(project="/p"))
            times[name].append(timed(lambda core=core: save(core)) / SAVES * 1e6)  # type: ignore[misc]
    for name, each in times.items():
        print(
            f"{name}: {min(each):.0f} µs CPU for a save (best of {ROUNDS}), median {sorted(each)[ROUNDS // 2]:.0f}"
        )
    for engine in (plain, member):
        engine.close()


def save(core: Core) -> None:
    for number in range(SAVES):
        memory = core.memories.new(f"The deployment of service {number} waits for review.", "/p", None)
        with core.engine.store.transaction():
            core.memories.put(memory)


def timed(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


if __name__ == "__main__":
    main()
