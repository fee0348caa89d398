"""Commit in the user's checkout, with the user's own hooks, identity and signing."""

from __future__ import annotations

from pathlib import Path

from ...domain.errors import GitFailed
from .git import git, names, printable, run_git

COMMIT_TIMEOUT_S = 120.0
"""Hooks may run a test suite."""
_UNCHANGED = " ?!"


def pending_files(directory: Path) -> tuple[list[str], list[str]]:
    """The staged and the unstaged changes to tracked files. Raises GitFailed where git does not answer."""
    status = git(directory, "status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames")
    if status is None:
        raise GitFailed("git status failed; nothing was committed.", hint="Run `git status` to see why.")
    lines = [(line[:2], printable(line[3:])) for line in names(status)]
    staged = [name for letters, name in lines if letters[0] not in _UNCHANGED]
    unstaged = [name for letters, name in lines if letters[1] not in _UNCHANGED]
    return staged, unstaged


def commit(directory: Path, message: str, *, with_tracked: bool) -> str:
    """Commit the staged changes, or every change to tracked files. Returns the id of the commit."""
    words = ("commit", *(["-a"] if with_tracked else []), "-m", message)
    process = run_git(directory, *words, timeout_s=COMMIT_TIMEOUT_S, hint="Commit in a terminal.")
    if process.returncode != 0:
        raise GitFailed(f"git commit failed: {_last_line(process.stderr) or _last_line(process.stdout)}")
    id = git(directory, "rev-parse", "HEAD")
    if id is None:
        raise GitFailed("git committed, but did not say which commit it made.", hint="See `git log`.")
    return id.strip()


def _last_line(output: bytes) -> str:
    lines = [line for line in output.decode(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""
