"""CPU of the tool `recall` without the embedding of its query, over a store of real histories.

    python bench/search_cost.py HOME QUESTIONS WORK [--beside SRC] [--every N] [--tool recall_conversations]

HOME has a store, for example a state of `bench/questions.py`; QUESTIONS is a file of JSON lines with a `question` each. WORK gets two
copies of the store: as it is, and with half a percent of texts of 300,000 characters among the others, made of the store's own. Every question
is asked three times of one process: when nothing of the text index is in memory (cold), in a row with the others when its words may
be new (new), and again (known). A process of the former code, whose `src` is SRC, is asked the same in turns; the ratio is of
the sums, and below 1 if this code takes less. `--every N` asks one of N questions.
`--tool recall_conversations` measures that tool, with the questions as prompts and the last 60 days.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from servers import percentile

from backstory.app import open_core, read_settings
from backstory.domain.filters import EVERYTHING
from backstory.domain.records import Conversation, Message
from backstory.surfaces import all_tools, load_surfaces

LONG_CHARS, LONG_SHARE = 300_000, 0.005
PHASES = ("cold", "new", "known")
ARGUMENTS: dict[str, Callable[[str], dict[str, Any]]] = {
    "recall": lambda question: {"query": question},
    "recall_conversations": lambda question: {"user_prompt": question, "days_lookback": 60},
}
"""The tools that can be measured, with the arguments for a question."""


def add_long_texts(home: Path) -> None:
    """Messages that repeat texts of the store until they are long; ten to a conversation."""
    core = open_core(read_settings({"home": home, "histories": "off", "embeddings": "off"}))
    store, now = core.engine.store, core.engine.now()
    last = store.entries.size_hint()
    count = int(last * LONG_SHARE)
    for first in range(0, count, 10):
        id = f"codex:long-{first}"
        messages = []
        for place in range(min(10, count - first)):
            start = (first + place) * (last // count)
            texts = (text for _, text in store.entries.readings(range(start, start + 400), EVERYTHING))
            written = "\n".join(texts) * 20
            messages.append(
                Message(
                    id=f"{id}:{place}",
                    conversation=id,
                    seq=place,
                    role="assistant" if place % 2 else "user",
                    speaker="",
                    text=written[:LONG_CHARS],
                    project="/work/long",
                    surface="codex",
                    created_at=now - timedelta(days=first),
                )
            )
        conversation = Conversation(
            id=id,
            title="Long texts",
            project="/work/long",
            surface="codex",
            created_at=messages[0].created_at,
            updated_at=messages[-1].created_at,
        )
        store.conversations.put(conversation, messages)
    core.engine.close()


class Worker:
    """A process that answers questions and returns the time of each."""

    def __init__(self, home: Path, source: Path | None, tool: str) -> None:
        path = {"PYTHONPATH": str(source)} if source else {}
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(home), "--worker", "--tool", tool],
            env={**os.environ, **path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, phase: str, question: str) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([phase, question]), file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def work(home: Path, tool: str) -> None:
    core = open_core(read_settings({"home": home, "histories": "off"}))
    backlog, text = core.engine.backlog, core.engine.store.text
    if backlog is not None:
        setattr(backlog, "wake", lambda: None)  # noqa: B010  (the vectors stay as they are)
    core.ask.prepare()
    asked = all_tools(load_surfaces(["backstory", "gandalf"]))[tool]
    for line in sys.stdin:
        phase, question = json.loads(line)
        if phase == "cold":
            text.__dict__.pop("_mirror", None)
        if backlog is not None:
            backlog.query(question)  # its vector stays in memory
        before = time.process_time()
        asked.call(core, ARGUMENTS[tool](question))
        print((time.process_time() - before) * 1000, flush=True)
    core.close()


def measure(home: Path, questions: Sequence[str], beside: Path | None, name: str, tool: str) -> None:
    sources = {"now": None, **({"former": beside} if beside else {})}
    workers = {version: Worker(home, source, tool) for version, source in sources.items()}
    spent: dict[tuple[str, str], list[float]] = {}
    for phase in ("new", "known", "cold"):  # otherwise parts that the cold run read would be in memory
        for number, question in enumerate(questions):
            turn = list(workers.items())[:: -1 if number % 2 else 1]
            for version, worker in turn:
                spent.setdefault((version, phase), []).append(worker.ask(phase, question))
    for worker in workers.values():
        worker.stop()
    for phase in PHASES:
        cells = [name, phase]
        for version in sources:
            times = spent[version, phase]
            cells.append(f"{percentile(times, 0.5):.1f} / {percentile(times, 0.95):.1f}")
        if beside:
            cells.append(f"{sum(spent['now', phase]) / sum(spent['former', phase]):.2f}")
        print("| " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("questions", type=Path, nargs="?")
    parser.add_argument("work", type=Path, nargs="?")
    parser.add_argument("--beside", type=Path, metavar="SRC")
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--tool", choices=ARGUMENTS, default="recall")
    parser.add_argument("--worker", action="store_true")
    options = parser.parse_args()
    if options.worker:
        work(options.home, options.tool)
        return
    lines = options.questions.read_text("utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines][:: options.every]
    former = " former |" if options.beside else ""
    print(f"| texts | words | p50 / p95 ms CPU |{former}{' ratio |' if options.beside else ''}")
    print("|---|---|---|" + "---|---|" * bool(options.beside))
    for name in ("as they are", "with long ones"):
        place = options.work / name.replace(" ", "-")
        if not place.exists():
            shutil.copytree(options.home, place)
            if name == "with long ones":
                add_long_texts(place)
        measure(place, questions, options.beside, name, options.tool)


if __name__ == "__main__":
    main()
