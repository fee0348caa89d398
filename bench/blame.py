"""Measure which lines `blame` traces to the right session, in repositories built from real conversations.

    python bench/blame.py

The conversations of ../shared/data/histories are copied to a temporary home, and their projects to temporary repositories. Every edit is applied in chronological
order and committed separately; git's own blame of that history is the reference. Then the same files are committed as people do, once per session or all at once, and `backstory blame` is measured. The contents of a file before its first edit count as written by a person.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import histories

from backstory.core import Caller, Core, Engine
from backstory.core.blame import commits_of_lines
from backstory.core.sync import Sync
from backstory.core.sync.pieces import conversation_id
from backstory.domain.when import from_ms
from backstory.readers import Cursor, Places, load_readers
from backstory.readers.formats.edits import Edit, edits_of
from backstory.settings import Settings
from backstory.store.sqlite import SqliteStore

PERSON = "person"
READERS = ("claude-code", "codex")
_CWD = re.compile(r'"cwd": ?"(/[^"\\]+)"')


class Step(NamedTuple):
    at: datetime
    session: str
    path: Path
    edit: Edit


def move_projects(home: Path, repositories: Path) -> list[Path]:
    """Every project directory becomes one below `repositories`, in the text of the logs."""
    logs = [*home.glob(".claude/**/*.jsonl"), *home.glob(".codex/**/*.jsonl")]
    directories = Counter(cwd for log in logs for cwd in _CWD.findall(log.read_text("utf-8", "replace")))
    roots = [cwd for cwd in directories if not any(cwd.startswith(f"{other}/") for other in directories)]
    places = {root: repositories / f"{number}" / Path(root).name for number, root in enumerate(sorted(roots))}
    for log in logs:
        text = log.read_text("utf-8", "surrogateescape")
        for root in sorted(places, key=len, reverse=True):
            text = re.sub(rf"{re.escape(root)}(?=[/\"\\])", str(places[root]), text)
        log.write_text(text, "utf-8", "surrogateescape")
    return list(places.values())


def steps(places: Places) -> tuple[list[Step], dict[tuple[str, str], str]]:
    """All edits in chronological order; and the former contents of files by path and replaced text."""
    found: dict[tuple[str, str, int], Step] = {}
    before: dict[tuple[str, str], str] = {}
    for reader in load_readers(READERS).values():
        for source in reader.find(places):
            before |= originals(source.path)
            for piece in reader.read(source, Cursor()):
                session = conversation_id(reader.name, piece.header.native_id)
                for turn in piece.turns:
                    edits = [edit for call in turn.calls for edit in edits_of(call)]
                    for number, edit in enumerate(edits):
                        if turn.at_ms is not None and edit.path:
                            path = Path(piece.header.directory or "/", edit.path)
                            found[session, turn.id, number] = Step(from_ms(turn.at_ms), session, path, edit)
    return sorted(found.values(), key=lambda step: step.at), before


def originals(log: Path) -> dict[tuple[str, str], str]:
    """Claude Code records the contents of a file before an edit."""
    found = {}
    for line in log.read_text("utf-8", "replace").splitlines():
        if '"originalFile"' in line:
            try:
                result = json.loads(line).get("toolUseResult")
            except ValueError:
                continue
            if isinstance(result, dict) and isinstance(result.get("originalFile"), str):
                found[str(result.get("filePath")), str(result.get("oldString", ""))] = result["originalFile"]
    return found


def git(tree: Path, *words: str, at: datetime | None = None) -> str:
    stamp = {"GIT_AUTHOR_DATE": f"{at:%s} +0000", "GIT_COMMITTER_DATE": f"{at:%s} +0000"} if at else {}
    names = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
    command = ["git", *names, "-C", str(tree), *words]
    environment = {"PATH": "/usr/bin:/bin", "TZ": "UTC", "GIT_CONFIG_NOSYSTEM": "1", **stamp}
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def apply(step: Step, before: dict[tuple[str, str], str]) -> tuple[str | None, str | None]:
    """The contents before the first edit, if this is the first, and the contents after it.

    None if the edit does not apply."""
    edit = step.edit
    seed = None
    if not step.path.exists():
        seed = "" if edit.is_whole else before.get((str(step.path), edit.old), edit.old)
    text = step.path.read_text("utf-8") if seed is None else seed
    if edit.is_whole:
        return None, edit.new
    if edit.old and edit.old not in text:
        return None, None
    return seed, text.replace(edit.old, edit.new, 1) if edit.old else text + edit.new


def replay(
    tree: Path, mine: Sequence[Step], before: dict[tuple[str, str], str], grain: str
) -> dict[str, str]:
    """Create the repository again. Returns the session of each commit by hash."""
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    git(tree, "init", "-q", "-b", "main")
    sessions: dict[str, str] = {}

    def commit(session: str, at: datetime, path: Path = tree) -> None:
        git(tree, "add", "-A", str(path))
        git(tree, "commit", "-q", "--allow-empty", "-m", "work", "--", str(path), at=at)
        sessions[git(tree, "rev-parse", "HEAD").strip()] = session

    for step, following in zip(mine, [*mine[1:], None], strict=True):
        seed, text = apply(step, before)
        if text is None:
            continue
        step.path.parent.mkdir(parents=True, exist_ok=True)
        if seed:
            step.path.write_text(seed, "utf-8")
            commit(PERSON, step.at - timedelta(hours=1), step.path)
        step.path.write_text(text, "utf-8")
        is_last = following is None or following.session != step.session
        if grain == "each edit" or (grain == "each session" and is_last):
            commit(step.session, step.at + timedelta(seconds=30))
    if grain == "all at once":
        commit("", mine[-1].at + timedelta(seconds=30))
    return sessions


def truth(tree: Path, sessions: dict[str, str]) -> dict[str, list[str]]:
    """By file, the session of each line."""
    found = {}
    for name in git(tree, "ls-files", "-z").split("\0"):
        commits = commits_of_lines(tree, name) if name else []
        if commits and None not in commits:
            found[name] = [sessions[commit.hash] for commit in commits if commit]
    return found


def score(engine: Engine, places: Places, tree: Path, expected: dict[str, list[str]]) -> Iterator[str]:
    core = Core(engine, Caller(project=str(tree)))
    for name, sessions in expected.items():
        lines = core.blame.lines(str(tree / name), places) if sessions else []
        for line, session in zip(lines, sessions, strict=False):
            traced = line.origin.conversation.id if line.origin else PERSON
            if session == PERSON:
                yield "person kept" if traced == PERSON else "person taken"
            elif traced == session:
                yield f"right, {line.origin.sureness.value}" if line.origin else "right"
            else:
                yield "not traced" if traced == PERSON else "wrong session"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        home, repositories = Path(folder, "home"), Path(folder, "repositories")
        histories.put(home)
        trees = move_projects(home, repositories)
        places = Places(home, {}, "linux")
        todo, before = steps(places)
        sessions, files = {step.session for step in todo}, {step.path for step in todo}
        print(f"{len(todo):,} edits of {len(files)} files in {len(sessions)} sessions.\n")
        engine = Engine(
            Settings(home=Path(folder), project=home), SqliteStore(Path(folder, "store.db")), None
        )
        for tree in trees:
            tree.mkdir(parents=True)
            git(tree, "init", "-q")
        assert Sync(engine).run(load_readers(READERS).values(), places) is not None
        print(
            "| commits | lines by assistants | right | wrong session | not traced | person's lines | taken for an assistant's |"
        )
        print("|---|---|---|---|---|---|---|")
        shares = []
        for grain in ("each session", "all at once", "each session, sources gone"):
            if grain.endswith("gone"):
                shutil.rmtree(home)
            counts: Counter[str] = Counter()
            for tree in trees:
                mine = [step for step in todo if step.path.is_relative_to(tree)]
                if mine:
                    expected = truth(tree, replay(tree, mine, before, "each edit"))
                    replay(tree, mine, before, grain.partition(",")[0])
                    counts.update(score(engine, places, tree, expected))
            right = sum(count for name, count in counts.items() if name.startswith("right"))
            total = right + counts["wrong session"] + counts["not traced"]
            shares.append(right / total)
            person = counts["person kept"] + counts["person taken"]
            print(
                f"| {grain} | {total:,} | {right / total:.1%} | {counts['wrong session'] / total:.1%}"
                f" | {counts['not traced'] / total:.1%} | {person:,} | {counts['person taken'] / max(person, 1):.1%} |"
            )
            print(dict(counts), file=sys.stderr)
        engine.close()
    return 0 if min(shares[:2]) >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
