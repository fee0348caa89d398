"""Move a store of 100,000 memories to PostgreSQL and back: the duration, and a comparison of the exports.

    python bench/migrate.py HOME DATABASE_URL [SIZE]

HOME and the database are new and empty. Vectors are random, because their meaning has no effect here.
"""

from __future__ import annotations

import hashlib
import random
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from notes import note

from backstory.app import open_core, open_store, read_settings
from backstory.core import Core
from backstory.core.copying import copy_store
from backstory.core.memories import MemoryDraft
from backstory.domain.entries import EntryVectors
from backstory.store import Store
from backstory.surfaces import all_tools, load_surfaces

TOOLS = all_tools(load_surfaces(["memory-keeper"]))
IN_A_SESSION = 1_000
DIMENSIONS = 384


def call(core: Core, tool: str, **arguments: Any) -> dict[str, Any]:
    reply = TOOLS[tool].call(core, arguments)
    assert not reply.is_error, reply.text
    return reply.structured or {}


def open_at(home: Path, url: str) -> Core:
    flags = {"home": home, "database_url": url, "embeddings": "off", "histories": "off"}
    return open_core(read_settings(flags))


def fill(home: Path, url: str, size: int) -> list[str]:
    """The ids of the sessions."""
    core, random_, sessions = open_at(home, url).through("memory-keeper"), random.Random(7), list[str]()
    for first in range(0, size, IN_A_SESSION):
        session = core.sessions.start(f"From {first}")
        sessions.append(session.id)
        with core.engine.store.transaction():
            for n in range(first, min(first + IN_A_SESSION, size)):
                draft = MemoryDraft(text=note(random_), key=f"key-{n}", private=n % 50 == 0)
                core.memories.put_item(draft, session)
            core.memories.put_item(MemoryDraft(text=note(random_), key=f"key-{first}"), session)  # the second
    _embed(core.engine.store)
    core.engine.close()
    return sessions


def _embed(store: Store) -> None:
    space, random_ = store.vectors.open_space("random"), np.random.default_rng(7)
    while waiting := store.vectors.claim(space, 1_000, lease_ms=60_000):
        vectors = random_.standard_normal((len(waiting), 1, DIMENSIONS)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
        store.vectors.put(
            space, [EntryVectors(w.entry, w.revision, v) for w, v in zip(waiting, vectors, strict=True)]
        )


def exported(home: Path, url: str, sessions: list[str]) -> tuple[int, str]:
    """Size and hash of the export of each session, private items included."""
    core, size, hash = open_at(home, url), 0, hashlib.sha256()
    for session in sessions:
        core.caller.session = session
        written = Path(call(core, "context_export", sessionId=session)["filePath"])
        data = written.read_bytes()
        written.unlink()
        size += len(data)
        hash.update(data)
    core.engine.close()
    return size, hash.hexdigest()


def migrate(home: Path, source: str, target: str) -> None:
    """As `backstory migrate` does it; the index of vectors is made between moving and comparing."""
    flags = {"home": home, "embeddings": "off", "histories": "off"}
    started = last = time.perf_counter()
    spent = {"Moving": 0.0, "index of vectors": 0.0, "Comparing": 0.0}

    def tick(message: str, done: int, total: int) -> None:
        nonlocal last
        now, phase = time.perf_counter(), message.split()[0]
        is_first = phase == "Comparing" and not spent[phase]
        spent["index of vectors" if is_first else phase] += now - last
        spent[phase] += 1e-9
        last = now

    old, new = (open_store(read_settings({**flags, "database_url": url})) for url in (source, target))
    compared = copy_store(old, new, source, tick)
    old.close()
    new.close()
    assert all(each.is_equal for each in compared)
    parts = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in spent.items())
    print(f"{time.perf_counter() - started:.0f} s: {parts}", flush=True)


def main(home: Path, postgres: str, size: int) -> None:
    home.mkdir(mode=0o700, parents=True)
    there, back = f"sqlite:///{home}/there/store.db", f"sqlite:///{home}/back/store.db"
    sessions = fill(home, there, size)
    exports = [exported(home, there, sessions)]
    for source, target in ((there, postgres), (postgres, back)):
        migrate(home, source, target)
        exports.append(exported(home, target, sessions))
    for (written, hash), place in zip(exports, ("SQLite", "PostgreSQL", "SQLite again"), strict=True):
        print(f"{place:12}  {written:,} bytes exported, SHA-256 {hash}")
    if len(set(exports)) != 1:
        sys.exit("The exports differ.")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 100_000)
