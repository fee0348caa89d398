"""The cost of the protocol: CPU of a tool call that does nothing, and of a ping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from servers import BACKSTORY, Server, percentile

CALLS = 1000


def costs(server: Server, call: Callable[[], Any]) -> list[float]:
    spent = []
    for _ in range(CALLS):
        before = server.cpu_ms()
        call()
        spent.append(server.cpu_ms() - before)
    return spent


def main() -> None:
    server = Server(BACKSTORY)
    server.initialize()
    # refused before it reaches the store: all that is left is the protocol and the decoding of arguments
    trivial = costs(server, lambda: server.call("clear_all_context", confirmation="no"))
    ping = costs(server, lambda: server.ask("ping", {}))
    for name, spent in (("trivial tool call", trivial), ("ping", ping)):
        print(f"{name}: p50 {percentile(spent, 0.5):.3f} ms CPU, p95 {percentile(spent, 0.95):.3f}")
    server.stop()


if __name__ == "__main__":
    main()
