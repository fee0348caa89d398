"""Measure which hunks `backstory pr` attributes to the right session, in commits rebuilt from real edits.

    python bench/pr.py

The repositories are those of bench/blame.py: every edit of the conversations in ../shared/data/histories is applied in
chronological order. Consecutive edits of one session are one commit; each commit is then explained as a pull request. The contents of a file before its first edit have a separate commit, and count as written by a person.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path

import blame
import histories

from backstory.core import Caller, Core, Engine
from backstory.core.changes import explain
from backstory.core.sync import Sync
from backstory.readers import Places, load_readers
from backstory.settings import Settings
from backstory.store.sqlite import SqliteStore


def replay(tree: Path, mine: Sequence[blame.Step], before: dict[tuple[str, str], str]) -> dict[str, str]:
    """Create the repository again. Returns the session of each commit by hash."""
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    blame.git(tree, "init", "-q", "-b", "main")
    sessions: dict[str, str] = {}

    def commit(session: str, at: datetime, paths: Sequence[Path]) -> None:
        blame.git(tree, "add", "-f", *map(str, paths))
        blame.git(tree, "commit", "-q", "--allow-empty", "-m", "work", "--", *map(str, paths), at=at)
        sessions[blame.git(tree, "rev-parse", "HEAD").strip()] = session

    for session, steps in groupby(mine, key=lambda step: step.session):
        written: dict[Path, datetime] = {}
        for step in steps:
            seed, text = blame.apply(step, before)
            if text is None:
                continue  # it was made to a file that is not known
            step.path.parent.mkdir(parents=True, exist_ok=True)
            if seed:
                step.path.write_text(seed, "utf-8")
                commit(blame.PERSON, step.at - timedelta(hours=1), [step.path])
            step.path.write_text(text, "utf-8")
            written[step.path] = step.at
        if written:
            commit(session, max(written.values()) + timedelta(seconds=30), list(written))
    return sessions


def outcomes(core: Core, places: Places, tree: Path, sessions: dict[str, str]) -> Iterator[str]:
    """One for each hunk of each commit."""
    for commit, session in sessions.items():
        for each in explain(core, commit, places).hunks:
            traced = each.origin.conversation.id if each.origin else blame.PERSON
            if session == blame.PERSON:
                yield "person kept" if traced == blame.PERSON else "person taken"
            elif traced == session:
                yield "right"
            else:
                yield "not traced" if traced == blame.PERSON else "wrong session"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        home, repositories = Path(folder, "home"), Path(folder, "repositories")
        histories.put(home)
        trees = blame.move_projects(home, repositories)
        places = Places(home, {}, "linux")
        todo, before = blame.steps(places)
        store = SqliteStore(Path(folder, "store.db"))
        engine = Engine(Settings(home=Path(folder), project=home), store, None)
        for tree in trees:
            tree.mkdir(parents=True)
            blame.git(tree, "init", "-q")
        assert Sync(engine).run(load_readers(blame.READERS).values(), places) is not None
        print(
            "| assistants' files | commits | hunks by assistants | right session | wrong session | no session | a person's hunks | taken |"
        )
        print("|---|---|---|---|---|---|---|---|")
        shares = []
        for state in ("there", "deleted since"):
            if state != "there":
                shutil.rmtree(home)
            counts: Counter[str] = Counter()
            commits = 0
            for tree in trees:
                mine = [step for step in todo if step.path.is_relative_to(tree)]
                if mine:
                    sessions = replay(tree, mine, before)
                    commits += len(sessions)
                    core = Core(engine, Caller(project=str(tree)))
                    counts.update(outcomes(core, places, tree, sessions))
            total = counts["right"] + counts["wrong session"] + counts["not traced"]
            person = counts["person kept"] + counts["person taken"]
            shares.append(counts["right"] / total)
            print(
                f"| {state} | {commits} | {total:,} | {counts['right'] / total:.1%} | {counts['wrong session'] / total:.1%}"
                f" | {counts['not traced'] / total:.1%} | {person:,} | {counts['person taken'] / max(person, 1):.1%} |"
            )
        engine.close()
    return 0 if shares[0] >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
