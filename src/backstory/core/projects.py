"""Which project a directory belongs to, which branch it is on, and what git says of it."""

from __future__ import annotations

from pathlib import Path

_HEAD = "ref: refs/heads/"
_LONGEST_HEAD = 4_096
GIT_TIMEOUT_S = 10


def project_root(directory: Path) -> Path:
    """The git root that holds the directory, else the directory itself."""
    directory = directory.resolve()
    for candidate in (directory, *directory.parents):
        if (candidate / ".git").exists():
            return candidate
    return directory


def git_branch(directory: Path) -> str | None:
    """The branch that is checked out; None outside a repository and where HEAD is no branch."""
    git = project_root(directory) / ".git"
    try:
        if git.is_file():  # a worktree or submodule says where its own HEAD is
            git = git.parent / _first_line(git).removeprefix("gitdir:").strip()
        head = _first_line(git / "HEAD")
    except (OSError, ValueError):
        return None
    return head.removeprefix(_HEAD) if head.startswith(_HEAD) else None


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline(_LONGEST_HEAD).strip()


def git_status(directory: Path) -> str | None:
    """What `git status --short` prints; None where there is no repository, no git, or no answer in time."""
    import subprocess  # slow to import, and seldom needed

    # the first option keeps git from refreshing its index, the second from starting a program of the repository
    options = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-C", str(directory)]
    try:
        done = subprocess.run(
            ["git", *options, "status", "--short"],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=GIT_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode(errors="replace").rstrip("\n") if done.returncode == 0 else None
