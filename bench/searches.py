"""Every searching tool over one large store: CPU of the server for a call, over stdio.

    python bench/searches.py HOME [SIZE [CALLS]]

HOME gets two stores, once: SIZE messages with 2,000 memories, as `bench/web.py` makes them, and SIZE memories in a hundred
channels, all with random vectors, which cost as much as real ones. Each call asks something else. What embedding a query
costs is measured by itself, to be taken off. What the graph costs is in `bench/graph.py`.
"""

from __future__ import annotations

import random
import sys
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
    asked, word, few = question(random_), _words(random_, 1), _words(random_, 3)
    project = f"project-{random_.randrange(30)}"
    return {
        "recall": ("recall", {"query": asked}),
        "recall, one assistant": ("recall", {"query": asked, "assistant": "codex"}),
        "recall, last month": ("recall", {"query": asked, "since": "1mo"}),
        "recall, one project": ("recall", {"query": asked, "project": project}),
        "recall_conversations, prompt": ("recall_conversations", {"user_prompt": asked, "days_lookback": 60}),
        "recall_conversations, query": ("recall_conversations", {"search_query": few, "days_lookback": 60}),
        "recall_conversations, newest": ("recall_conversations", {"days_lookback": 60}),
        "reflect_on_past": ("reflect_on_past", {"query": asked}),
        "reflect_on_past, one project": ("reflect_on_past", {"query": asked, "project": project}),
        "quick_search": ("quick_search", {"query": asked}),
        "get_more_results": ("get_more_results", {"query": asked}),
        "search_by_concept": ("search_by_concept", {"concept": f"{word} handling"}),
        "search_by_file": ("search_by_file", {"file_path": random_.choice(FILES)}),
        "sessions": ("sessions", {}),
    }


def memory_calls(random_: random.Random) -> dict[str, Call]:
    asked, word, few = question(random_), _words(random_, 1), _words(random_, 3)
    return {
        "context_search, a word": ("context_search", {"query": word}),
        "context_search, words": ("context_search", {"query": few}),
        "context_search, one channel": ("context_search", {"query": word, "channel": "c7"}),
        "context_semantic_search": ("context_semantic_search", {"query": asked}),
        "retrieve_context": ("retrieve_context", {"query": asked}),
        "recall": ("recall", {"query": asked}),
        "reflect_on_past": ("reflect_on_past", {"query": asked}),
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


def measure(home: Path, calls: Callable[[random.Random], dict[str, Call]], count: int) -> None:
    server = Server(BACKSTORY, home, BACKSTORY_HISTORIES="off")
    server.initialize()
    random_ = random.Random(11)
    for _ in range(2):  # what is made once: the model, what is remembered of the store
        for tool, arguments in calls(random_).values():
            server.call(tool, **arguments)
    server.settled_cpu_ms()
    spent: dict[str, list[float]] = {}
    for _ in range(count):
        for name, (tool, arguments) in calls(random_).items():
            before = server.cpu_ms()
            answer = server.call(tool, **arguments)
            spent.setdefault(name, []).append(server.cpu_ms() - before)
            assert not answer.get("isError"), (tool, arguments, answer)
    print("| call | p50 ms CPU | p95 |\n|---|---|---|")
    for name, times in spent.items():
        print(f"| {name} | {percentile(times, 0.5):.1f} | {percentile(times, 0.95):.1f} |", flush=True)
    print(f"resident: {server.resident_mb():.0f} MB")
    server.stop()


def main(home: Path, size: int, count: int) -> None:
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
        measure(place, calls, count)


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[2:]]
    main(Path(sys.argv[1]), *[*given, *(SIZE, CALLS)[len(given) :]])
