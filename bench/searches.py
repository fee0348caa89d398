"""Every search tool over one large store: CPU of the server per call, over stdio.

    python bench/searches.py HOME [SIZE [CALLS]] [--beside SRC]

HOME gets two stores, once: SIZE messages with 2,000 memories, as `bench/web.py` makes them, and SIZE memories in a hundred
channels, all with random vectors, which cost as much as real ones. Each call asks something else. SRC is the `src` of another
checkout, whose server is asked the same in turns; a ratio below 1 says that this one takes less. What embedding a query
costs is measured by itself, to be taken off. What the graph costs is in `bench/graph.py`.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from notes import note, question
from servers import BACKSTORY, Server, percentile

from backstory.app import open_core, read_settings
from backstory.core import Core
from web import FILES, fill, give_vectors, memory

SIZE, CALLS = 100_000, 60
WARM = 2  # rounds that do not count
CHANNELS = 100
Call = tuple[str, dict[str, Any]]


def fill_memories(core: Core, size: int) -> None:
    store, random_ = core.engine.store, random.Random(7)
    if store.census().memories >= size:
        return
    made = [memory(number, random_) for number in range(size)]
    for start in range(0, size, 1_000):
        some = [
            each._replace(key=f"key-{each.id}", channel=f"c{number % CHANNELS}")
            for number, each in enumerate(made[start : start + 1_000])
        ]
        store.memories.put(some)
    give_vectors(core)


def conversation_calls(random_: random.Random) -> dict[str, Call]:
    word, few = _words(random_, 1), _words(random_, 3)
    project, two_months = f"project-{random_.randrange(30)}", {"days_lookback": 60}

    def asked(**narrowed: str) -> dict[str, Any]:
        return {"query": question(random_), **narrowed}

    return {
        "recall": ("recall", asked()),
        "recall, one assistant": ("recall", asked(assistant="codex")),
        "recall, last month": ("recall", asked(since="1mo")),
        "recall, one project": ("recall", asked(project=project)),
        "recall, one file": ("recall", asked(file=random_.choice(FILES))),
        "recall_conversations, prompt": (
            "recall_conversations",
            {"user_prompt": question(random_), **two_months},
        ),
        "recall_conversations, query": ("recall_conversations", {"search_query": few, **two_months}),
        "recall_conversations, newest": ("recall_conversations", {**two_months}),
        "reflect_on_past": ("reflect_on_past", asked()),
        "reflect_on_past, one project": ("reflect_on_past", asked(project=project)),
        "quick_search": ("quick_search", asked()),
        "get_more_results": ("get_more_results", asked()),
        "search_by_concept": ("search_by_concept", {"concept": f"{word} handling"}),
        "search_by_file": ("search_by_file", {"file_path": random_.choice(FILES)}),
        "sessions": ("sessions", {}),
    }


def memory_calls(random_: random.Random) -> dict[str, Call]:
    word, few = _words(random_, 1), _words(random_, 3)
    return {
        "context_search, a word": ("context_search", {"query": word}),
        "context_search, words": ("context_search", {"query": few}),
        "context_search, one channel": ("context_search", {"query": word, "channel": "c7"}),
        "context_semantic_search": ("context_semantic_search", {"query": question(random_)}),
        "retrieve_context": ("retrieve_context", {"query": question(random_)}),
        "recall": ("recall", {"query": question(random_)}),
        "reflect_on_past": ("reflect_on_past", {"query": question(random_)}),
        "recall, one file": ("recall", {"query": question(random_), "file": random_.choice(FILES)}),
        "search_by_file": ("search_by_file", {"file_path": random_.choice(FILES)}),
        "context_timeline": ("context_timeline", {"startDate": "2 weeks ago"}),
        "context_get, a page": ("context_get", {"limit": 20}),
    }


def _words(random_: random.Random, count: int) -> str:
    return " ".join([word for word in note(random_).split() if len(word) > 4 and word.isalpha()][:count])


def embedding_ms(home: Path) -> float:
    core = open_core(read_settings({"home": home, "histories": "off"}))
    assert core.engine.backlog is not None
    random_, spent = random.Random(5), []
    for _ in range(30):
        asked, before = question(random_), time.process_time()
        core.engine.backlog.query(asked)
        spent.append((time.process_time() - before) * 1000)
    core.engine.close()
    return percentile(spent, 0.5)


class Versions:
    """This version over one store, and optionally another checkout's."""

    def __init__(self, home: Path, beside: Path | None) -> None:
        paths = {"now": {}, **({"former": {"PYTHONPATH": str(beside)}} if beside else {})}
        self.servers = {
            name: Server(BACKSTORY, home, BACKSTORY_HISTORIES="off", **path) for name, path in paths.items()
        }
        self.spent: dict[str, dict[str, list[float]]] = {name: {} for name in self.servers}
        for server in self.servers.values():
            server.initialize()

    def ask(self, name: str, tool: str, arguments: dict[str, Any]) -> None:
        """Each in turn, so that the machine is the same to both."""
        for version, server in self.servers.items():
            before = server.cpu_ms()
            answer = server.call(tool, **arguments)
            self.spent[version].setdefault(name, []).append(server.cpu_ms() - before)
            assert not answer.get("isError"), (tool, arguments, answer)

    def forget(self) -> None:
        for server in self.servers.values():
            server.settled_cpu_ms()
        self.spent = {name: {} for name in self.servers}

    def report(self) -> None:
        former = self.spent.get("former", {})
        print(
            "| call |"
            + (" ratio |" if former else "")
            + " p50 ms CPU | p95 |\n|---|---|---|"
            + "---|" * bool(former)
        )
        for name, times in self.spent["now"].items():
            ratio = f" {sum(times) / sum(former[name]):.2f} |" if former else ""
            print(
                f"| {name} |{ratio} {percentile(times, 0.5):.1f} | {percentile(times, 0.95):.1f} |",
                flush=True,
            )
        print(f"resident: {self.servers['now'].resident_mb():.0f} MB")
        for server in self.servers.values():
            server.stop()


def measure(
    home: Path, calls: Callable[[random.Random], dict[str, Call]], count: int, beside: Path | None = None
) -> None:
    versions, random_ = Versions(home, beside), random.Random(11)
    for turn in range(WARM + count):
        for name, (tool, arguments) in calls(random_).items():
            versions.ask(name, tool, arguments)
        if turn == WARM - 1:  # work that is done once: the model, in-memory parts of the store
            versions.forget()
    versions.report()


def main(home: Path, size: int, count: int, beside: Path | None) -> None:
    stores: dict[str, tuple[Callable[[Core, int], None], Callable[[random.Random], dict[str, Call]]]] = {
        "conversations": (fill, conversation_calls),
        "memories": (fill_memories, memory_calls),
    }
    for name, (make, calls) in stores.items():
        place = home / name
        place.mkdir(parents=True, exist_ok=True)
        core = open_core(read_settings({"home": place, "histories": "off"}))
        make(core, size)
        core.engine.close()
        print(f"\n{size:,} {name}; embedding a query: {embedding_ms(place):.1f} ms CPU")
        measure(place, calls, count, beside)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("size", type=int, nargs="?", default=SIZE)
    parser.add_argument("calls", type=int, nargs="?", default=CALLS)
    parser.add_argument("--beside", type=Path)
    given = parser.parse_args()
    main(given.home, given.size, given.calls, given.beside)
