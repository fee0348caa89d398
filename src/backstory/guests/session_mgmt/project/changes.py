"""Uncommitted changes: their size and age."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ....core.projects import git_branch
from ....core.projects.effort import Effort
from ....core.projects.git import ask, git, names, printable, without_filters

MOST_DATED = 1_000
"""Maximum number of changed files whose times are read."""


class FileDiff(NamedTuple):
    path: str
    added: int
    removed: int


class Changes(NamedTuple):
    """Changes to tracked files. Lines of binary files are not counted."""

    branch: str | None
    files: tuple[FileDiff, ...]
    since: datetime | None
    """The time when the oldest uncommitted change was written."""
    committed_at: datetime | None
    underway: str | None
    """merge, rebase, cherry-pick, revert or bisect."""

    @property
    def lines(self) -> int:
        return sum(file.added + file.removed for file in self.files)


def changes(root: Path, effort: Effort) -> Changes | None:
    """Return the changes; None if the directory is not in a git checkout."""
    if (git(root, "rev-parse", "--is-inside-work-tree") or "").strip() != "true":
        return None
    options = without_filters(root)
    has_commits = git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") is not None
    words = (
        "diff",
        "--numstat",
        "-z",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=dirty",
    )
    against = "HEAD" if has_commits else "--cached"
    output = ask(root, *options, *words, against, "--", timeout_s=effort.left_s / 2)
    if not output.is_ok:
        effort.leave_out("git did not tell in time what was changed.")
    files = tuple(sorted({_changed(line) for line in names(output.text)}))
    stamp = git(root, "log", "-1", "--format=%ct") if has_commits else None
    return Changes(
        branch=git_branch(root),
        files=files,
        since=_oldest(root / file.path for file in files[:MOST_DATED]),
        committed_at=datetime.fromtimestamp(int(stamp), UTC) if stamp and stamp.strip() else None,
        underway=_underway(root),
    )  # fmt: skip


def _changed(line: str) -> FileDiff:
    """Parse `3<tab>1<tab>path`, with dashes for a binary file."""
    added, removed, path = line.split("\t", 2)
    return FileDiff(printable(path), *(int(count) if count.isdigit() else 0 for count in (added, removed)))


def _oldest(paths: Iterable[Path]) -> datetime | None:
    times = []
    for path in paths:
        try:
            times.append(path.lstat().st_mtime)
        except OSError:
            continue  # a deleted file has no time
    return datetime.fromtimestamp(min(times), UTC) if times else None


def _underway(root: Path) -> str | None:
    own = git(root, "rev-parse", "--absolute-git-dir")
    if own is None:
        return None
    marks = {
        "rebase-merge": "rebase",
        "rebase-apply": "rebase",
        "MERGE_HEAD": "merge",
        "CHERRY_PICK_HEAD": "cherry-pick",
        "REVERT_HEAD": "revert",
        "BISECT_LOG": "bisect",
    }
    folder = Path(own.rstrip("\n"))
    return next((state for mark, state in marks.items() if (folder / mark).exists()), None)
