"""A selection of benchmarks that takes less than ten minutes and needs no data from elsewhere, as one table.

    python bench/selection.py

`python3 run.py bench` runs it. Programs to compare with are included if they are on PATH: mcp-memory-keeper and mcp-server-memory.
A benchmark that fails or exceeds its time is a row that says so, and the exit status is 1.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
TIMEOUT_S = 240
DETAILS = ("missed:", "not first:")
"""Beginnings of lines about single questions, which are only needed to find a reason."""
SELECTION: tuple[tuple[str, ...], ...] = (
    ("start.py",),
    ("first_call.py", "3"),
    ("calls.py",),
    ("hooks.py", "cost"),
    ("tool_tokens.py",),
    ("paraphrases.py",),
    ("killed.py", "1"),
)
PEERS: dict[str, tuple[str, ...]] = {
    "mcp-server-memory": ("tool_tokens.py",),
    "mcp-memory-keeper": ("keeper.py",),
}


def main() -> int:
    compared = {words: name for name, words in PEERS.items() if shutil.which(name)}
    commands = [(*words, compared.pop(words)) if words in compared else words for words in SELECTION]
    commands += [(*words, name, "--items", "1000") for words, name in compared.items()]
    print("| benchmark | figure | value |\n|---|---|---|", flush=True)
    failures = 0
    for words in commands:
        rows, is_failed = measured(words)
        failures += is_failed
        for label, value in rows:
            print(f"| `{' '.join(words)}` | {label} | {value} |", flush=True)
    return 1 if failures else 0


def measured(words: tuple[str, ...]) -> tuple[list[tuple[str, str]], bool]:
    """Rows of one benchmark, and whether it failed."""
    command = [sys.executable, str(FOLDER / words[0]), *words[1:]]
    try:
        run = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return [("not finished", f"after {TIMEOUT_S} s")], True
    if run.returncode:
        return [("failed", (run.stderr.strip().splitlines() or ["no message"])[-1])], True
    return list(figures(run.stdout)), False


def figures(output: str) -> Iterator[tuple[str, str]]:
    """Label and value of each line: `label: value`, or a row of a Markdown table with the names of its columns."""
    lines = output.splitlines()
    head: list[str] = []
    for number, line in enumerate(lines):
        if line.startswith("|--") or not line.strip() or line.strip().startswith(DETAILS):
            continue
        if not line.startswith("|"):
            label, _, value = line.partition(":")
            yield label.strip(), value.strip()
            continue
        label, *cells = (cell.strip() for cell in line.strip().strip("|").split("|"))
        if lines[number + 1 : number + 2] and lines[number + 1].startswith("|--"):
            head = cells
        else:
            yield (
                label,
                ", ".join(f"{cell} {name}".strip() for cell, name in zip(cells, head, strict=True) if cell),
            )


if __name__ == "__main__":
    sys.exit(main())
