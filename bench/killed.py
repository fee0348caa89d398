"""Eight servers write to one store while one of them is killed: nothing acknowledged is lost, nothing refused.

python bench/killed.py [ROUNDS]
"""

from __future__ import annotations

import random
import sys
import tempfile
import threading
from pathlib import Path

from notes import note
from servers import BACKSTORY, Server

from backstory.app import open_core, read_settings
from backstory.domain.filters import Filter, Page

WRITERS, EACH = 8, 200


class Writer(threading.Thread):
    def __init__(self, home: Path, number: int) -> None:
        super().__init__()
        self.server = Server(BACKSTORY, home)
        self.acknowledged: list[str] = []
        self.refused = 0
        self._random = random.Random(number)

    def run(self) -> None:
        try:
            self.server.initialize()
            for _ in range(EACH):
                result = self.server.call("save_context", context_text=note(self._random))
                if result["isError"]:
                    self.refused += 1
                else:
                    self.acknowledged.append(result["structuredContent"]["id"])
        except (ConnectionError, BrokenPipeError):
            pass  # it was killed


def round_(seed: int) -> bool:
    home = Path(tempfile.mkdtemp(prefix="bench-"))
    writers = [Writer(home, seed * WRITERS + number) for number in range(WRITERS)]
    for writer in writers:
        writer.start()
    victim = writers[seed % WRITERS]
    threading.Timer(random.Random(seed).uniform(0.5, 5.0), victim.server.kill).start()
    for writer in writers:
        writer.join()
    for writer in writers:
        if writer is not victim:
            writer.server.stop()
    store = open_core(read_settings({"home": home})).engine.store
    held = {memory.id for memory in store.memories.find(Filter(), Page())}
    acknowledged = {id for writer in writers for id in writer.acknowledged}
    refused = sum(writer.refused for writer in writers)
    problems = store.problems()
    lost = acknowledged - held
    print(
        f"round {seed}: {len(acknowledged)} acknowledged ({len(victim.acknowledged)} by the one killed),"
        f" {len(lost)} lost, {refused} refused, {len(held)} held, integrity {'; '.join(problems) or 'ok'}"
    )
    return not (lost or refused or problems)


if __name__ == "__main__":
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    sys.exit(0 if all(map(round_, range(1, rounds + 1))) else 1)
