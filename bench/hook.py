"""What a hook costs a session that starts: CPU and time of the whole process, beside a Python that does nothing and one that imports json.

    python bench/hook.py

They take turns, so that a busy machine slows all. Each round is a new session, which is given the brief.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from servers import percentile

from backstory.clients.hooks import SOURCE
from backstory.core.brief.files import BriefFiles

ROUNDS = 40
BRIEF = (
    "<backstory>\n"
    + "- 2026-01-02 Decided on port 9090, because 8080 was taken. (0123456789ab)\n" * 15
    + "</backstory>"
)


def run(words: list[str], given: bytes) -> tuple[float, float, bytes]:
    """CPU and wall-clock time in ms, and what it printed."""
    environment = {"BACKSTORY_BRIEF_TIMEOUT_S": "60"}  # to measure what it takes, however busy the machine
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(words, input=given, env=environment, capture_output=True, check=True)
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu * 1000, (end - start) * 1000, done.stdout


def main() -> None:
    bare = [sys.executable, "-I", "-S", "-c"]
    with TemporaryDirectory() as folder:
        home, project = Path(folder, "home"), Path(folder, "project").resolve()
        (project / ".git").mkdir(parents=True)
        body = {"project": str(project), "basis": "", "last_at": 0, "text": BRIEF, "continued": BRIEF}
        BriefFiles(home).write(str(project), body)
        commands = {
            "the hook": [sys.executable, "-I", "-S", str(SOURCE), "claude-code", str(home)],
            "python -I -S": [*bare, "0"],
            "python -I -S, import json": [*bare, "import json"],
        }
        costs: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for number in range(ROUNDS):
            event = {"cwd": str(project), "session_id": f"s{number}", "hook_event_name": "SessionStart"}
            for name, words in commands.items():
                cpu, wall, printed = run(words, json.dumps(event).encode())
                assert name != "the hook" or b"9090" in printed
                costs[name].append((cpu, wall))
    for name, cost in costs.items():
        cpus, walls = [cpu for cpu, _ in cost], [wall for _, wall in cost]
        print(
            f"{name}: {percentile(cpus, 0.5):.0f} ms CPU (p95 {percentile(cpus, 0.95):.0f}), best time {min(walls):.0f} ms"
        )


if __name__ == "__main__":
    main()
