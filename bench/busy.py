"""The duration of calls while the same server reads histories in the background, compared with an idle server.

    python bench/busy.py [MB]

The Claude Code logs of ../shared/data/histories, repeated up to MB (200), lie in the home of a server that has just
started. Wall time of calls that follow each other with a short pause, without vectors.
"""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from servers import Server, percentile
from sync import repeat

from backstory.store.sqlite import SqliteStore

SERVE = [sys.executable, "-m", "backstory", "serve"]
PAUSE_S = 0.02
AT_REST = 100


def called(server: Server, tool: str, **arguments: object) -> float:
    start = time.perf_counter()
    server.call(tool, **arguments)
    took = (time.perf_counter() - start) * 1000
    time.sleep(PAUSE_S)
    return took


def tell(label: str, times: dict[str, list[float]]) -> None:
    for tool, some in times.items():
        p50, p95 = percentile(some, 0.5), percentile(some, 0.95)
        print(f"{label:16} {tool:14} {len(some):5} calls   p50 {p50:6.1f} ms   p95 {p95:6.1f} ms")


def main() -> None:
    size = int(sys.argv[1] if len(sys.argv) > 1 else 200) * 1_000_000
    with tempfile.TemporaryDirectory(prefix="backstory-") as folder:
        home, data = Path(folder) / "home", Path(folder) / "data"
        data.mkdir()
        files = len(list(repeat(home, size)))
        server = Server(SERVE, data, HOME=str(home), BACKSTORY_EMBEDDINGS="off")
        server.initialize()
        server.call("context_save", key="a", value="b")
        with closing(SqliteStore(data / "store.db")) as store:
            while not store.sync.sources("claude-code"):
                time.sleep(0.01)
            busy: dict[str, list[float]] = {"context_get": [], "context_save": []}
            while len(store.sync.sources("claude-code")) < files:
                busy["context_get"].append(called(server, "context_get", key="a"))
                busy["context_save"].append(called(server, "context_save", key="a", value="b"))
        tell("during a sync", busy)
        rest = {
            "context_get": [called(server, "context_get", key="a") for _ in range(AT_REST)],
            "context_save": [called(server, "context_save", key="a", value="b") for _ in range(AT_REST)],
        }
        tell("at rest", rest)
        server.stop()


if __name__ == "__main__":
    main()
