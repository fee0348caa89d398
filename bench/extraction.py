"""The share of statement extraction in a sync: CPU of complete syncs with and without it, in turns, and the extracted statements.

    python bench/extraction.py DATA_DIRECTORY WORK_DIRECTORY [ROUNDS]

DATA_DIRECTORY is as for `bench/statements.py`. Each sync reads the same home into a new store, in this process alone, so that all CPU
time is counted. The digest of all stored sayings is printed, to compare two versions.
"""

from __future__ import annotations

import gc
import hashlib
import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest.mock import patch

from statements import lay_out

from backstory.app import history_places, open_engine, read_settings
from backstory.core.engine import Engine
from backstory.core.statements.extraction import with_sayings
from backstory.core.sync import Sync, decoding, reading
from backstory.domain.filters import ConversationFilter
from backstory.readers import Turn, load_readers

Extraction = Callable[[Sequence[Turn]], Sequence[Turn]]


def sync(store: Path, extraction: Extraction) -> tuple[float, str, int]:
    """CPU seconds of a sync into a new store, the digest of the sayings in it, and their number."""
    shutil.rmtree(store, ignore_errors=True)
    settings = read_settings({"home": store, "embeddings": "off"})
    engine = open_engine(settings)
    try:
        readers, places = load_readers(settings.histories).values(), history_places(engine)
        gc.collect()
        with (
            patch.object(decoding, "with_sayings", extraction),
            patch.object(reading, "is_worth_it", lambda _: False),
        ):
            start = time.process_time()
            Sync(engine).run(readers, places)
            seconds = time.process_time() - start
        return seconds, *_digest(engine)
    finally:
        engine.close()


def _digest(engine: Engine) -> tuple[str, int]:
    sayings = engine.store.sayings.find(ConversationFilter())
    digest = hashlib.sha256()
    for each in sayings:
        digest.update(repr((each.message, *each.saying)).encode(errors="replace"))
    return digest.hexdigest()[:16], len(sayings)


def main(data: Path, work: Path, rounds: int) -> None:
    work.mkdir(parents=True, exist_ok=True)
    environment = lay_out(data, work)
    os.environ.clear()
    os.environ.update(environment)
    plain, whole, digests = [], [], set()
    for _ in range(rounds):
        plain.append(sync(work / "plain", lambda turns: turns)[0])
        seconds, digest, count = sync(work / "whole", with_sayings)
        whole.append(seconds)
        digests.add(f"{count} sayings, {digest}")
    ratios = [after / before - 1 for before, after in zip(plain, whole, strict=True)]
    print(f"sync without extraction: {min(plain):.2f} s CPU at best, {statistics.median(plain):.2f} median")
    print(f"sync with extraction:    {min(whole):.2f} s CPU at best, {statistics.median(whole):.2f} median")
    print(
        f"extraction: {100 * (min(whole) / min(plain) - 1):.1f} % at best, {100 * statistics.median(ratios):.1f} % median"
    )
    print(*digests, sep="\n")


if __name__ == "__main__":
    main(
        Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), int(sys.argv[3]) if len(sys.argv) > 3 else 5
    )
