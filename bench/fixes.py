"""The share of repeated errors that are recognised, and whose fix is shown.

    python bench/fixes.py DATA/fixes WORK_DIRECTORY [--show] [--home HOME]

DATA/fixes holds sessions, questions and pairs. The sessions are written as transcripts of Claude Code into a home in
WORK_DIRECTORY and synchronised; a question sees only earlier events in other sessions of its project. `--show` prints
every answer, for judging the fixes by hand. `--home` measures the cost of finding failures in the histories of a home.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

from backstory.app import open_core, read_settings
from backstory.core.failures import extraction
from backstory.core.failures.finding import fixes
from backstory.core.failures.lines import error_lines, signatures
from backstory.core.sync import Sync
from backstory.domain.filters import Filter
from backstory.domain.runs import Fix
from backstory.domain.when import parse_when, utc_now
from backstory.readers import Places, load_readers
from backstory.store.runs import RunRoom

Json = dict[str, Any]


def sessions(data: Path) -> Iterator[Json]:
    with gzip.open(data / "sessions.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def directory(project: str) -> str:
    return f"/projects/{project.replace('+', '-')}"


def transcript(session: Json) -> Iterator[Json]:
    """A session's commands and edits as Claude Code writes them."""
    shared = {"sessionId": session["session"], "cwd": directory(session["project"]), "version": "2.0.0"}
    for event in session["events"]:
        call, at = event["call"], event["time"]
        if "command" in event:
            name, given = "Bash", {"command": event["command"]}
        else:
            name, given = "Write", {"file_path": (event["files"] or [""])[0], "content": "…"}
        use = {"type": "tool_use", "id": call, "name": name, "input": given}
        message = {"id": f"msg_{call}", "role": "assistant", "content": [use]}
        yield {**shared, "type": "assistant", "uuid": call, "timestamp": at, "message": message}
        text = event["text"] if event["exit"] is None else f"Exit code {event['exit']}\n{event['text']}"
        result = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": event["failed"]}
        answer = {"role": "user", "content": [result]}
        yield {**shared, "type": "user", "uuid": f"r-{call}", "timestamp": at, "message": answer}


def lay_out(data: Path, work: Path) -> None:
    shutil.rmtree(work, ignore_errors=True)
    logs = work / "home/.claude/projects/-projects"
    logs.mkdir(parents=True)
    for session in sessions(data):
        lines = "".join(f"{json.dumps(line)}\n" for line in transcript(session))
        (logs / f"{session['session']}.jsonl").write_text(lines, "utf-8")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(work / "home"),
        "BACKSTORY_HOME": str(work / "store"),
        "BACKSTORY_EMBEDDINGS": "off",
    }
    command = [sys.executable, "-m", "backstory", "sync", "--json"]
    subprocess.run(command, env=environment, cwd=work, check=True, stdout=subprocess.DEVNULL)


def pairs(data: Path) -> str:
    """The number of invented pairs of outputs that are distinguished."""
    right = total = 0
    for line in (data / "pairs.jsonl").read_text("utf-8").splitlines():
        pair = json.loads(line)
        a, b = ({signatures(each).exact for each in error_lines(pair[key], has_failed=True)} for key in "ab")
        right += bool(a & b) is pair["same"]
        total += 1
    return f"{right} of {total}"


def sync_cost(home: Path, work: Path) -> str:
    """CPU of finding failures and storing them, and of the whole first sync of a home, all in this process."""
    spent = 0.0

    def timed(inner: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            nonlocal spent
            started = time.thread_time()
            result = inner(*arguments)
            spent += time.thread_time() - started
            return list(result) if isinstance(result, Iterator) else result

        return run

    settings = read_settings({"home": str(work / "measured"), "embeddings": "off"})
    places = Places(home=home, environment={}, platform="linux")
    with (
        closing(open_core(settings)) as core,
        patch("backstory.core.sync.decoding.with_runs", timed(extraction.with_runs)),
        patch("backstory.core.sync.pieces.signed", timed(extraction.signed)),
        patch.object(RunRoom, "add", timed(RunRoom.add)),
        patch("backstory.core.sync.reading.is_worth_it", lambda due: False),
    ):
        started = time.process_time()
        Sync(core.engine).run(load_readers().values(), places)
        total = time.process_time() - started
        runs, lines, size = (
            int(core.engine.store.database.value(sql))
            for sql in (
                "SELECT count(*) FROM command_run",
                "SELECT count(*) FROM run_line",
                "SELECT coalesce(sum(size), 0) FROM source",
            )
        )
    share = f"{spent:.2f} of {total:.1f} s CPU ({spent / total:.1%})"
    return f"{share}, {100e6 * spent / size:.2f} s for 100 MB; {runs:,} runs, {lines:,} lines of {size / 1e6:.0f} MB"


def answer(store: Any, question: Json, text: str) -> list[Fix]:
    where = Filter(
        projects=(directory(question["project"]),), created_before=parse_when(question["time"], utc_now())
    )
    return fixes(store, text, where, running={f"claude-code:{question['file']}"})


def show(question: Json, text: str, found: list[Fix]) -> None:
    print(f"\n{question['kind']} {question['file']} {question['call']}")
    print("  ?", [line[:140] for line in error_lines(text, has_failed=True)][:4])
    for fix in found:
        solution = fix.solution
        print(
            f"  {fix.match} {solution.kind} {fix.conversation} {fix.message}",
            [line[:140] for line in fix.error][:3],
        )
        print(
            f"    $ {fix.command[:200]!r}\n    → {solution.passed[:200]!r}\n    edits {solution.edits[:6]} before {solution.commands[:3]}"
        )


def main() -> None:
    data, work = Path(sys.argv[1]), Path(sys.argv[2])
    lay_out(data, work)
    texts = {(s["session"], e["call"]): e["text"] for s in sessions(data) for e in s["events"]}
    settings = read_settings({"home": str(work / "store"), "embeddings": "off"})
    core = open_core(settings)
    tally: dict[str, dict[str, int]] = {}
    times = []
    for line in (data / "questions.jsonl").read_text("utf-8").splitlines():
        question = json.loads(line)
        text = texts[question["file"], question["call"]]
        started = time.perf_counter()
        found = answer(core.engine.store, question, text)
        times.append(time.perf_counter() - started)
        relevant = {f"claude-code:{each['file']}/msg_{each['call']}#tool" for each in question["relevant"]}
        counts = tally.setdefault(
            question["project"], dict.fromkeys(("questions", "first", "silent", "nothing", "alarms"), 0)
        )
        if question["kind"] == "relevant":
            counts["questions"] += 1
            counts["first"] += bool(found) and found[0].message in relevant
            counts["silent"] += not found
        else:
            counts["nothing"] += 1
            counts["alarms"] += bool(found)
        if "--show" in sys.argv and (found or question["kind"] == "relevant"):
            show(question, text, found)
    core.close()
    for project, counts in tally.items():
        print(project, counts)
    print("pairs", pairs(data))
    print(f"question: median {statistics.median(times) * 1000:.1f} ms, longest {max(times) * 1000:.1f} ms")
    if "--home" in sys.argv:
        print("sync", sync_cost(Path(sys.argv[sys.argv.index("--home") + 1]), work))


if __name__ == "__main__":
    main()
