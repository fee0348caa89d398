"""Results and usage: the cost of a sync with them, their size, and a check of the totals.

    python bench/traces.py [MB] [OTHER/src ...]

The logs of Claude Code and Codex in ../shared/data are laid out in a temporary home: those of `histories` are repeated
under ids of their own up to MB (75), those of `haystack` once. Each is read into a new store by this program and, in turns, by the
other source trees, each time in a new process. Times are CPU time of that process, which decodes, redacts and stores. Tokens are then
counted once more from the files alone, with nothing of this program.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
HAYSTACK = HERE.parents[1] / "shared" / "data" / "haystack" / "histories.tar.zst"
READERS = ("claude-code", "codex")
ROUNDS = 3
NUMBERS = ("input", "output", "cache_read", "cache_write")


def read(home: Path, file: Path) -> None:
    """Read a home into a store, in a separate process, and print the CPU seconds and the contents of the store."""
    from backstory.core import Engine
    from backstory.core.sync import Sync, decoder_process
    from backstory.readers import Places, load_readers
    from backstory.settings import Settings
    from backstory.store.sqlite import SqliteStore

    decoder_process.MUCH_BYTES = 1 << 60
    store = SqliteStore(file)
    sync = Sync(Engine(Settings(home=Path("/nowhere"), project=Path("/p")), store, None))
    readers = load_readers(READERS)
    start = time.process_time()
    sync.run(readers.values(), Places(home, {}, "linux"))
    seconds = time.process_time() - start
    tables: dict[str, int] = {}
    if "result" in {name for (name,) in store.database.rows("SELECT name FROM sqlite_master")}:
        for table in ("result", "usage"):
            sizes = "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name IN (SELECT name FROM sqlite_master WHERE tbl_name = ?)"
            tables[table] = store.database.value(sizes, [table])
        columns = (
            "count(*), sum(packed IS NOT NULL), coalesce(sum(bytes), 0), coalesce(sum(length(packed)), 0)"
        )
        (row,) = store.database.rows(f"SELECT {columns} FROM result")
        tables |= dict(zip(("calls", "results", "bytes", "packed"), row, strict=True))
    print(json.dumps({"seconds": seconds, "size": store.used_bytes(), "tables": tables}))
    store.close()


def tokens(file: Path) -> dict[str, Counter[str]]:
    from backstory.domain.filters import ConversationFilter
    from backstory.domain.usage import UsageFilter
    from backstory.store.sqlite import SqliteStore

    found: dict[str, Counter[str]] = {}
    store = SqliteStore(file)
    for each in store.usage.sums(UsageFilter(ConversationFilter())):
        counts = found.setdefault(each.surface, Counter())
        counts.update({name: getattr(each, name) for name in NUMBERS})
    store.close()
    return found


def counted(home: Path) -> dict[str, Counter[str]]:
    """Count the tokens from the files: Claude Code by message and request, Codex by running totals without those of
    parents."""
    return {"claude-code": _claude(home / ".claude"), "codex": _codex(home / ".codex")}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text("utf-8", "replace").split("\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record


def _claude(root: Path) -> Counter[str]:
    calls: dict[tuple[str, str], dict[str, Any]] = {}
    for path in sorted(root.rglob("*.jsonl")):
        for line in _lines(path):
            data = line.get("data")
            if line.get("type") == "progress" and isinstance(data, dict):
                line = data.get("message") or {}  # of a subagent
            message: dict[str, Any] = line.get("message") or {}
            if line.get("type") != "assistant" or not isinstance(message, dict):
                continue
            usage = message.get("usage")
            if not isinstance(usage, dict) or message.get("model") == "<synthetic>":
                continue
            key = str(message.get("id") or line.get("uuid")), str(line.get("requestId") or "")
            if key not in calls or (usage.get("output_tokens") or 0) > (calls[key].get("output_tokens") or 0):
                calls[key] = usage
    total: Counter[str] = Counter()
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    for usage in calls.values():
        total.update({ours: usage.get(theirs) or 0 for ours, theirs in zip(NUMBERS, names, strict=True)})
    return total


def _codex(root: Path) -> Counter[str]:
    logs: dict[str, tuple[str, list[tuple[tuple[int, ...], dict[str, Any]]]]] = {}
    for path in sorted(root.rglob("*.jsonl")):
        id, parent, counts = path.stem, "", []
        is_first, before = True, None
        for line in _lines(path):
            payload = line.get("payload")
            if not isinstance(payload, dict):
                continue
            if line.get("type") == "session_meta" and is_first:
                is_first = False
                id, parent = payload.get("id") or id, payload.get("forked_from_id") or ""
            info = payload.get("info") if payload.get("type") == "token_count" else None
            if isinstance(info, dict) and isinstance(info.get("total_token_usage"), dict):
                names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
                total = tuple(info["total_token_usage"].get(name) or 0 for name in names)
                if total != before and isinstance(info.get("last_token_usage"), dict):
                    counts.append((total, info["last_token_usage"]))
                before = total
        logs[id] = parent, counts
    sum_: Counter[str] = Counter()
    for parent, counts in logs.values():
        known = {total for total, _ in logs[parent][1]} if parent in logs else set()
        for total, last in counts:
            if total not in known:
                cached = last.get("cached_input_tokens") or 0
                sum_.update(
                    input=(last.get("input_tokens") or 0) - cached,
                    output=last.get("output_tokens") or 0,
                    cache_read=cached,
                    cache_write=last.get("cache_write_input_tokens") or 0,
                )
    return sum_


def lay_out(home: Path, size: int) -> None:
    from sync import repeat

    list(repeat(home, size))


def lay_out_haystack(home: Path) -> None:
    from backstory.domain.zstd import open_frames

    with (
        HAYSTACK.open("rb") as packed,
        open_frames(packed) as stream,
        tarfile.open(fileobj=stream, mode="r|") as archive,
    ):
        for member in archive:
            parts = Path(member.name).parts
            if not member.isfile() or member.name.rpartition(".")[2] != "jsonl":
                continue
            start = next(n for n, part in enumerate(parts) if part in READERS)
            file = archive.extractfile(member)
            assert file is not None
            below = Path(*parts[start + 1 :])
            if parts[start] == "codex":
                target = (
                    home / ".codex/sessions/2026/01/01" / f"rollout-{below.name.removeprefix('rollout-')}"
                )
            else:
                target = home / ".claude/projects" / below.parent.as_posix().replace("/", "-") / below.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read())


def report(name: str, home: Path, trees: list[str], folder: Path) -> None:
    size = sum(path.stat().st_size for path in home.rglob("*.jsonl"))
    print(f"{name}: {size / 1e6:.1f} MB")
    runs: dict[str, list[dict[str, Any]]] = {tree: [] for tree in trees}
    for round_ in range(ROUNDS):
        for number, tree in enumerate(trees):
            file = folder / f"{name}-{number}-{round_}.db"
            command = [sys.executable, __file__, "--read", str(home), str(file)]
            environment = {**os.environ, "PYTHONPATH": tree}
            output = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=True
            ).stdout
            runs[tree].append(json.loads(output))
    for number, told in enumerate(runs.values()):
        seconds, stored = min(run["seconds"] for run in told), told[0]["size"]
        label = "this tree" if number == 0 else f"other tree {number}"
        print(f"  {label}: {seconds:.2f} s CPU, {size / 1e6 / seconds:.1f} MB/s,", end=" ")
        print(f"store {stored / 1e6:.1f} MB, {stored / size:.3f} of the logs")
        if tables := told[0]["tables"]:
            print(
                f"    {tables['results']:,} results of {tables['calls']:,} calls, {tables['bytes'] / 1e6:.1f} MB,",
                end=" ",
            )
            print(
                f"packed {tables['packed'] / 1e6:.2f} MB; tables: result {tables['result'] / 1e6:.2f} MB, usage {tables['usage'] / 1e6:.2f} MB"
            )
    ours, theirs = tokens(folder / f"{name}-0-0.db"), counted(home)
    for reader in READERS:
        for name in NUMBERS:
            ours_, theirs_ = ours.get(reader, Counter())[name], theirs[reader][name]
            print(f"  {reader} {name}: {ours_:,} here, {theirs_:,} counted from the files", end="")
            print(f" ({(ours_ - theirs_) / theirs_:+.3%})" if theirs_ else "")


def main() -> None:
    if sys.argv[1:2] == ["--read"]:
        read(Path(sys.argv[2]), Path(sys.argv[3]))
        return
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 75
    trees = [str(HERE.parent / "src"), *sys.argv[2:]]
    with tempfile.TemporaryDirectory() as folder:
        lay_out(Path(folder, "histories"), size * 1_000_000)
        report("histories", Path(folder, "histories"), trees, Path(folder))
        if HAYSTACK.is_file():
            lay_out_haystack(Path(folder, "haystack"))
            report("haystack", Path(folder, "haystack"), trees, Path(folder))


if __name__ == "__main__":
    main()
