"""Memory Keeper's tools compared with the original's: CPU per call at 10,000 items, in one run and in turns.

    python bench/keeper.py mcp-memory-keeper [--ours "backstory serve"] [--items 10000] [--calls 30]

Both servers are filled with the same notes through `context_save`, in one session. Then each call is made of
both, one after the other, with everything at rest before it. Background work after a save (vectors, text index,
graph) is waited for and counted separately. Missing and failing tools are reported.
"""

from __future__ import annotations

import argparse
import random
import shlex
import sys
from collections.abc import Callable
from itertools import repeat
from typing import Any, NamedTuple

from notes import note, question
from servers import BACKSTORY, Server, percentile

from backstory.domain.words import STOP_WORDS

CATEGORIES = ("task", "decision", "progress", "note", "warning", "error")
PRIORITIES = ("high", "normal", "low")
WARM_UP = 2  # calls of each kind that do not count: they load models, plans and compiled code

Arguments = dict[str, Any]
Make = Callable[[random.Random, int, bool], Arguments]
"""Arguments of the nth call. The last argument says whether they are for ours."""


class Task(NamedTuple):
    name: str
    tool: str
    make: Make
    has_background: bool = False


class Cost(NamedTuple):
    answer_ms: float
    background_ms: float


class Rival(NamedTuple):
    name: str
    server: Server
    is_ours: bool
    tools: frozenset[str]


def main() -> None:
    options = _options()
    rivals = [
        _start("backstory", shlex.split(options.ours), is_ours=True),
        _start(options.original, shlex.split(options.original), is_ours=False),
    ]
    idle = [rival.server.resident_mb() for rival in rivals]
    filling = _fill(rivals, options.items)
    print(f"{options.items:,} items, {options.calls} calls of each kind, CPU medians\n")
    print(f"| | {' | '.join(rival.name for rival in rivals)} | ratio |\n|---|---|---|---|")
    for task in _tasks(options.items):
        costs = [_missing(rival, task) or [] for rival in rivals]
        if not any(costs):
            costs = _measure(rivals, task, options.calls)
        _print(task, costs)
    resident = [rival.server.resident_mb() for rival in rivals]
    _row("filling, for each item", [f"{each:.1f} ms" for each in filling], filling)
    _row("resident at start", [f"{each:.0f} MB" for each in idle], idle)
    _row("resident at the end", [f"{each:.0f} MB" for each in resident], resident)
    for rival in rivals:
        rival.server.stop()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("original", help="command of the original server")
    parser.add_argument("--ours", default=shlex.join(BACKSTORY))
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=30)
    return parser.parse_args()


def _start(name: str, command: list[str], *, is_ours: bool) -> Rival:
    server = Server(command)
    server.initialize()
    listed = server.ask("tools/list", {})["tools"]
    server.call("context_session_start", name="Bench")
    return Rival(name.split("/")[-1], server, is_ours, frozenset(tool["name"] for tool in listed))


def _item(random_: random.Random, number: int) -> Arguments:
    return {
        "key": f"note-{number}",
        "value": note(random_),
        "category": random_.choice(CATEGORIES),
        "priority": random_.choice(PRIORITIES),
    }


def _fill(rivals: list[Rival], items: int) -> list[float]:
    """CPU for each item, with all that follows in the background."""
    random_ = random.Random(1)
    before = [rival.server.settled_cpu_ms() for rival in rivals]
    for number in range(items):
        item = _item(random_, number)
        for rival in rivals:
            rival.server.call("context_save", **item)
        if number % 100 == 0:
            print(f"\r{number:,} items  ", end="", file=sys.stderr, flush=True)
    print("\r", end="", file=sys.stderr)
    after = [rival.server.settled_cpu_ms() for rival in rivals]
    return [(end - start) / items for start, end in zip(before, after, strict=True)]


def _tasks(items: int) -> list[Task]:
    def phrase(random_: random.Random, ours: bool) -> str:
        words = note(random.Random(random_.randrange(10**6))).lower().rstrip(".").split()
        start = random_.randrange(len(words) - 1)
        found = " ".join(words[start : start + 2])
        return f'"{found}"' if ours else found  # the original searches for the literal text

    def word(random_: random.Random) -> str:
        """As common as words of notes are, but one that somebody would look for."""
        words = (word for _ in repeat(None) for word in question(random_).split()[3:])
        return next(word for word in words if word not in STOP_WORDS)

    return [
        Task("context_save", "context_save", lambda r, n, o: _item(r, items + n), has_background=True),
        Task("context_get by key", "context_get", lambda r, n, o: {"key": f"note-{r.randrange(items)}"}),
        Task("context_search, a word", "context_search", lambda r, n, o: {"query": word(r), "limit": 20}),
        Task(
            "context_search, a phrase", "context_search", lambda r, n, o: {"query": phrase(r, o), "limit": 20}
        ),
        Task("context_semantic_search", "context_semantic_search", lambda r, n, o: {"query": question(r)}),
        Task("context_summarize", "context_summarize", lambda r, n, o: {}),
        Task("context_checkpoint", "context_checkpoint", lambda r, n, o: {"name": f"check-{n}"}),
    ]


def _missing(rival: Rival, task: Task) -> list[Cost]:
    if task.tool in rival.tools:
        return []
    print(f"{rival.name} has no {task.tool}", file=sys.stderr)
    return [Cost(float("nan"), 0)]


def _measure(rivals: list[Rival], task: Task, calls: int) -> list[list[Cost]]:
    """Make the same calls to each server, in turns."""
    costs: list[list[Cost]] = [[] for _ in rivals]
    for number in range(calls + WARM_UP):
        for rival, spent in zip(rivals, costs, strict=True):
            cost = _cost(rival, task, number)
            if number >= WARM_UP:
                spent.append(cost)
    return costs


def _cost(rival: Rival, task: Task, number: int) -> Cost:
    server = rival.server
    arguments = task.make(random.Random(f"{task.name} {number}"), number, rival.is_ours)
    before = server.settled_cpu_ms() if task.has_background else server.cpu_ms()
    reply = server.call(task.tool, **arguments)
    answered = server.cpu_ms()
    if reply.get("isError"):
        raise SystemExit(f"{rival.name}: {task.tool} failed: {reply['content'][0]['text'][:300]}")
    settled = server.settled_cpu_ms() if task.has_background else answered
    return Cost(answered - before, settled - answered)


def _print(task: Task, costs: list[list[Cost]]) -> None:
    answers = [percentile([cost.answer_ms for cost in spent] or [float("nan")], 0.5) for spent in costs]
    _row(task.name, [f"{each:.2f} ms" for each in answers], answers)
    if task.has_background:
        totals = [percentile([cost.answer_ms + cost.background_ms for cost in spent], 0.5) for spent in costs]
        _row(f"{task.name}, with all that follows", [f"{each:.2f} ms" for each in totals], totals)


def _row(name: str, cells: list[str], values: list[float]) -> None:
    print(f"| {name} | {' | '.join(cells)} | {values[0] / values[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
